// SPDX-License-Identifier: GPL-2.0-or-later
#include "inputs.hpp"

#include <algorithm>

#include "store/json_text.hpp"

namespace accord {
namespace {

/// As much of one text as is kept: no request that Slurm or the ladder refuses may fill the disk by its record.
constexpr std::size_t longest_text = 4096;
constexpr std::size_t longest_list = 64;

/// Members that are set, and no others.
class Inputs {
public:
    explicit Inputs(fmt::memory_buffer& to) : to_(to), object_(to) {}

    void set(std::string_view key, const std::string& value) {
        if (!value.empty()) object_.string(key, kept(value));
    }
    void set(std::string_view key, const std::optional<std::string>& value) {
        if (value) object_.string(key, kept(*value));
    }
    void set(std::string_view key, const std::optional<std::int64_t>& value) {
        if (value) object_.value(key, *value);
    }
    void set(std::string_view key, bool value) {
        if (value) object_.value(key, true);
    }
    void list(std::string_view key, const std::vector<std::string>& values) {
        if (values.empty()) return;
        object_.name(key);
        to_.push_back('[');
        for (std::size_t i = 0; i < std::min(values.size(), longest_list); ++i) {
            if (i != 0) to_.push_back(',');
            append_json_string(to_, kept(values[i]));
        }
        to_.push_back(']');
        cut_ = cut_ || values.size() > longest_list;
    }
    void gpus(std::string_view key, const GpuVector& gpus) {
        if (gpus.empty()) return;
        object_.name(key);
        append_gpus(to_, gpus);
    }
    template <typename Add>
    void nested(std::string_view key, Add&& add) {
        object_.name(key);
        Inputs inner(to_);
        add(inner);
        inner.end();
    }
    [[nodiscard]] JsonObject& object() { return object_; }
    void end() {
        set("cut", cut_);
        object_.end();
    }

private:
    std::string_view kept(std::string_view text) {
        cut_ = cut_ || text.size() > longest_text;
        return text.substr(0, longest_text);
    }

    fmt::memory_buffer& to_;
    JsonObject object_;
    bool cut_ = false;
};

const char* to_string(PriorityChange change) {
    switch (change) {
        case PriorityChange::none: return "";
        case PriorityChange::hold: return "hold";
        case PriorityChange::release: return "release";
        case PriorityChange::set: return "set";
    }
    return "";
}

void add_ask(Inputs& inputs, const GpuAsk& ask) {
    inputs.set("tres_per_job", ask.tres_per_job);
    inputs.set("tres_per_node", ask.tres_per_node);
    inputs.set("tres_per_socket", ask.tres_per_socket);
    inputs.set("tres_per_task", ask.tres_per_task);
    inputs.set("min_nodes", ask.min_nodes);
    inputs.set("max_nodes", ask.max_nodes);
    inputs.set("num_tasks", ask.num_tasks);
    inputs.set("ntasks_per_node", ask.ntasks_per_node);
    inputs.set("ntasks_per_socket", ask.ntasks_per_socket);
    inputs.set("ntasks_per_tres", ask.ntasks_per_tres);
    inputs.set("cpus_per_task", ask.cpus_per_task);
    inputs.set("min_cpus", ask.min_cpus);
    inputs.set("sockets_per_node", ask.sockets_per_node);
    inputs.set("required_nodes", ask.required_nodes);
    inputs.set("min_cpus_per_node", ask.min_cpus_per_node);
    inputs.set("mem_per_node_mb", ask.mem_per_node_mb);
    inputs.set("mem_per_cpu_mb", ask.mem_per_cpu_mb);
    inputs.set("cpus_per_tres", ask.cpus_per_tres);
    inputs.set("mem_per_tres", ask.mem_per_tres);
    inputs.set("whole_node", ask.whole_node);
    inputs.set("features", ask.features);
    inputs.set("job_size", ask.job_size);
}

void add_array(Inputs& inputs, const std::optional<ArraySpec>& array) {
    if (!array) return;
    inputs.set("array", array->indices);
    inputs.set("array_tasks", std::optional(array->tasks));
    inputs.set("array_limit", array->limit);
}

void add_het(Inputs& inputs, const std::optional<HetPart>& het) {
    if (!het) return;
    inputs.object().value("het_offset", het->offset);
    GpuVector earlier;
    for (const auto& [contract, gpus] : het->earlier) add(earlier, maxima(gpus));
    inputs.gpus("het_earlier", earlier);
}

void add_ledger(Inputs& inputs, const Ledger& ledger, const std::string& contract) {
    const auto& claims = ledger.of(contract);
    inputs.gpus("guaranteed", claims.guaranteed);
    inputs.gpus("borrowed", claims.borrowed);
    const auto& budgets = ledger.base().budgets;
    const auto budget = budgets.find(contract);
    if (budget == budgets.end()) return;
    inputs.object().value("budget_used_gpu_s", budget->second.gpu_s);
    inputs.object().value("budget_period_end_s", budget->second.period.end_s);
}

void add_job(Inputs& inputs, const JobView& job) {
    inputs.set("account", job.account);
    inputs.set("partition", job.partition);
    inputs.set("type", std::string(to_string(job.type)));
    inputs.set("pending", job.state == JobState::pending);
    inputs.set("held", job.hold != Hold::none);
    inputs.set("requeue", job.requeueable);
    inputs.set("time_limit_min", job.time_limit_min);
    add_array(inputs, job.array);
    add_ask(inputs, job.gpus);
}

template <typename Job>
void add_paths(Inputs& inputs, const Job& job) {
    inputs.set("work_dir", job.work_dir);
    inputs.set("std_out", job.std_out);
    inputs.set("std_err", job.std_err);
    inputs.set("std_in", job.std_in);
}

void add_change(Inputs& inputs, const Change& change) {
    inputs.set("new_priority", std::string(to_string(change.priority)));
    inputs.set("new_partition", change.partition);
    inputs.set("new_account", change.account);
    inputs.set("new_admin_comment", change.admin_comment);
    inputs.set("new_work_dir", change.work_dir);
    inputs.set("new_std_out", change.std_out);
    inputs.set("new_std_err", change.std_err);
    inputs.set("new_std_in", change.std_in);
    inputs.set("new_array_limit", change.array_limit);
    inputs.set("new_time_limit_min", change.time_limit_min);
    inputs.set("new_end_s", change.end_s);
    if (change.requeue) inputs.object().value("new_requeue", *change.requeue);
    if (change.gpus != AskChange{}) inputs.nested("new_ask", [&](Inputs& ask) { add_ask(ask, change.gpus); });
    inputs.list("asks", change.asks);
}

}  // namespace

std::string inputs_of(const JobRequest& request, const Ledger& ledger, const std::string& contract) {
    fmt::memory_buffer text;
    Inputs inputs(text);
    inputs.set("account", request.account);
    inputs.list("partitions", request.partitions);
    inputs.set("type", std::string(to_string(request.type)));
    add_array(inputs, request.array);
    inputs.set("array_malformed", request.array_malformed);
    inputs.set("node_list", request.node_list);
    inputs.set("excluded_nodes", request.excluded_nodes);
    inputs.set("node_list_malformed", request.node_list_malformed);
    add_ask(inputs, request.gpus);
    inputs.set("time_limit_min", request.time_limit_min);
    inputs.set("requeue", request.requeueable);
    inputs.set("held", request.held);
    inputs.set("dependent", request.dependent);
    if (request.begin_s != 0) inputs.object().value("begin_s", request.begin_s);
    add_het(inputs, request.het);
    add_paths(inputs, request);
    inputs.set("login_env", request.login_env);
    if (request.spank_env_bytes != 0) inputs.object().value("spank_env_bytes", request.spank_env_bytes);
    add_ledger(inputs, ledger, contract);
    inputs.end();
    return fmt::to_string(text);
}

std::string inputs_of(const Modification& modification, const Ledger& ledger, const std::string& contract) {
    fmt::memory_buffer text;
    Inputs inputs(text);
    inputs.set("job", modification.job_name);
    inputs.object().value("caller", modification.caller_uid);
    inputs.set("operator", modification.by_operator);
    if (modification.job) add_job(inputs, *modification.job);
    add_change(inputs, modification.change);
    if (modification.job && modification.change.names_path()) add_paths(inputs, *modification.job);
    add_ledger(inputs, ledger, contract);
    inputs.end();
    return fmt::to_string(text);
}

}  // namespace accord
