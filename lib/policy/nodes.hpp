// SPDX-License-Identifier: GPL-2.0-or-later
// How many nodes a request may take, and what a number of a partition's nodes hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/gpus.hpp"
#include "policy/request.hpp"
#include "policy/shape.hpp"

namespace accord {

/// `most` is gpus_max where nothing bounds it.
struct NodeRange {
    std::int64_t fewest = 1;
    std::int64_t most = 1;
};

/// The nodes that Slurm may give the request. `shape` may be null.
///
/// Fewest: the largest of --nodes (else the hosts named), MinNodes and the tasks over the tasks per node. Most: the
/// smallest of --nodes, MaxNodes, the partition's nodes and the tasks (or the CPUs, where it asks for more of them than its
/// tasks take), but no less than the hosts that it names and the nodes that its features count. Without tasks and without a node limit Slurm adds
/// nodes only until it has the CPUs (_eval_nodes of select/cons_tres, 22.05), and each gives at least one task's; a
/// request for a number of GPUs in all (`by_gpus`) also until it has those, at least one on each node.
[[nodiscard]] NodeRange node_range(const GpuAsk& ask, const PartitionShape* shape, Gpus by_gpus = 0);

/// GPUs of `type` on the node; the type "" stands for all types together.
[[nodiscard]] Gpus gpus_on(const NodeShape& node, const std::string& type);

/// Nodes with a GPU of `type`, counted up to `enough`.
[[nodiscard]] std::int64_t nodes_with(const PartitionShape& shape, const std::string& type, std::int64_t enough);

/// What the `count` nodes with the most, or the fewest, GPUs of `type` hold.
[[nodiscard]] Gpus gpus_of_richest(const std::vector<const NodeShape*>& nodes, const std::string& type,
                                   std::int64_t count);
[[nodiscard]] Gpus gpus_of_poorest(const std::vector<const NodeShape*>& nodes, const std::string& type,
                                   std::int64_t count);

}  // namespace accord
