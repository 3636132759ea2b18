// SPDX-License-Identifier: GPL-2.0-or-later
// What one job of the list is to Accord.
#include "policy/governed.hpp"

#include <algorithm>

#include "policy/authorize.hpp"
#include "policy/count.hpp"

namespace accord {

Place place_of(const Config& config, const std::string& partitions) {
    if (const auto* pool = config.pool_of(partitions)) return {pool, false};
    if (const auto* pool = config.pool_lending_in(partitions)) return {pool, true};
    const auto comma = partitions.find(',');
    if (comma == std::string::npos) return {};
    const auto first = place_of(config, partitions.substr(0, comma));
    return first ? first : place_of(config, partitions.substr(comma + 1));
}

std::string contract_key(const JobView& job, const PoolConfig& pool) {
    return lower_case(job.account) + "/" + pool.partition;
}

GpuIntervals gpus_of(const JobView& job, const PoolConfig& pool, const ClusterShape& shape) {
    auto gpus = count_gpus(job.gpus, shape.partition(pool.partition), pool, Explain::briefly).gpus;
    settle_types(gpus, pool);
    if (!job.holds_resources() || job.allocated.empty()) return gpus;
    gpus.erase("");
    for (const auto& [type, held] : job.allocated) gpus[type].max = std::max(gpus[type].max, held);
    return gpus;
}

std::optional<std::int64_t> throttle_of(const JobView& job) {
    return job.array_limit || !job.array ? job.array_limit : job.array->limit;
}

std::int64_t tasks_at_once(const JobView& job, std::optional<std::int64_t> throttle, const GpuVector& per_task,
                           const PoolConfig& pool) {
    if (job.array_job_id == 0 || job.array_task_id) return 1;
    if (job.array && job.array->tasks > 0) return std::min(job.array->tasks, throttle.value_or(job.array->tasks));
    Gpus most = 1;
    for (const auto& [type, gpus] : per_task)
        most = std::max(most, amount_of(pool.gpus, type) / std::max<Gpus>(gpus, 1));
    return most;
}

GpuVector times(GpuVector gpus, std::int64_t tasks) {
    for (auto& [type, count] : gpus) count = saturating_mul(count, tasks);
    if (tasks == 0) gpus.clear();
    return gpus;
}

}  // namespace accord
