// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim/cluster.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace accord::sim {

namespace {

constexpr std::int64_t most_nodes = 100'000, most_gpus_on_a_node = 64;

std::optional<std::int64_t> number_up_to(std::string_view text, std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most) return std::nullopt;
    return value;
}

std::optional<NodeGroup> group_from(std::string_view text) {
    const auto times = text.find('x'), colon = text.find(':');
    if (times == std::string_view::npos || colon == std::string_view::npos || colon < times) return std::nullopt;
    const auto nodes = number_up_to(text.substr(0, times), most_nodes);
    const auto gpus = number_up_to(text.substr(times + 1, colon - times - 1), most_gpus_on_a_node);
    const auto type = text.substr(colon + 1);
    if (!nodes || !gpus || type.empty()) return std::nullopt;
    return NodeGroup{*nodes, *gpus, std::string(type)};
}

Result<void> settle_types(std::vector<NodeGroup>& groups, const Config& config) {
    for (auto& group : groups) {
        if (group.gpu_type.empty()) {
            if (config.pools.size() != 1 || config.pools.front().gpus.size() != 1)
                return fail("usage", "accord.toml has several GPU types or pools: describe the nodes by --cluster, as in "
                                     "--cluster 4x8:a100,2x8:h100");
            group.gpu_type = config.pools.front().gpus.begin()->first;
        }
        const bool known = std::any_of(config.pools.begin(), config.pools.end(),
                                       [&](const auto& pool) { return pool.gpus.contains(group.gpu_type); });
        if (!known) return fail("usage", fmt::format("--cluster: no pool of accord.toml has GPUs of type {}", group.gpu_type));
    }
    return {};
}

/// Moves nodes of the type from `groups` into the partition until it has `wanted` GPUs more; without a number all of them.
void move_nodes(std::vector<NodeGroup>& groups, const std::string& type, std::optional<Gpus> wanted, PartitionShape& into,
                const PoolConfig& pool) {
    for (auto& group : groups) {
        if (group.gpu_type != type) continue;
        for (; group.nodes > 0 && (!wanted || *wanted > 0); --group.nodes) {
            NodeShape node;
            node.name = fmt::format("{}{}", into.name, into.nodes.size() + 1);
            node.gpus[type] = group.gpus;
            node.cpus = pool.cpus_per_gpu.value_or(0) * group.gpus;
            into.nodes.push_back(std::move(node));
            if (wanted) *wanted -= group.gpus;
        }
    }
}

}  // namespace

Result<std::vector<NodeGroup>> parse_cluster(const std::string& text) {
    std::vector<NodeGroup> groups;
    std::string_view rest = text;
    while (true) {
        const auto comma = rest.find(',');
        auto group = group_from(rest.substr(0, comma));
        if (!group)
            return fail("usage", fmt::format("--cluster {}: expected nodes, GPUs on each and their type, as in "
                                             "4x8:a100,2x8:h100, with at most {} nodes of {} GPUs",
                                             text, most_nodes, most_gpus_on_a_node));
        groups.push_back(std::move(*group));
        if (comma == std::string_view::npos) return groups;
        rest.remove_prefix(comma + 1);
    }
}

Result<ModelCluster> model_cluster(Config config, std::vector<NodeGroup> groups) {
    if (config.pools.empty()) return fail("usage", "accord.toml has no pool: there is nothing to simulate");
    if (const auto settled = settle_types(groups, config); !settled) return tl::unexpected(settled.error());
    ModelCluster model{std::move(config), {}};
    auto& pools = model.config.pools;
    if (pools.size() == 1) model.shape.default_partition = pools.front().partition;
    for (auto& pool : pools) {
        auto& partition = model.shape.partitions[pool.partition];
        partition.name = pool.partition;
        for (const auto& [type, gpus] : pool.gpus)
            move_nodes(groups, type, pools.size() == 1 ? std::nullopt : std::optional(gpus), partition, pool);
        pool.gpus = partition.capacity();
    }
    for (const auto& group : groups)
        if (group.nodes > 0)
            return fail("usage", fmt::format("{} nodes of {} {} are more than the pools of accord.toml have", group.nodes,
                                             group.gpus, group.gpu_type));
    return model;
}

}  // namespace accord::sim
