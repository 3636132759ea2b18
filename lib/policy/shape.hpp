// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster's partitions and nodes as slurmctld has them, as far as counting and capacity need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/gpus.hpp"

namespace accord {

struct NodeShape {
    std::string name;
    GpuVector gpus;
    std::int64_t cpus = 0;
    std::int64_t memory_mb = 0;
    bool available = true;  ///< false: down, failing or draining; its GPUs are not lendable
    bool operator==(const NodeShape&) const = default;
};

struct PartitionShape {
    std::string name;
    std::int64_t min_nodes = 1;
    std::optional<std::int64_t> max_nodes;
    bool exclusive = false;                         ///< OverSubscribe=EXCLUSIVE: whole nodes only
    std::optional<std::int64_t> default_time_min;   ///< DefaultTime
    std::optional<std::int64_t> max_time_min;       ///< MaxTime; none: no limit
    std::int64_t priority_tier = 1;
    std::vector<NodeShape> nodes;

    /// Configured GPUs of all nodes, available or not.
    [[nodiscard]] GpuVector capacity() const;
    /// GPUs of the nodes that are available.
    [[nodiscard]] GpuVector available_capacity() const;
    bool operator==(const PartitionShape&) const = default;
};

struct ClusterShape {
    std::optional<std::string> default_partition;
    std::map<std::string, PartitionShape> partitions;

    /// Null when slurmctld's shape of the partition is not known (yet).
    [[nodiscard]] const PartitionShape* partition(const std::string& name) const;
    bool operator==(const ClusterShape&) const = default;
};

}  // namespace accord
