// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's partition and node records in plain values.
#pragma once

#include <string>

#include <slurm/slurm.h>

#include "policy/shape.hpp"

namespace accord {

/// Both lists must come from one slurmctld and show everything (SHOW_ALL): a partition names its nodes by their place
/// in the node list. Pure: no call into Slurm.
[[nodiscard]] ClusterShape cluster_shape(const partition_info_msg_t& partitions, const node_info_msg_t& nodes);

/// The GPUs of a node's configured Gres string, such as "gpu:a100:4(S:0-1),shard:a100:32"; those of no type under "".
[[nodiscard]] GpuVector node_gpus(const std::string& gres);

}  // namespace accord
