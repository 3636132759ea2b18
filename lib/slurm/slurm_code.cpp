// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm/slurm_code.hpp"

#include <slurm/slurm_errno.h>

namespace accord {

int slurm_code(Reason reason) {
    switch (reason) {
        case Reason::store_unavailable: return ESLURM_DISABLED;
        case Reason::lend_partition:
        case Reason::mixed_partitions: return ESLURM_INVALID_PARTITION_NAME;
        case Reason::ambiguous_account:
        case Reason::no_contract:
        case Reason::not_active: return ESLURM_INVALID_ACCOUNT;
        case Reason::workload_type: return ESLURM_NOT_SUPPORTED;
        case Reason::time_limit: return ESLURM_INVALID_TIME_LIMIT;
        case Reason::gpu_type: return ESLURM_INVALID_GRES_TYPE;
        case Reason::cpus_per_gpu: return ESLURM_TOO_MANY_REQUESTED_CPUS;
        case Reason::gpus_per_job:
        case Reason::gpus_per_user:
        case Reason::budget_exhausted:
        case Reason::headroom:
        case Reason::borrow_limit:
        case Reason::lend_limit: return ESLURM_ACCOUNTING_POLICY;
        case Reason::impossible: return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
        case Reason::not_requeueable: return ESLURM_NOT_SUPPORTED;
        case Reason::no_gpu: return ESLURM_INVALID_GRES;
        case Reason::queued: return ESLURM_JOB_HELD;
        case Reason::stale: return ESLURM_TRANSITION_STATE_NO_UPDATE;
        default: return ESLURM_ACCESS_DENIED;
    }
}

}  // namespace accord
