// SPDX-License-Identifier: GPL-2.0-or-later
// Fields after pack_job of slurmctld (job_mgr.c, 22.05 and 24.11).
#include "slurm/job_view.hpp"

#include <charconv>
#include <string_view>

#include "slurm/compat.hpp"
#include "policy/hostlist.hpp"
#include "slurm/values.hpp"

namespace accord {
namespace {

JobState state_of(std::uint32_t job_state) {
    if ((job_state & JOB_COMPLETING) != 0) return JobState::completing;
    switch (job_state & JOB_STATE_BASE) {
        case JOB_PENDING: return JobState::pending;
        case JOB_RUNNING: return JobState::running;
        case JOB_SUSPENDED: return JobState::suspended;
        default: return JobState::ended;
    }
}

Ending ending_of(std::uint32_t job_state) {
    switch (job_state & JOB_STATE_BASE) {
        case JOB_PENDING:
        case JOB_RUNNING:
        case JOB_SUSPENDED: return Ending::none;
        case JOB_COMPLETE: return Ending::completed;
        case JOB_CANCELLED: return Ending::cancelled;
        case JOB_PREEMPTED: return Ending::preempted;
        default: return Ending::failed;
    }
}

/// A held job has priority 0. Who holds it only its reason tells, and a dependency or a date may stand there instead:
/// then it counts as an administrator's.
Hold hold_of(const slurm_job_info_t& info) {
    if ((info.job_state & JOB_STATE_BASE) != JOB_PENDING || info.priority != 0) return Hold::none;
    return info.state_reason == WAIT_HELD_USER ? Hold::user : Hold::admin;
}

/// The state's reason says so for a while after the last of its dependencies is gone.
bool is_dependent(const slurm_job_info_t& info) {
    if ((info.job_state & JOB_STATE_BASE) != JOB_PENDING) return false;
    return words_of(info.dependency) || info.state_reason == WAIT_DEPENDENCY || info.state_reason == WAIT_DEP_INVALID;
}

WorkloadType type_of(const slurm_job_info_t& info) {
    if ((info.bitflags & CRON_JOB) != 0) return WorkloadType::cron;
    if (info.het_job_id != 0 && is_set(info.het_job_id)) return WorkloadType::het;
    if (info.array_job_id != 0) return WorkloadType::array;
    return info.batch_flag != 0 ? WorkloadType::batch : WorkloadType::interactive;
}

/// The bits of Slurm's bitstring.h: a magic word, the number of bits, then the bits. Slurm's text of the same indices
/// is cut off when it is long.
std::optional<std::int64_t> count_bits(const bitstr_t* bits) {
    constexpr bitstr_t magic = 0x42434445;
    if (bits == nullptr || bits[0] != magic || bits[1] < 0) return std::nullopt;
    std::int64_t count = 0;
    for (std::int64_t word = 0; word < (bits[1] + 63) / 64; ++word)
        count += __builtin_popcountll(static_cast<unsigned long long>(bits[2 + word]));
    return count;
}

std::optional<ArraySpec> array_of(const slurm_job_info_t& info) {
    if (is_set(info.array_task_id)) return std::nullopt;
    const auto text = words_of(info.array_task_str);
    if (!text) return std::nullopt;
    ArraySpec spec;
    if (const auto parsed = parse_array(*text)) spec = *parsed;
    else spec.indices = text->substr(0, text->find('%'));
    if (const auto tasks = count_bits(info.array_bitmap)) spec.tasks = *tasks;
    spec.limit = count_of(info.array_max_tasks);
    return spec;
}

/// The number behind `name` ("node=") in a TRES string such as "cpu=4,node=2,gres/gpu=8".
std::optional<std::int64_t> tres_number(const char* tres, std::string_view name) {
    std::string_view rest = tres == nullptr ? std::string_view() : std::string_view(tres);
    while (!rest.empty()) {
        const auto comma = rest.find(',');
        std::string_view item = rest.substr(0, comma);
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
        if (!item.starts_with(name)) continue;
        item.remove_prefix(name.size());
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
        if (error == std::errc{} && end == item.data() + item.size()) return value;
    }
    return std::nullopt;
}

/// Adds the GPUs of one list such as "gpu:a100:2(IDX:0-1),shard:4(…)" or, in total, "gres:gpu:a100:4".
void add_gres(GpuVector& to, std::string_view list) {
    while (!list.empty()) {
        std::string_view item = list;
        const auto end = list.find_first_of(",(");
        item = list.substr(0, end);
        list.remove_prefix(item.size());
        if (list.starts_with("(")) list.remove_prefix(std::min(list.find(')'), list.size() - 1) + 1);
        if (list.starts_with(",")) list.remove_prefix(1);
        for (const std::string_view prefix : {"gres:", "gres/"})
            if (item.starts_with(prefix)) item.remove_prefix(prefix.size());
        if (!item.starts_with("gpu:")) continue;
        item.remove_prefix(4);
        const auto colon = item.rfind(':');
        const std::string_view number = colon == std::string_view::npos ? item : item.substr(colon + 1);
        const std::string_view type = colon == std::string_view::npos ? std::string_view() : item.substr(0, colon);
        Gpus count = 0;
        const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), count);
        if (error == std::errc{} && stop == number.data() + number.size() && count != 0) to[std::string(type)] += count;
    }
}

/// Each node's details while the job runs; the total of them once it is completing.
GpuVector allocated_of(const slurm_job_info_t& info, JobState state) {
    GpuVector gpus;
    if (state == JobState::pending || state == JobState::ended) return gpus;
    for (std::uint32_t i = 0; info.gres_detail_str != nullptr && i < info.gres_detail_cnt; ++i)
        if (info.gres_detail_str[i] != nullptr) add_gres(gpus, info.gres_detail_str[i]);
    if (gpus.empty() && info.gres_total != nullptr) add_gres(gpus, info.gres_total);
    return gpus;
}

/// A job that named no tasks is listed with as many as its nodes, or as many as it named for each of them, as if it could
/// take no more nodes; --gpus-per-task alone sets them so in earnest (gres_job_state_validate).
std::optional<std::int64_t> tasks_of(const slurm_job_info_t& info, const std::optional<std::int64_t>& min_nodes) {
    const auto tasks = count_of(info.num_tasks);
    const bool named = (info.bitflags & JOB_NTASKS_SET) != 0 || words_of(info.tres_per_task);
    const auto per_node = count_of(info.ntasks_per_node).value_or(1);
    return tasks && !named && *tasks <= min_nodes.value_or(1) * per_node ? std::nullopt : tasks;
}

/// `num_nodes` of a pending job is an estimate; what it asked for is in its TRES string. `num_cpus` is what it asked for
/// only while it is pending, afterwards what it was given.
GpuAsk ask_of(const slurm_job_info_t& info) {
    GpuAsk ask;
    ask.tres_per_job = words_of(info.tres_per_job);
    ask.tres_per_node = words_of(info.tres_per_node);
    ask.tres_per_socket = words_of(info.tres_per_socket);
    ask.tres_per_task = words_of(info.tres_per_task);
    ask.min_nodes = tres_number(info.tres_req_str, "node=");
    if (!ask.min_nodes) ask.min_nodes = count_of(info.num_nodes);
    ask.max_nodes = count_of(info.max_nodes);
    ask.num_tasks = tasks_of(info, ask.min_nodes);
    ask.ntasks_per_node = count_of(info.ntasks_per_node);
    ask.ntasks_per_socket = count_of(info.ntasks_per_socket);
    ask.ntasks_per_tres = count_of(info.ntasks_per_tres);
    ask.cpus_per_task = count_of(info.cpus_per_task);
    if ((info.job_state & JOB_STATE_BASE) == JOB_PENDING) ask.min_cpus = count_of(info.num_cpus);
    ask.sockets_per_node = count_of(info.sockets_per_node);
    if (info.req_nodes != nullptr) ask.required_nodes = count_hosts(info.req_nodes);
    ask.min_cpus_per_node = count_of(info.pn_min_cpus);
    // 0 is also what a job has that said nothing about memory
    if (const auto memory = count_of(info.pn_min_memory & ~std::uint64_t{MEM_PER_CPU}); memory && is_set(info.pn_min_memory))
        ((info.pn_min_memory & MEM_PER_CPU) != 0 ? ask.mem_per_cpu_mb : ask.mem_per_node_mb) = memory;
    ask.cpus_per_tres = words_of(info.cpus_per_tres);
    ask.mem_per_tres = words_of(info.mem_per_tres);
    ask.whole_node = info.shared == JOB_SHARED_NONE || is_set(info.core_spec) || info.reboot != 0;
    ask.features = counting_features(info.features, info.prefer);
    ask.job_size = compat::job_size(info);
    return ask;
}

std::vector<std::pair<std::int32_t, std::int32_t>> node_ranges(const std::int32_t* index) {
    std::vector<std::pair<std::int32_t, std::int32_t>> ranges;
    for (; index != nullptr && index[0] >= 0 && index[1] >= 0; index += 2) ranges.emplace_back(index[0], index[1]);
    return ranges;
}

}  // namespace

JobView job_view(const slurm_job_info_t& info) {
    JobView view;
    view.job_id = info.job_id;
    if (is_set(info.het_job_id)) view.het_job_id = info.het_job_id;
    view.array_job_id = info.array_job_id;
    if (info.array_job_id != 0 && is_set(info.array_task_id)) view.array_task_id = info.array_task_id;
    view.array = array_of(info);
    if (info.array_job_id != 0) view.array_limit = count_of(info.array_max_tasks);
    view.uid = info.user_id;
    view.account = text_of(info.account);
    view.partition = text_of(info.partition);
    view.state = state_of(info.job_state);
    view.ending = ending_of(info.job_state);
    view.hold = hold_of(info);
    view.dependent = is_dependent(info);
    view.admin_comment = text_of(info.admin_comment);
    view.submit_s = info.submit_time;
    view.begin_s = info.eligible_time;
    view.start_s = info.start_time;
    view.end_s = info.end_time;
    view.priority = info.priority;
    if (info.site_factor != NO_VAL)
        view.site_factor = static_cast<std::int64_t>(info.site_factor) - static_cast<std::int64_t>(NICE_OFFSET);
    view.restarts = info.restart_cnt;
    view.type = type_of(info);
    view.requeueable = info.requeue != 0;
    view.time_limit_min = minutes_of(info.time_limit);
    view.gpus = ask_of(info);
    view.allocated = allocated_of(info, view.state);
    view.nodes = node_ranges(info.node_inx);
    return view;
}

}  // namespace accord
