// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's partition and node records in plain values.
#include "slurm/shape_view.hpp"

#include <charconv>
#include <string_view>

namespace accord {
namespace {

std::string_view next_field(std::string_view& rest, char separator) {
    const auto end = rest.find(separator);
    const auto field = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    return field;
}

std::string without_parentheses(const std::string& text) {
    std::string out;
    int depth = 0;
    for (const char c : text) {
        if (c == '(') ++depth;
        if (depth == 0) out += c;
        if (c == ')') --depth;
    }
    return out;
}

/// Slurm writes a count of 1,024 times a power as "4K".
std::optional<Gpus> read_count(std::string_view text) {
    Gpus count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{}) return std::nullopt;
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (unit.empty()) return count;
    return unit == "K" ? std::optional<Gpus>(count * 1024) : std::nullopt;
}

/// NODE_STATE_UNKNOWN is a node that has not reported since slurmctld started, which is no loss of capacity: one that never
/// does is set down.
bool is_available(std::uint32_t state) {
    const auto base = state & NODE_STATE_BASE;
    const auto unusable = NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_INVALID_REG;
    const bool serves = base == NODE_STATE_IDLE || base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED ||
                        base == NODE_STATE_UNKNOWN;
    return serves && (state & unusable) == 0;
}

NodeShape node_shape(const node_info_t& node) {
    NodeShape shape;
    shape.name = node.name;
    if (node.gres) shape.gpus = node_gpus(node.gres);
    shape.cpus = node.cpus;
    shape.memory_mb = static_cast<std::int64_t>(node.real_memory);
    shape.available = is_available(node.node_state);
    return shape;
}

std::optional<std::int64_t> limit_of(std::uint32_t value) {
    if (value == NO_VAL || value == INFINITE) return std::nullopt;
    return value;
}

PartitionShape partition_shape(const partition_info_t& partition, const node_info_msg_t& nodes) {
    PartitionShape shape;
    shape.name = partition.name;
    shape.min_nodes = partition.min_nodes;
    shape.max_nodes = limit_of(partition.max_nodes);
    shape.exclusive = partition.max_share == 0;
    shape.default_time_min = limit_of(partition.default_time);
    shape.max_time_min = limit_of(partition.max_time);
    shape.priority_tier = partition.priority_tier;
    for (const auto* range = partition.node_inx; range && range[0] >= 0; range += 2) {
        for (auto i = range[0]; i <= range[1]; ++i) {
            if (static_cast<std::uint32_t>(i) >= nodes.record_count) break;
            const auto& node = nodes.node_array[i];
            if (node.name && (node.node_state & NODE_STATE_BASE) != NODE_STATE_FUTURE)
                shape.nodes.push_back(node_shape(node));
        }
    }
    return shape;
}

}  // namespace

GpuVector node_gpus(const std::string& gres) {
    GpuVector gpus;
    const auto text = without_parentheses(gres);
    for (std::string_view rest = text; !rest.empty();) {
        auto entry = next_field(rest, ',');
        if (next_field(entry, ':') != "gpu") continue;
        auto first = next_field(entry, ':');
        if (entry.empty()) {
            if (const auto count = read_count(first)) gpus[""] += *count;
        } else if (const auto count = read_count(entry)) {
            gpus[std::string(first)] += *count;
        }
    }
    return gpus;
}

ClusterShape cluster_shape(const partition_info_msg_t& partitions, const node_info_msg_t& nodes) {
    ClusterShape shape;
    for (std::uint32_t i = 0; i < partitions.record_count; ++i) {
        const auto& partition = partitions.partition_array[i];
        if (!partition.name) continue;
        if (partition.flags & PART_FLAG_DEFAULT) shape.default_partition = partition.name;
        shape.partitions.emplace(partition.name, partition_shape(partition, nodes));
    }
    return shape;
}

}  // namespace accord
