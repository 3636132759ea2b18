// SPDX-License-Identifier: GPL-2.0-or-later
// What one job of the list is to Accord: its pool, its contract's key and the GPUs of its own request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "policy/config.hpp"
#include "policy/gpus.hpp"
#include "policy/job.hpp"
#include "policy/shape.hpp"

namespace accord {

/// Where in which pool a partition is; without a pool it is not governed.
struct Place {
    const PoolConfig* pool = nullptr;
    bool lent = false;  ///< the pool's lend partition

    explicit operator bool() const { return pool != nullptr; }
};
/// Of a list of partitions, as a pending job may have one, the first that is governed decides.
[[nodiscard]] Place place_of(const Config& config, const std::string& partitions);

/// account/partition, whether or not there is such a contract.
[[nodiscard]] std::string contract_key(const JobView& job, const PoolConfig& pool);

/// R4 of a job's own request, per task for arrays, with types settled (R9). What it holds, where that is more, counts.
[[nodiscard]] GpuIntervals gpus_of(const JobView& job, const PoolConfig& pool, const ClusterShape& shape);

/// R7: how many tasks of its array Slurm runs at once; none: all of them, or it is no array.
[[nodiscard]] std::optional<std::int64_t> throttle_of(const JobView& job);

/// R7: tasks of this record that may run at once: of the pending rest of an array as many as `throttle` allows, else
/// one. A rest whose indices are not known may run as many as the pool holds.
[[nodiscard]] std::int64_t tasks_at_once(const JobView& job, std::optional<std::int64_t> throttle,
                                         const GpuVector& per_task, const PoolConfig& pool);

[[nodiscard]] GpuVector times(GpuVector gpus, std::int64_t tasks);

}  // namespace accord
