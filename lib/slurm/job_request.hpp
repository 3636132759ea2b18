// SPDX-License-Identifier: GPL-2.0-or-later
// A submission as slurmctld hands it to a job_submit plugin, in plain values.
#pragma once

#include <slurm/slurm.h>

#include "policy/request.hpp"

namespace accord {

/// `requeue_default` is slurm.conf's JobRequeue. Pure: no call into Slurm.
[[nodiscard]] JobRequest job_request(const job_desc_msg_t& desc, bool requeue_default);

}  // namespace accord
