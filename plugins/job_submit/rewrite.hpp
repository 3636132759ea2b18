// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a decision into the request, in memory that slurmctld owns.
#pragma once

#include <slurm/slurm.h>

#include <string_view>

#include "policy/decision.hpp"

namespace accord {

/// Account, partition, hold, site factor, time limit and array limit, as far as the decision sets them.
void apply_rewrite(job_desc_msg_t& desc, const Rewrite& rewrite);

/// What travels with the job beside its fields.
struct Marks {
    std::string_view admin_comment;  ///< empty: none
    std::string_view grant;          ///< sealed; empty: none
    std::string_view decision;       ///< "0-17"; empty: none
};

/// Sets the comment, removes every entry of Accord's from spank_job_env and adds the grant and the decision. The array
/// stays NULL-terminated: PrologSlurmctld and the mail program read it so (job_common_env_vars, 22.05).
void apply_marks(job_desc_msg_t& desc, const Marks& marks);

}  // namespace accord
