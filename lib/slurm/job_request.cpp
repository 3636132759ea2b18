// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm/job_request.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "slurm/compat.hpp"
#include "policy/hostlist.hpp"
#include "slurm/values.hpp"

namespace accord {
namespace {

std::vector<std::string> partitions_of(const char* text) {
    std::vector<std::string> names;
    std::string_view rest = text == nullptr ? std::string_view() : std::string_view(text);
    while (!rest.empty()) {
        const auto comma = rest.find(',');
        const auto name = rest.substr(0, comma);
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
    return names;
}

WorkloadType type_of(const job_desc_msg_t& desc) {
    if ((desc.bitflags & CRON_JOB) != 0) return WorkloadType::cron;
    if (desc.het_job_offset != NO_VAL) return WorkloadType::het;
    if (desc.array_inx != nullptr && *desc.array_inx != '\0') return WorkloadType::array;
    return desc.script != nullptr || desc.script_buf != nullptr ? WorkloadType::batch : WorkloadType::interactive;
}

bool is_yes(std::uint16_t value) { return is_set(value) && value != 0; }

GpuAsk ask_of(const job_desc_msg_t& desc) {
    GpuAsk ask;
    ask.tres_per_job = words_of(desc.tres_per_job);
    ask.tres_per_node = words_of(desc.tres_per_node);
    ask.tres_per_socket = words_of(desc.tres_per_socket);
    ask.tres_per_task = words_of(desc.tres_per_task);
    ask.min_nodes = count_of(desc.min_nodes);
    ask.max_nodes = count_of(desc.max_nodes);
    ask.num_tasks = count_of(desc.num_tasks);
    ask.ntasks_per_node = count_of(desc.ntasks_per_node);
    ask.ntasks_per_socket = count_of(desc.ntasks_per_socket);
    ask.ntasks_per_tres = count_of(desc.ntasks_per_tres);
    ask.cpus_per_task = count_of(desc.cpus_per_task);
    ask.min_cpus = count_of(desc.min_cpus);
    ask.sockets_per_node = count_of(desc.sockets_per_node);
    if (desc.req_nodes != nullptr) ask.required_nodes = count_hosts(desc.req_nodes);
    ask.min_cpus_per_node = count_of(desc.pn_min_cpus);
    if (is_set(desc.pn_min_memory)) {
        const auto megabytes = static_cast<std::int64_t>(desc.pn_min_memory & ~std::uint64_t{MEM_PER_CPU});
        ((desc.pn_min_memory & MEM_PER_CPU) != 0 ? ask.mem_per_cpu_mb : ask.mem_per_node_mb) = megabytes;
    }
    ask.cpus_per_tres = words_of(desc.cpus_per_tres);
    ask.mem_per_tres = words_of(desc.mem_per_tres);
    ask.whole_node = desc.shared == JOB_SHARED_NONE || is_set(desc.core_spec) || is_yes(desc.reboot);
    ask.features = counting_features(desc.features, desc.prefer);
    ask.job_size = compat::job_size(desc);
    return ask;
}

std::int64_t bytes_of(char* const* entries, std::uint32_t count) {
    std::int64_t bytes = 0;
    for (std::uint32_t i = 0; entries != nullptr && i < count; ++i)
        if (entries[i] != nullptr) bytes += static_cast<std::int64_t>(std::strlen(entries[i])) + 1;
    return bytes;
}

/// sbatch's --get-user-env (sbatch.c) and scrontab leave this word for slurmd.
bool loads_login_env(const job_desc_msg_t& desc) {
    for (std::uint32_t i = 0; desc.environment != nullptr && i < desc.env_size; ++i)
        if (desc.environment[i] != nullptr && std::strcmp(desc.environment[i], "SLURM_GET_USER_ENV=1") == 0) return true;
    return false;
}

}  // namespace

JobRequest job_request(const job_desc_msg_t& desc, bool requeue_default) {
    JobRequest request;
    request.uid = desc.user_id;
    request.account = words_of(desc.account);
    request.partitions = partitions_of(desc.partition);
    request.type = type_of(desc);
    request.gpus = ask_of(desc);
    if (const auto array = words_of(desc.array_inx)) {
        request.array = parse_array(*array);
        request.array_malformed = !request.array;
    }
    request.node_list = text_of(desc.req_nodes);
    request.excluded_nodes = text_of(desc.exc_nodes);
    request.node_list_malformed = words_of(desc.req_nodes) && !request.gpus.required_nodes;
    request.time_limit_min = minutes_of(desc.time_limit);
    request.requeueable = desc.requeue == NO_VAL16 ? requeue_default : desc.requeue != 0;
    request.held = desc.priority == 0;
    request.dependent = words_of(desc.dependency).has_value();
    request.deadline = desc.deadline != 0 && static_cast<std::uint32_t>(desc.deadline) != NO_VAL;
    request.begin_s = desc.begin_time;
    // a scrontab job has an offset of 0, too (crontab_submit)
    if (request.type == WorkloadType::het) request.het = HetPart{desc.het_job_offset, {}};
    request.work_dir = text_of(desc.work_dir);
    request.std_out = text_of(desc.std_out);
    request.std_err = text_of(desc.std_err);
    request.std_in = text_of(desc.std_in);
    request.login_env = loads_login_env(desc);
    request.spank_env_bytes = bytes_of(desc.spank_job_env, desc.spank_job_env_size);
    return request;
}

}  // namespace accord
