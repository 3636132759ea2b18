// SPDX-License-Identifier: GPL-2.0-or-later
// The model cluster: nodes with GPUs of one type each, and the pools that they belong to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/config.hpp"
#include "policy/error.hpp"
#include "policy/shape.hpp"

namespace accord::sim {

/// So many equal nodes.
struct NodeGroup {
    std::int64_t nodes = 0;
    Gpus gpus = 0;         ///< on each
    std::string gpu_type;  ///< empty: that of the only pool's only type
};

/// "4x8:a100,2x8:h100": nodes, GPUs on each, type. Fails ("usage").
[[nodiscard]] Result<std::vector<NodeGroup>> parse_cluster(const std::string& text);

struct ModelCluster {
    Config config;       ///< with what the model has as the pools' GPUs
    ClusterShape shape;  ///< by governed partition
};

/// Divides the nodes among the pools: a single pool has them all, of several ones each in turn takes nodes of its types until
/// it has the GPUs that accord.toml says. Fails ("usage") where a type is of no pool, or nodes are left over.
[[nodiscard]] Result<ModelCluster> model_cluster(Config config, std::vector<NodeGroup> groups);

}  // namespace accord::sim
