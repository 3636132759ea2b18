// SPDX-License-Identifier: GPL-2.0-or-later
#include "policy/placeable.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "policy/hostlist.hpp"
#include "policy/nodes.hpp"
#include "policy/tres.hpp"

namespace accord {

namespace {

Gpus asked(const std::optional<std::string>& field, const std::string& type) {
    return field ? amount_of(parse_tres_gpus(*field).gpus, type) : 0;
}

}  // namespace

bool is_placeable(const JobRequest& request, const GpuAsk& typed, const std::string& type, const PartitionShape* shape) {
    if (shape == nullptr) return true;
    const auto for_each_task = asked(typed.tres_per_task, type);
    const auto on_each = std::max({Gpus{1}, asked(typed.tres_per_node, type), asked(typed.tres_per_socket, type), for_each_task});
    const auto in_all = std::max(asked(typed.tres_per_job, type), saturating_mul(for_each_task, typed.num_tasks.value_or(1)));
    std::vector<const NodeShape*> suitable;
    for (const auto& node : shape->nodes) {
        const bool has_enough = gpus_on(node, type) >= on_each && !names_host(request.excluded_nodes, node.name);
        if (!has_enough && names_host(request.node_list, node.name)) return false;
        if (has_enough) suitable.push_back(&node);
    }
    const auto range = node_range(typed, shape, in_all);
    return static_cast<std::int64_t>(suitable.size()) >= range.fewest && gpus_of_richest(suitable, type, range.most) >= in_all;
}

}  // namespace accord
