// SPDX-License-Identifier: GPL-2.0-or-later
// How many nodes a request may take, and what they hold.
#include "policy/nodes.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "policy/tres.hpp"
#include "policy/unusable.hpp"

namespace accord {

namespace {

/// A number that the request really sets; Slurm's 0 is "not set".
std::int64_t set_or(const std::optional<std::int64_t>& value, std::int64_t otherwise) {
    return value && *value > 0 ? std::min(*value, gpus_max) : otherwise;
}

/// A list of hosts longer than --nodes is one to choose from on newer releases (from 23.11), and refused before.
std::int64_t fewest_nodes(const GpuAsk& ask, const PartitionShape* shape) {
    auto fewest = set_or(ask.min_nodes, set_or(ask.required_nodes, 1));
    if (shape != nullptr) fewest = std::max(fewest, shape->min_nodes);
    const auto tasks = set_or(ask.num_tasks, 0), per_node = set_or(ask.ntasks_per_node, 0);
    if (tasks != 0 && per_node != 0) fewest = std::max(fewest, ceil_div(tasks, per_node));
    return fewest;
}

/// The largest number in a list of node counts, such as "2,4,8" or "2-8:2": it need not be the last.
std::int64_t largest_size(std::string_view sizes) {
    std::int64_t largest = 0, number = 0;
    bool is_step = false;
    for (const char letter : sizes) {
        if (letter >= '0' && letter <= '9') {
            number = saturating_add(saturating_mul(number, 10), letter - '0');
            if (!is_step) largest = std::max(largest, number);
        } else {
            number = 0;
            is_step = letter == ':';
        }
    }
    return largest;
}

/// The limit that the request or the partition names.
std::int64_t node_limit(const GpuAsk& ask, const PartitionShape* shape) {
    auto limit = set_or(ask.job_size ? std::optional(largest_size(*ask.job_size)) : ask.max_nodes, gpus_max);
    if (shape != nullptr) {
        limit = std::min(limit, set_or(shape->max_nodes, gpus_max));
        limit = std::min(limit, static_cast<std::int64_t>(shape->nodes.size()));
    }
    return limit;
}

/// CPUs that every node gives at least, if only by the job's first GPU there.
std::int64_t cpus_on_each(const GpuAsk& ask) {
    const auto per_task = set_or(ask.cpus_per_task, 1);
    const auto by_tasks = saturating_mul(set_or(ask.ntasks_per_node, 1), per_task);
    const auto gpus = ask.tres_per_node ? total(parse_tres_gpus(*ask.tres_per_node).gpus) : 0;
    const auto by_gpus = saturating_mul(std::max<Gpus>(gpus, 1), cpus_of_each_gpu(ask));
    return std::max({by_tasks, by_gpus, set_or(ask.min_cpus_per_node, 1)});
}

/// Nodes after which Slurm has all tasks or CPUs that it looks for.
std::int64_t sufficient_nodes(const GpuAsk& ask, std::int64_t fewest, Gpus by_gpus) {
    const auto tasks = set_or(ask.num_tasks, 0), cpus = set_or(ask.min_cpus, 1);
    const auto by_cpus = ceil_div(cpus, cpus_on_each(ask));
    if (tasks != 0) return cpus > saturating_mul(tasks, set_or(ask.cpus_per_task, 1)) ? std::max(tasks, by_cpus) : tasks;
    if (set_or(ask.max_nodes, 0) != 0 || ask.job_size) return gpus_max;
    return std::max({by_cpus, by_gpus, fewest});
}

/// The sum of the counts in features such as "[fast*2&slow*1]": Slurm takes so many nodes, whatever the tasks need
/// (_get_req_features, 22.05 and 24.11).
std::int64_t counted_features(std::string_view features) {
    std::int64_t sum = 0;
    for (auto at = features.find('*'); at != std::string_view::npos; at = features.find('*', at + 1)) {
        std::int64_t count = 0;
        for (auto digit = at + 1; digit < features.size() && features[digit] >= '0' && features[digit] <= '9'; ++digit)
            count = saturating_add(saturating_mul(count, 10), features[digit] - '0');
        sum = saturating_add(sum, count);
    }
    return sum;
}

/// Nodes that the request names or counts, all of which Slurm takes.
std::int64_t demanded_nodes(const GpuAsk& ask) {
    return std::max(set_or(ask.required_nodes, 1), ask.features ? counted_features(*ask.features) : 0);
}

template <typename Order>
Gpus gpus_of_first(const std::vector<const NodeShape*>& nodes, const std::string& type, std::int64_t count,
                   Order order) {
    std::vector<Gpus> held;
    held.reserve(nodes.size());
    for (const auto* node : nodes) held.push_back(gpus_on(*node, type));
    const auto taken = std::min(count, static_cast<std::int64_t>(held.size()));
    std::nth_element(held.begin(), held.begin() + std::max<std::int64_t>(taken - 1, 0), held.end(), order);
    return std::accumulate(held.begin(), held.begin() + taken, Gpus{0}, saturating_add);
}

}  // namespace

NodeRange node_range(const GpuAsk& ask, const PartitionShape* shape, Gpus by_gpus) {
    const auto fewest = fewest_nodes(ask, shape);
    const auto wanted = std::max(sufficient_nodes(ask, fewest, by_gpus), demanded_nodes(ask));
    const auto most = std::min(node_limit(ask, shape), wanted);
    return {fewest, std::max(fewest, most)};
}

Gpus gpus_on(const NodeShape& node, const std::string& type) {
    return type.empty() ? total(node.gpus) : amount_of(node.gpus, type);
}

std::int64_t nodes_with(const PartitionShape& shape, const std::string& type, std::int64_t enough) {
    std::int64_t found = 0;
    for (const auto& node : shape.nodes) {
        if (found >= enough) break;
        if (gpus_on(node, type) > 0) ++found;
    }
    return found;
}

Gpus gpus_of_richest(const std::vector<const NodeShape*>& nodes, const std::string& type, std::int64_t count) {
    return gpus_of_first(nodes, type, count, std::greater<>{});
}

Gpus gpus_of_poorest(const std::vector<const NodeShape*>& nodes, const std::string& type, std::int64_t count) {
    return gpus_of_first(nodes, type, count, std::less<>{});
}

}  // namespace accord
