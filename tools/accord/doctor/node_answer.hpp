// SPDX-License-Identifier: GPL-2.0-or-later
// What a compute node's own doctor said, beside what the controller has.
#pragma once

#include <string>

#include "doctor/control.hpp"

namespace accord {

/// What one node said through srun.
struct NodeAnswer {
    std::string node;
    std::string output;        ///< of `accord doctor --node --json`
    std::string complaints;    ///< what it, srun and slurmstepd said on standard error
    bool asked = true;         ///< false: it takes no jobs now
    bool out_of_time = false;  ///< srun was ended for that
};

/// What the nodes are compared with: short hashes of the controller's files; empty where it has none.
struct NodeReference {
    std::string config_hash;  ///< of accord.toml
    std::string plugin_hash;  ///< of spank_accord.so
};

/// True where the node's doctor answered, whatever it found.
[[nodiscard]] bool has_answered(const NodeAnswer& answer);

/// The node's findings: what its own doctor did not find right, what differs from the controller's, or why there is no
/// answer. A node that is busy or down is a warning. Empty when all is well.
[[nodiscard]] Controls check_node(const NodeAnswer& answer, const NodeReference& reference);

}  // namespace accord
