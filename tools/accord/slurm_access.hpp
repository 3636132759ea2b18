// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld for commands that can do without it.
#pragma once

#include <memory>
#include <string>

#include "slurm/cluster.hpp"

namespace accord {

/// The slurm.conf that Slurm's library would read: SLURM_CONF, Slurm's own place, or the copy that slurmd keeps of a
/// configuration fetched from slurmctld. Empty when there is none, in which case the library ends the process.
[[nodiscard]] std::string slurm_conf_path();

/// Null where this host has no slurm.conf.
[[nodiscard]] std::unique_ptr<Cluster> slurm_if_there();

}  // namespace accord
