// SPDX-License-Identifier: GPL-2.0-or-later
// What slurm.conf says as far as Accord's controls depend on it, as slurmctld has it in force.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slurm/slurm.h>

#include "policy/request.hpp"

namespace accord {

/// DefCpuPerGPU and DefMemPerGPU.
struct GpuDefaults {
    std::optional<std::int64_t> cpus, mem_mb;
};

struct PartitionControl {
    std::string preempt_mode;  ///< "OFF", "REQUEUE", "CANCEL" or "SUSPEND"; the cluster's where it has none of its own
    bool is_default = false;
    /// What a job gets that asks for one GPU, and for neither CPUs nor memory.
    GpuAsk default_ask;
};

struct SlurmControls {
    std::string version, cluster_name, slurm_user;
    std::string preempt_type, preempt_mode, priority_type, select_type, accounting_type, container_type;  ///< plugins
    std::vector<std::string> job_submit_plugins, gres_types, accounting_tres;
    std::string auth_info;
    std::string federation;   ///< its name; empty: none
    bool prolog_at_allocation = false;
    bool requeues_by_default = true;       ///< JobRequeue
    bool enforces_partition_limits = false;  ///< EnforcePartLimits is ALL or ANY
    bool permits_job_expansion = false;  ///< SchedulerParameters=permit_job_expansion
    bool exempts_by_priority = false;      ///< the release knows PreemptParameters=min_exempt_priority
    std::map<std::string, PartitionControl> partitions;
};

/// The federation is asked for apart, and so are the cluster's defaults for GPUs, which `conf` has in a list of Slurm's.
/// Pure: no call into Slurm.
[[nodiscard]] SlurmControls slurm_controls(const slurm_conf_t& conf, const partition_info_msg_t& partitions,
                                           const GpuDefaults& defaults);

}  // namespace accord
