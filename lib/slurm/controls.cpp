// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm/controls.hpp"

#include <string_view>

#include "slurm/compat.hpp"
#include "slurm/values.hpp"

namespace accord {
namespace {

std::vector<std::string> list_of(const char* text) {
    std::vector<std::string> words;
    std::string_view rest = text == nullptr ? std::string_view() : std::string_view(text);
    while (!rest.empty()) {
        const auto comma = rest.find(',');
        if (comma != 0) words.emplace_back(rest.substr(0, comma));
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
    return words;
}

/// The way of preempting, without the flags beside it (preempt_mode_string, 22.05).
std::string preempt_mode_name(std::uint16_t mode) {
    switch (mode & ~(PREEMPT_MODE_WITHIN | PREEMPT_MODE_GANG)) {
        case PREEMPT_MODE_OFF: return "OFF";
        case PREEMPT_MODE_SUSPEND: return "SUSPEND";
        case PREEMPT_MODE_REQUEUE: return "REQUEUE";
        case PREEMPT_MODE_CANCEL: return "CANCEL";
        default: return "unknown";
    }
}

}  // namespace

SlurmControls slurm_controls(const slurm_conf_t& conf, const partition_info_msg_t& partitions) {
    SlurmControls controls;
    controls.version = text_of(conf.version);
    controls.cluster_name = text_of(conf.cluster_name);
    controls.slurm_user = text_of(conf.slurm_user_name);
    controls.preempt_type = text_of(conf.preempt_type);
    controls.preempt_mode = preempt_mode_name(conf.preempt_mode);
    controls.priority_type = text_of(conf.priority_type);
    controls.select_type = text_of(conf.select_type);
    controls.accounting_type = text_of(conf.accounting_storage_type);
    controls.container_type = text_of(compat::container_type(conf));
    controls.job_submit_plugins = list_of(conf.job_submit_plugins);
    controls.gres_types = list_of(conf.gres_plugins);
    controls.accounting_tres = list_of(conf.accounting_storage_tres);
    controls.auth_info = text_of(conf.authinfo);
    controls.prolog_at_allocation = (conf.prolog_flags & PROLOG_FLAG_ALLOC) != 0;
    controls.requeues_by_default = conf.job_requeue != 0;
    controls.enforces_partition_limits = conf.enforce_part_limits != 0;
    controls.exempts_by_priority = compat::exempts_by_priority(controls.version);
    for (std::uint32_t i = 0; i < partitions.record_count; ++i) {
        const auto& partition = partitions.partition_array[i];
        const auto mode = is_set(partition.preempt_mode) ? partition.preempt_mode : conf.preempt_mode;
        controls.partitions[text_of(partition.name)] = {preempt_mode_name(mode), (partition.flags & PART_FLAG_DEFAULT) != 0};
    }
    return controls;
}

}  // namespace accord
