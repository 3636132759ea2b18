// SPDX-License-Identifier: GPL-2.0-or-later
// Runs `accord doctor --node` on compute nodes through srun.
#pragma once

#include <string>
#include <vector>

#include "doctor/node_answer.hpp"

namespace accord {

/// A node, and the partition through which it is asked.
struct NodeToAsk {
    std::string node, partition;
    bool takes_jobs = true;  ///< one that does not is not asked
};

/// One answer for each node, in their order. Each is a job of one task without GPUs that must start within seconds and
/// is ended within half a minute, some of them at a time: so this takes as long as there are nodes that do not answer,
/// never longer. Takes SLURM_* but SLURM_CONF out of this process's environment.
[[nodiscard]] std::vector<NodeAnswer> ask_nodes(const std::vector<NodeToAsk>& nodes);

}  // namespace accord
