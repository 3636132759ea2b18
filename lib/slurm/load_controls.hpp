// SPDX-License-Identifier: GPL-2.0-or-later
// Asks slurmctld for what `accord doctor` looks at.
#pragma once

#include "policy/error.hpp"
#include "slurm/cluster.hpp"
#include "slurm/controls.hpp"

namespace accord {

/// `connection` stands for the process's use of Slurm's library, as connect_slurm() began it. Fails ("unavailable") when
/// slurmctld does not answer.
[[nodiscard]] Result<SlurmControls> load_controls(const Cluster& connection);

}  // namespace accord
