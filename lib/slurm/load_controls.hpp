// SPDX-License-Identifier: GPL-2.0-or-later
// What `accord doctor` looks at: slurmctld's settings, and this host's own slurm.conf.
#pragma once

#include <string>

#include "policy/error.hpp"
#include "slurm/cluster.hpp"
#include "slurm/controls.hpp"

namespace accord {

/// `connection` stands for the process's use of Slurm's library, as connect_slurm() began it. Fails ("unavailable") when
/// slurmctld does not answer.
[[nodiscard]] Result<SlurmControls> load_controls(const Cluster& connection);

/// What this host's slurm.conf says of plugins, whether or not slurmctld answers.
struct HostConf {
    std::string plugin_dir;  ///< folders with colons between them
    std::string plugstack;   ///< path of plugstack.conf
};
[[nodiscard]] HostConf host_conf(const Cluster& connection);

}  // namespace accord
