// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's job records in plain values: accordd's list and the record that job_modify is handed share this adapter.
#pragma once

#include <slurm/slurm.h>

#include "policy/job.hpp"

namespace accord {

/// NO_VAL, INFINITE and NULL go no further than here. Pure: no call into Slurm.
[[nodiscard]] JobView job_view(const slurm_job_info_t& info);

}  // namespace accord
