// SPDX-License-Identifier: GPL-2.0-or-later
// R4: GPUs that a job leaves without CPUs or memory count as its own.
#pragma once

#include <cstdint>
#include <string>

#include "policy/config.hpp"
#include "policy/gpus.hpp"
#include "policy/request.hpp"
#include "policy/shape.hpp"

namespace accord {

/// What a job's CPUs or its memory come to, in GPUs.
struct Burden {
    Gpus gpus = 0;    ///< 0: no more than the share of the GPUs that it asks for
    std::string why;  ///< in words, for the first of CPUs and memory that comes to as much
};

/// A GPU's share is the pool's `cpus_per_gpu` and `mem_per_gpu`, else the node's share where it is smallest. What the
/// job asks for beyond the shares of `gpus.min` GPUs makes GPUs unusable, rounded up on each of `nodes` nodes; a
/// request for all of a node's memory is gpus_max. `shape` may be null; where no share is known nothing is unusable.
[[nodiscard]] Burden burden_of(const GpuAsk& ask, const GpuInterval& gpus, std::int64_t nodes,
                               const PartitionShape* shape, const PoolConfig& pool);

/// --cpus-per-gpu; 0 without it.
[[nodiscard]] std::int64_t cpus_of_each_gpu(const GpuAsk& ask);

/// The most CPUs that the request asks for, on `nodes` nodes at least; gpus_max where its GPUs bring theirs.
[[nodiscard]] std::int64_t cpus_in_all(const GpuAsk& ask, std::int64_t nodes);

/// CPUs that the request asks for with each of `gpus` GPUs, rounded up.
[[nodiscard]] std::int64_t cpus_for_each_gpu(const GpuAsk& ask, Gpus gpus);

}  // namespace accord
