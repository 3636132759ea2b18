// SPDX-License-Identifier: GPL-2.0-or-later
// The controls in slurm.conf, and those of the pools' partitions and nodes.
#pragma once

#include "doctor/control.hpp"
#include "policy/config.hpp"
#include "policy/shape.hpp"
#include "slurm/controls.hpp"

namespace accord {

/// Plugins and parameters of the cluster as a whole.
[[nodiscard]] Controls check_slurm(const Config& config, const SlurmControls& slurm);

/// Each pool's partitions, tiers, preemption, nodes and GPUs.
[[nodiscard]] Controls check_pools(const Config& config, const SlurmControls& slurm, const ClusterShape& shape);

}  // namespace accord
