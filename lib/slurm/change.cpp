// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm/change.hpp"

#include <cstdlib>

#include "slurm/compat.hpp"
#include "policy/hostlist.hpp"
#include "slurm/values.hpp"

namespace accord {
namespace {

PriorityChange priority_change(std::uint32_t priority) {
    switch (priority) {
        case NO_VAL: return PriorityChange::none;
        case 0: return PriorityChange::hold;
        case INFINITE: return PriorityChange::release;
        default: return PriorityChange::set;
    }
}

/// In an update "" clears a field: that is a change, too.
std::optional<std::string> given(const char* text) {
    if (text == nullptr) return std::nullopt;
    return std::string(text);
}

/// As _update_job reads it (22.05), which ignores negative numbers.
std::optional<std::int64_t> throttle_of(const char* array_inx) {
    if (array_inx == nullptr) return std::nullopt;
    const auto throttle = static_cast<int>(std::strtoll(array_inx, nullptr, 10));
    return throttle < 0 ? std::nullopt : std::optional<std::int64_t>(throttle);
}

// The same fields, in numbers. 0 clears, where slurmctld takes it at all.

std::optional<std::int64_t> number(std::uint16_t value) {
    return value == NO_VAL16 ? std::nullopt : std::optional<std::int64_t>(value == INFINITE16 ? 0 : value);
}
std::optional<std::int64_t> number(std::uint32_t value) {
    return value == NO_VAL ? std::nullopt : std::optional<std::int64_t>(value == INFINITE ? 0 : value);
}

/// slurmctld leaves 0 there after it has gone through another record of the same update (_update_job, 24.11).
std::optional<std::int64_t> tasks_per_tres(std::uint16_t value) {
    return value == 0 ? std::nullopt : number(value);
}

/// scontrol asks with INFINITE nodes for what a running job has, to make a script for it: that changes nothing.
std::optional<std::int64_t> nodes(std::uint32_t value) { return value == INFINITE ? std::nullopt : number(value); }

/// Names what differs from an untouched field.
class Asks {
public:
    void text(const char* name, const char* value) { note(name, value != nullptr); }
    void number(const char* name, std::uint16_t value) { note(name, value != NO_VAL16); }
    void number(const char* name, std::uint32_t value) { note(name, value != NO_VAL); }
    void note(const char* name, bool changed) {
        if (changed) names_.emplace_back(name);
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

private:
    std::vector<std::string> names_;
};

void note_gpus(Asks& asks, const job_desc_msg_t& desc) {
    asks.text("Gres", desc.tres_per_node);
    asks.text("TresPerJob", desc.tres_per_job);
    asks.text("TresPerSocket", desc.tres_per_socket);
    asks.text("TresPerTask", desc.tres_per_task);
    asks.text("CpusPerTres", desc.cpus_per_tres);
    asks.text("MemPerTres", desc.mem_per_tres);
    asks.note("NtasksPerTRES", tasks_per_tres(desc.ntasks_per_tres).has_value());
}

void note_nodes_and_tasks(Asks& asks, const job_desc_msg_t& desc) {
    asks.note("NumNodes", nodes(desc.min_nodes) || nodes(desc.max_nodes) || compat::job_size(desc));
    asks.text("ReqNodeList", desc.req_nodes);
    asks.note("Features", counting_features(desc.features, desc.prefer).has_value());
    asks.number("NumTasks", desc.num_tasks);
    asks.number("NtasksPerNode", desc.ntasks_per_node);
    asks.number("NtasksPerSocket", desc.ntasks_per_socket);
    asks.number("NtasksPerCore", desc.ntasks_per_core);
    asks.number("SocketsPerNode", desc.sockets_per_node);
    asks.number("CoresPerSocket", desc.cores_per_socket);
    asks.number("ThreadsPerCore", desc.threads_per_core);
}

void note_cpus_and_memory(Asks& asks, const job_desc_msg_t& desc) {
    asks.note("NumCPUs", desc.min_cpus != NO_VAL || desc.max_cpus != NO_VAL);
    asks.number("CPUsPerTask", desc.cpus_per_task);
    asks.number("MinCPUsNode", desc.pn_min_cpus);
    const bool memory = desc.pn_min_memory != NO_VAL64;
    const bool per_cpu = memory && (desc.pn_min_memory & MEM_PER_CPU) != 0;
    asks.note(per_cpu ? "MinMemoryCPU" : "MinMemoryNode", memory);
}

void set_memory(AskChange& change, std::uint64_t memory) {
    if (memory == NO_VAL64) return;
    const bool per_cpu = (memory & MEM_PER_CPU) != 0;
    const auto megabytes = static_cast<std::int64_t>(memory & ~std::uint64_t{MEM_PER_CPU});
    // slurmctld takes 0 for each CPU as all of a node's
    (per_cpu && megabytes != 0 ? change.mem_per_cpu_mb : change.mem_per_node_mb) = megabytes;
}

AskChange ask_change_of(const job_desc_msg_t& desc) {
    AskChange change;
    change.tres_per_job = given(desc.tres_per_job);
    change.tres_per_node = given(desc.tres_per_node);
    change.tres_per_socket = given(desc.tres_per_socket);
    change.tres_per_task = given(desc.tres_per_task);
    change.cpus_per_tres = given(desc.cpus_per_tres);
    change.mem_per_tres = given(desc.mem_per_tres);
    change.min_nodes = nodes(desc.min_nodes);
    change.max_nodes = nodes(desc.max_nodes);
    change.features = counting_features(desc.features, desc.prefer);
    change.job_size = compat::job_size(desc);
    change.num_tasks = number(desc.num_tasks);
    change.ntasks_per_node = number(desc.ntasks_per_node);
    change.ntasks_per_socket = number(desc.ntasks_per_socket);
    change.ntasks_per_tres = tasks_per_tres(desc.ntasks_per_tres);
    change.sockets_per_node = number(desc.sockets_per_node);
    change.cpus_per_task = number(desc.cpus_per_task);
    change.min_cpus = number(desc.min_cpus);
    change.min_cpus_per_node = number(desc.pn_min_cpus);
    set_memory(change, desc.pn_min_memory);
    if (desc.req_nodes != nullptr) change.required_nodes = *desc.req_nodes == '\0' ? 0 : count_hosts(desc.req_nodes);
    change.whole_node = desc.shared == JOB_SHARED_NONE || is_set(desc.core_spec) ||
                        (is_set(desc.reboot) && desc.reboot != 0);
    return change;
}

}  // namespace

Change change_of(const job_desc_msg_t& desc) {
    Change change;
    change.priority = priority_change(desc.priority);
    change.partition = given(desc.partition);
    change.account = given(desc.account);
    change.admin_comment = given(desc.admin_comment);
    change.work_dir = given(desc.work_dir);
    change.std_out = given(desc.std_out);
    change.std_err = given(desc.std_err);
    change.std_in = given(desc.std_in);
    change.begin = desc.begin_time != 0;
    change.array_limit = throttle_of(desc.array_inx);
    change.time_limit_min = minutes_of(desc.time_limit);
    if (desc.end_time != 0) change.end_s = desc.end_time;
    if (desc.requeue != NO_VAL16) change.requeue = desc.requeue != 0;
    change.gpus = ask_change_of(desc);
    change.node_list_malformed = words_of(desc.req_nodes) && !change.gpus.required_nodes;
    change.semantics = compat::merges_updates ? UpdateSemantics::merge : UpdateSemantics::replace;
    Asks asks;
    note_gpus(asks, desc);
    note_nodes_and_tasks(asks, desc);
    note_cpus_and_memory(asks, desc);
    asks.number("OverSubscribe", desc.shared);
    asks.number("CoreSpec", desc.core_spec);
    asks.number("Reboot", desc.reboot);
    asks.number("TimeLimit", desc.time_limit);
    asks.note("EndTime", desc.end_time != 0);
    asks.text("ArrayTaskThrottle", desc.array_inx);
    asks.number("Requeue", desc.requeue);
    change.asks = asks.take();
    return change;
}

}  // namespace accord
