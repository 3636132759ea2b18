// SPDX-License-Identifier: GPL-2.0-or-later
// What one `scontrol update`, hold or release would change, in plain values.
#pragma once

#include <slurm/slurm.h>

#include "policy/modify.hpp"

namespace accord {

/// Fields as slurmctld fills them for job_modify (slurm_init_job_desc_msg says what an untouched field holds). Pure.
[[nodiscard]] Change change_of(const job_desc_msg_t& desc);

}  // namespace accord
