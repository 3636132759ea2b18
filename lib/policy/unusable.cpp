// SPDX-License-Identifier: GPL-2.0-or-later
// CPUs and memory in shares of a GPU.
#include "policy/unusable.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "policy/tres.hpp"

namespace accord {

namespace {

/// CPUs, or MiB: what each node must give, what each GPU brings with it, and what the job takes in all.
struct Demand {
    std::int64_t per_node = 0, per_gpu = 0, in_all = 0;
};

std::int64_t at_least(const std::optional<std::int64_t>& value, std::int64_t least) {
    return std::clamp(value.value_or(least), least, gpus_max);
}

std::int64_t most_per_gpu(const std::optional<std::string>& field) {
    Gpus most = 0;
    if (field)
        for (const auto& [type, count] : parse_tres_gpus(*field).gpus) most = std::max(most, count);
    return most;
}

Demand cpus_of(const GpuAsk& ask) {
    Demand demand;
    const auto per_task = at_least(ask.cpus_per_task, 1);
    demand.per_node =
        std::max(at_least(ask.min_cpus_per_node, 0), saturating_mul(at_least(ask.ntasks_per_node, 0), per_task));
    demand.per_gpu = most_per_gpu(ask.cpus_per_tres);
    demand.in_all = std::max(at_least(ask.min_cpus, 0), saturating_mul(at_least(ask.num_tasks, 1), per_task));
    return demand;
}

Demand memory_of(const GpuAsk& ask, const Demand& cpus) {
    Demand demand;
    demand.per_gpu = most_per_gpu(ask.mem_per_tres);
    if (ask.mem_per_node_mb)
        demand.per_node = *ask.mem_per_node_mb <= 0 ? gpus_max : std::min(*ask.mem_per_node_mb, gpus_max);
    const auto per_cpu = at_least(ask.mem_per_cpu_mb, 0);
    demand.per_node = std::max(demand.per_node, saturating_mul(per_cpu, cpus.per_node));
    demand.in_all = saturating_mul(per_cpu, cpus.in_all);
    return demand;
}

/// GPUs whose shares the demand takes, if it takes more than those of the job's own GPUs; else 0.
Gpus gpus_taken(const Demand& demand, std::int64_t share, const GpuInterval& gpus, std::int64_t nodes) {
    const auto own = saturating_mul(share, gpus.min);
    Gpus taken = 0;
    if (saturating_mul(demand.per_node, nodes) > own)
        taken = demand.per_node >= gpus_max ? gpus_max : saturating_mul(ceil_div(demand.per_node, share), nodes);
    if (demand.per_gpu > share)
        taken = std::max(taken, saturating_add(ceil_div(saturating_mul(demand.per_gpu, gpus.max), share), nodes - 1));
    // how the whole is spread over the nodes is Slurm's to choose: each may round up
    if (demand.in_all > own) taken = std::max(taken, saturating_add(ceil_div(demand.in_all, share), nodes - 1));
    return taken;
}

/// The node's share of the node where it is smallest; none where no node's is known.
std::optional<std::int64_t> smallest_share(const PartitionShape* shape, std::int64_t NodeShape::* what) {
    std::optional<std::int64_t> smallest;
    if (shape == nullptr) return smallest;
    for (const auto& node : shape->nodes) {
        const auto gpus = total(node.gpus);
        if (gpus == 0 || node.*what <= 0) continue;
        const auto share = std::max<std::int64_t>(node.*what / gpus, 1);
        if (!smallest || share < *smallest) smallest = share;
    }
    return smallest;
}

}  // namespace

Burden burden_of(const GpuAsk& ask, const GpuInterval& gpus, std::int64_t nodes, const PartitionShape* shape,
                 const PoolConfig& pool) {
    Burden burden;
    nodes = std::max<std::int64_t>(nodes, 1);
    // GPUs of the job as a whole may lie on one node, and its CPUs on the others
    const Gpus apart = ask.tres_per_job && !ask.tres_per_node ? std::max<Gpus>(gpus.max - nodes, 0) : 0;
    const auto weigh = [&](const Demand& demand, const std::optional<std::int64_t>& share, const char* what) {
        if (!share || *share <= 0) return;
        const auto taken = gpus_taken(demand, *share, gpus, nodes);
        if (taken <= gpus.max) return;
        if (const auto all = saturating_add(taken, nodes > 1 ? apart : 0); all > burden.gpus)
            burden = {all, fmt::format("more than {} {} for each GPU", *share, what)};
    };
    const auto cpus = cpus_of(ask);
    const auto memory = memory_of(ask, cpus);
    // most jobs ask for so little that no share need be looked for
    if (cpus.in_all > gpus.min || cpus.per_node > 1 || cpus.per_gpu > 1)
        weigh(cpus, pool.cpus_per_gpu ? pool.cpus_per_gpu : smallest_share(shape, &NodeShape::cpus), "CPUs");
    if (memory.in_all > 0 || memory.per_node > 0 || memory.per_gpu > 0)
        weigh(memory, pool.mem_per_gpu_mb ? pool.mem_per_gpu_mb : smallest_share(shape, &NodeShape::memory_mb),
              "MiB of memory");
    return burden;
}

std::int64_t cpus_of_each_gpu(const GpuAsk& ask) { return most_per_gpu(ask.cpus_per_tres); }

std::int64_t cpus_in_all(const GpuAsk& ask, std::int64_t nodes) {
    const auto demand = cpus_of(ask);
    if (demand.per_gpu > 0) return gpus_max;
    return std::max(demand.in_all, saturating_mul(std::max<std::int64_t>(demand.per_node, 1), nodes));
}

std::int64_t cpus_for_each_gpu(const GpuAsk& ask, Gpus gpus) {
    const auto demand = cpus_of(ask);
    return std::max(demand.per_gpu, ceil_div(std::max(demand.in_all, demand.per_node), std::max<Gpus>(gpus, 1)));
}

}  // namespace accord
