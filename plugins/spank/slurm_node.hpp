// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmd tells its plugins about the node and, in prolog and epilog, about the job. Nothing here is the user's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "policy/error.hpp"
#include "scope/job_state.hpp"

namespace accord::spank {

/// From slurm.conf as the process has read it, and from slurmd's own environment.
struct SlurmNode {
    std::string cluster, name;
    uid_t slurm_user = 0;
    /// Files and folders of Slurm's that a job's processes need, whatever its contract hides: spool, munge's sockets,
    /// configuration, plugins, slurmstepd, the task prolog.
    std::vector<std::string> needs;
    [[nodiscard]] NodePlace place() const;
};
[[nodiscard]] Result<SlurmNode> slurm_node();

/// From the environment that slurmd gives to prolog and epilog.
struct SlurmJob {
    JobStart start;
    std::uint32_t uid = 0, gid = 0;
    std::string account;  ///< empty: none
    std::string partition;
    std::string sealed_grant;  ///< as in spank_job_env; empty: none
    std::string decision;
};
[[nodiscard]] Result<SlurmJob> slurm_job();

}  // namespace accord::spank
