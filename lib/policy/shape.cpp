// SPDX-License-Identifier: GPL-2.0-or-later
// What partitions hold in all.
#include "policy/shape.hpp"

namespace accord {

GpuVector PartitionShape::capacity() const {
    GpuVector sum;
    for (const auto& node : nodes) add(sum, node.gpus);
    return sum;
}

GpuVector PartitionShape::available_capacity() const {
    GpuVector sum;
    for (const auto& node : nodes)
        if (node.available) add(sum, node.gpus);
    return sum;
}

const PartitionShape* ClusterShape::partition(const std::string& name) const {
    const auto found = partitions.find(name);
    return found == partitions.end() ? nullptr : &found->second;
}

}  // namespace accord
