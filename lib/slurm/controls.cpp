// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm/controls.hpp"

#include <algorithm>
#include <charconv>
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

std::optional<std::int64_t> number_after(std::string_view text, std::string_view name) {
    const auto at = text.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    std::int64_t value = 0;
    text.remove_prefix(at + name.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

/// A partition's own ones, which hold in place of the cluster's one by one (job_test, select/cons_tres 22.05).
GpuDefaults gpu_defaults_of(const partition_info_t& partition, const GpuDefaults& of_cluster) {
    const auto own = text_of(partition.job_defaults_str);
    const auto cpus = number_after(own, "DefCpuPerGPU="), mem_mb = number_after(own, "DefMemPerGPU=");
    return {cpus ? cpus : of_cluster.cpus, mem_mb ? mem_mb : of_cluster.mem_mb};
}

GpuAsk default_ask_of(const partition_info_t& partition, const slurm_conf_t& conf, const GpuDefaults& of_cluster) {
    const auto defaults = gpu_defaults_of(partition, of_cluster);
    GpuAsk ask;
    ask.tres_per_node = "gres/gpu:1";
    ask.min_nodes = ask.max_nodes = 1;
    if (defaults.cpus) ask.cpus_per_tres = "gres/gpu:" + std::to_string(*defaults.cpus);
    if ((conf.select_type_param & CR_MEMORY) == 0) return ask;
    const auto own = partition.def_mem_per_cpu;
    const auto memory = own != 0 && own != NO_VAL64 ? own : conf.def_mem_per_cpu;
    if (defaults.mem_mb)
        ask.mem_per_tres = "gres/gpu:" + std::to_string(*defaults.mem_mb);
    else if ((memory & MEM_PER_CPU) != 0)
        ask.mem_per_cpu_mb = static_cast<std::int64_t>(memory & ~MEM_PER_CPU);
    else
        ask.mem_per_node_mb = static_cast<std::int64_t>(memory);  // 0: all of it
    return ask;
}

}  // namespace

SlurmControls slurm_controls(const slurm_conf_t& conf, const partition_info_msg_t& partitions,
                             const GpuDefaults& defaults) {
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
    const auto parameters = list_of(conf.sched_params);
    controls.permits_job_expansion = std::find(parameters.begin(), parameters.end(), "permit_job_expansion") != parameters.end();
    controls.exempts_by_priority = compat::exempts_by_priority(controls.version);
    for (std::uint32_t i = 0; i < partitions.record_count; ++i) {
        const auto& partition = partitions.partition_array[i];
        const auto mode = is_set(partition.preempt_mode) ? partition.preempt_mode : conf.preempt_mode;
        controls.partitions[text_of(partition.name)] = {preempt_mode_name(mode), (partition.flags & PART_FLAG_DEFAULT) != 0,
                                                        default_ask_of(partition, conf, defaults)};
    }
    return controls;
}

}  // namespace accord
