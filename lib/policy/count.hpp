// SPDX-License-Identifier: GPL-2.0-or-later
// R4: how many GPUs a request may come to hold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/config.hpp"
#include "policy/gpus.hpp"
#include "policy/request.hpp"
#include "policy/shape.hpp"

namespace accord {

/// GPUs per type, per task for arrays. The type "" is an untyped request, which R9 settles. `exact` is false where the
/// request could only be bounded from above; `steps` tell, in words, how the figure came about.
struct GpuCount {
    GpuIntervals gpus;
    bool exact = true;
    std::string more_than_asked;   ///< why it is more than the request's own numbers say, in words; empty: it is not
    std::string without_gpus;      ///< what looks like GPUs, but Slurm takes none from it, in words; empty: nothing
    bool shards_unpriced = false;  ///< asks for shards in a pool that does not say how many make a GPU
    std::vector<std::string> steps;
};

/// Whether to put every step into words, or only why a figure is not exact.
enum class Explain { fully, briefly };

/// Counts what `ask` may come to hold of `pool`. `shape` may be null (no snapshot yet): node counts are then unbounded
/// and the pool's GPUs bound what is counted high. Never fails: what Slurm would refuse, or what cannot be counted, is
/// counted as every GPU of the most nodes that the job may take, with `exact` false and a step that says so.
[[nodiscard]] GpuCount count_gpus(const GpuAsk& ask, const PartitionShape* shape, const PoolConfig& pool,
                                  Explain explain = Explain::fully);

/// R9: the request with `type` for the GPUs that it asks for without one. Nothing where it asks for none, or names a
/// type anywhere. GPUs that follow from tasks alone (--ntasks-per-gpu) are asked for by name then, in 22.05's spelling.
[[nodiscard]] std::optional<GpuAsk> of_type(const GpuAsk& ask, const std::string& type);

/// R9: in a pool of one GPU type an untyped request is of that type. In one of several it stays untyped.
void settle_types(GpuIntervals& gpus, const PoolConfig& pool);

}  // namespace accord
