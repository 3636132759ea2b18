// SPDX-License-Identifier: GPL-2.0-or-later
// R4, one function per way of asking.
#include "policy/count.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "policy/nodes.hpp"
#include "policy/tres.hpp"
#include "policy/unusable.hpp"

namespace accord {

namespace {

/// Slurm's 0 is "not set".
std::optional<std::int64_t> set(const std::optional<std::int64_t>& value) {
    return value && *value > 0 ? std::optional(std::min(*value, gpus_max)) : std::nullopt;
}

/// A request under count: what its fields say, and the answer as far as it is known.
class Counting {
public:
    Counting(const GpuAsk& ask, const PartitionShape* shape, const PoolConfig& pool, Explain explain)
        : ask_(ask), shape_(shape), pool_(pool), explain_(explain) {}

    GpuCount count() {
        read_fields();
        infer_tasks();
        infer_tasks_per_node();
        nodes_ = node_range(ask_, shape_, total(per_job_.gpus));
        if (ask_.whole_node || (shape_ != nullptr && shape_->exclusive))
            count_whole_nodes();
        else if (malformed_)
            count_everything("a GPU count that Slurm does not take");
        else
            count_each_way();
        return std::move(result_);
    }

private:
    template <typename... Args>
    void say(fmt::format_string<Args...> text, Args&&... args) {
        if (explain_ == Explain::fully || !result_.exact)
            result_.steps.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    /// Why the count is more than the request's own numbers say: "TEXT makes 4 a100".
    template <typename... Args>
    void say_why_more(fmt::format_string<Args...> text, Args&&... args) {
        result_.more_than_asked =
            fmt::format("{} makes {}", fmt::format(text, std::forward<Args>(args)...), describe(maxima(result_.gpus)));
        say("{}", result_.more_than_asked);
    }

    void read_fields() {
        per_job_ = read_field(ask_.tres_per_job, "--gpus");
        per_node_ = read_field(ask_.tres_per_node, "--gres or --gpus-per-node");
        per_task_ = read_field(ask_.tres_per_task, "--gpus-per-task");
        per_socket_ = read_field(ask_.tres_per_socket, "--gpus-per-socket");
        for (const auto* field : {&per_job_, &per_node_, &per_task_, &per_socket_})
            for (const auto& [type, gpus] : field->gpus) types_.insert(type);
    }

    TresGpus read_field(const std::optional<std::string>& text, const char* option) {
        if (!text) return {};
        auto found = parse_tres_gpus(*text);
        if (!found.without_prefix.empty()) {
            result_.without_gpus = fmt::format("{}: \"{}\" has no \"gres:\" or \"gres/\" before it, so Slurm takes no GPU from it",
                                               option, found.without_prefix);
            say("{}", result_.without_gpus);
        }
        malformed_ = malformed_ || found.malformed;
        return found;
    }

    /// gres_job_state_validate (22.05, 24.11): tasks that follow from GPUs, even where others are named, or from nodes.
    void infer_tasks() {
        const auto tasks = set(ask_.num_tasks), per_gpu = set(ask_.ntasks_per_tres);
        const auto fewest = set(ask_.min_nodes).value_or(1);
        if (per_gpu && !types_.empty()) {
            const auto in_all = std::max(total(per_job_.gpus), saturating_mul(total(per_task_.gpus), tasks.value_or(0)));
            const auto gpus = in_all != 0 ? in_all : saturating_mul(total(per_node_.gpus), fewest);
            if (gpus != 0) ask_.num_tasks = std::max(tasks.value_or(0), saturating_mul(gpus, *per_gpu));
            return;
        }
        if (tasks) return;
        if (per_gpu) {
            ask_.num_tasks = saturating_mul(fewest, *per_gpu);
            return;
        }
        for (const auto& [type, for_each_task] : per_task_.gpus)
            if (const auto in_all = amount_of(per_job_.gpus, type); in_all >= for_each_task) {
                ask_.num_tasks = in_all / for_each_task;
                return;
            }
        const auto nodes = set(ask_.min_nodes);
        if (per_task_.gpus.empty() || !nodes || nodes != set(ask_.max_nodes)) return;
        if (const auto per_node = set(ask_.ntasks_per_node))
            ask_.num_tasks = saturating_mul(*nodes, *per_node);
        else if (!ask_.cpus_per_task)
            ask_.num_tasks = nodes;
    }

    /// _test_gres_cnt (22.05, 24.11): GPUs of a node and of a task say how many tasks are on a node.
    void infer_tasks_per_node() {
        if (set(ask_.ntasks_per_node)) return;
        for (const auto& [type, for_each_task] : per_task_.gpus)
            if (const auto on_each_node = amount_of(per_node_.gpus, type); on_each_node >= for_each_task)
                ask_.ntasks_per_node = on_each_node / for_each_task;
    }

    void widen(const std::string& type, Gpus min, Gpus max) {
        auto& interval = result_.gpus[type];
        interval.min = std::max(interval.min, min);
        interval.max = std::max({interval.max, max, interval.min});
    }

    // One function per way of asking.

    void count_each_way() {
        for (const auto& type : types_)
            if (const auto why = count_type(type); !why.empty()) return count_everything(why);
        count_tasks_per_gpu();
        count_parts_of_gpus();
        if (result_.gpus.empty())
            say("the request names no GPU");
        else
            count_what_is_left_unusable();
    }

    /// Which field holds where several name the type, after gres_job_state_validate. Empty, or why there is no count.
    std::string count_type(const std::string& type) {
        const auto in_all = amount_of(per_job_.gpus, type), for_each_task = amount_of(per_task_.gpus, type),
                   on_each_node = amount_of(per_node_.gpus, type), on_each_socket = amount_of(per_socket_.gpus, type);
        const auto tasks = set(ask_.num_tasks);
        if (in_all != 0) count_per_job(type, in_all);
        if (for_each_task != 0) {
            if (tasks) count_per_task(type, for_each_task, *tasks);
            if (!tasks && in_all == 0) return "GPUs per task without a number of tasks";
        } else if (on_each_node != 0) {
            if (in_all == 0) count_per_node(type, on_each_node);
        } else if (on_each_socket != 0) {
            if (!set(ask_.sockets_per_node)) return "GPUs per socket without a number of sockets per node";
            count_per_socket(type, on_each_socket);
        }
        return {};
    }

    void count_per_job(const std::string& type, Gpus gpus) {
        widen(type, gpus, gpus);
        say("--gpus asks for {} in all", describe({{type, gpus}}));
    }

    void count_per_node(const std::string& type, Gpus gpus) {
        const auto fewest = saturating_mul(gpus, nodes_.fewest);
        auto nodes = nodes_.most;
        if (shape_ != nullptr) nodes = std::max(nodes_.fewest, nodes_with(*shape_, type, nodes));
        auto most = saturating_mul(gpus, nodes);
        if (shape_ == nullptr) most = std::max(fewest, std::min(most, pool_gpus(type)));
        widen(type, fewest, most);
        say("{} on each of {} makes {}", describe({{type, gpus}}), nodes_text(nodes), range_text(fewest, most));
    }

    /// Where tasks per node are named, or follow from the GPUs of a node, every node is filled with as many (22.05).
    void count_per_task(const std::string& type, Gpus gpus, std::int64_t tasks) {
        const auto in_all = saturating_mul(gpus, tasks);
        const auto filled = std::max(saturating_mul(gpus, set(ask_.ntasks_per_node).value_or(0)), amount_of(per_node_.gpus, type));
        const auto most = std::max(in_all, saturating_mul(filled, nodes_.fewest));
        widen(type, in_all, most);
        say("{} for each of {} tasks{} makes {}", describe({{type, gpus}}), tasks,
            most > in_all ? fmt::format(" that fill {}", nodes_text(nodes_.fewest)) : "",
            range_text(in_all, most));
        count_tasks_of_cpus(type, gpus, tasks);
    }

    /// 22.05 takes every CPU that --cpus-per-gpu brings for a task, where the type of GPU is named.
    void count_tasks_of_cpus(const std::string& type, Gpus gpus, std::int64_t tasks) {
        const auto per_gpu = type.empty() ? 0 : cpus_of_each_gpu(ask_);
        if (per_gpu <= 1) return;
        const auto cpus = saturating_mul(saturating_mul(gpus, tasks), per_gpu);
        const auto most = std::min(saturating_mul(gpus, cpus), every_gpu(type));
        if (most <= result_.gpus[type].max) return;
        widen(type, 0, most);
        say("with --cpus-per-gpu Slurm may give each of {} CPUs as much, which makes {}", cpus, most);
    }

    /// Slurm gives the GPUs of those sockets on which the job has CPUs, of all of a node if need be, and of one at least;
    /// as far as the node has them, and whatever --gpus says (22.05).
    void count_per_socket(const std::string& type, Gpus gpus) {
        const auto sockets = std::max(saturating_mul(*set(ask_.sockets_per_node), nodes_.most), cpus_in_all(ask_, nodes_.most));
        const auto most = std::min(saturating_mul(gpus, sockets), every_gpu(type));
        const auto fewest = std::min(saturating_mul(gpus, nodes_.fewest), most);
        auto& interval = result_.gpus[type];
        interval.min = interval.min == 0 ? fewest : std::min(interval.min, fewest);
        interval.max = std::max(interval.max, most);
        say("{} on each socket that the job has CPUs on, which are {} or more, makes {}", describe({{type, gpus}}),
            nodes_.fewest, range_text(fewest, most));
    }

    /// --ntasks-per-gpu asks for GPUs by itself where nothing else does.
    void count_tasks_per_gpu() {
        const auto per_gpu = set(ask_.ntasks_per_tres), tasks = set(ask_.num_tasks);
        if (!types_.empty() || !per_gpu || !tasks) return;
        const auto gpus = ceil_div(*tasks, *per_gpu);
        widen("", *tasks / *per_gpu, gpus);
        say("{} tasks, {} for each GPU, make {}", *tasks, *per_gpu, describe({{"", gpus}}));
    }

    /// A GPU of which a job holds a part is lost to jobs that want whole ones.
    void count_parts_of_gpus() {
        for (const auto* field : {&per_job_, &per_node_, &per_task_, &per_socket_}) {
            if (field->mps) {
                say("MPS takes one GPU on each node");
                add_per_node("", 1);
            }
            for (const auto& [type, shards] : field->shards) {
                if (!pool_.shards_per_gpu) result_.shards_unpriced = true;
                const auto gpus = ceil_div(shards, std::max<std::int64_t>(pool_.shards_per_gpu.value_or(1), 1));
                say("{} shards, {} of which make a GPU, take {}", shards, pool_.shards_per_gpu.value_or(1),
                    describe({{type, gpus}}));
                if (field == &per_node_)
                    add_per_node(type, gpus);
                else
                    widen(type, gpus, every_gpu(type));
            }
        }
    }

    void add_per_node(const std::string& type, Gpus gpus) {
        const auto whole = result_.gpus[type];
        count_per_node(type, gpus);
        auto& interval = result_.gpus[type];
        if (whole.max == 0) return;
        interval = {saturating_add(whole.min, saturating_mul(gpus, nodes_.fewest)),
                    saturating_add(whole.max, saturating_mul(gpus, nodes_.most))};
    }

    void count_whole_nodes() {
        if (shape_ == nullptr) return count_everything("whole nodes, whose GPUs are not known yet");
        std::vector<const NodeShape*> nodes;
        for (const auto& node : shape_->nodes)
            if (has_all_types(node)) nodes.push_back(&node);
        std::set<std::string> held;
        for (const auto* node : nodes)
            for (const auto& [type, gpus] : node->gpus) held.insert(type);
        for (const auto& type : held)
            widen(type, gpus_of_poorest(nodes, type, nodes_.fewest), gpus_of_richest(nodes, type, nodes_.most));
        for (const auto& [type, gpus] : per_job_.gpus)
            if (held.contains(type)) widen(type, gpus, gpus);
        say_why_more("whole nodes: every GPU of {}", nodes_text(nodes_.most));
    }

    [[nodiscard]] bool has_all_types(const NodeShape& node) const {
        return std::all_of(types_.begin(), types_.end(), [&](const auto& type) { return gpus_on(node, type) > 0; });
    }

    void count_everything(const std::string& why) {
        result_.exact = false;
        auto types = types_;
        if (types.empty()) types.insert("");
        for (const auto& type : types) widen(type, 0, every_gpu(type));
        say_why_more("{}: counted as every GPU of {}, which", why, nodes_text(nodes_.most));
    }

    /// Of the most nodes that the job may take.
    [[nodiscard]] Gpus every_gpu(const std::string& type) const {
        if (shape_ == nullptr) return pool_gpus(type);
        std::vector<const NodeShape*> nodes;
        for (const auto& node : shape_->nodes) nodes.push_back(&node);
        return gpus_of_richest(nodes, type, nodes_.most);
    }

    [[nodiscard]] Gpus pool_gpus(const std::string& type) const {
        return type.empty() ? total(pool_.gpus) : amount_of(pool_.gpus, type);
    }

    /// What CPUs and memory take beyond the GPUs asked for is of each type asked for, as far as the nodes have it.
    void count_what_is_left_unusable() {
        const auto asked = maxima(result_.gpus);
        Gpus least = 0;
        for (const auto& [type, interval] : result_.gpus) least = saturating_add(least, interval.min);
        const auto burden =
            burden_of(ask_, {least, total(asked)}, std::min(nodes_.most, total(asked)), shape_, pool_);
        if (burden.gpus == 0) return;
        const auto more = burden.gpus - total(asked);
        for (const auto& [type, gpus] : asked)
            widen(type, 0, std::max(gpus, std::min(saturating_add(gpus, more), every_gpu(type))));
        if (maxima(result_.gpus) == asked) return;
        say_why_more("{} leaves others unusable, which", burden.why);
    }

    // Words.

    [[nodiscard]] std::string nodes_text(std::int64_t most) const {
        if (most >= gpus_max) return "the pool's nodes";
        const auto range = range_text(std::min(nodes_.fewest, most), most);
        return most == 1 ? range + " node" : range + " nodes";
    }

    static std::string range_text(std::int64_t min, std::int64_t max) {
        return min == max ? fmt::format("{}", max) : fmt::format("{} to {}", min, max);
    }

    GpuAsk ask_;  ///< with the tasks that Slurm infers
    const PartitionShape* shape_;
    const PoolConfig& pool_;
    const Explain explain_;
    TresGpus per_job_, per_node_, per_task_, per_socket_;
    std::set<std::string> types_;  ///< that any field names; "" for GPUs of no named type
    bool malformed_ = false;
    NodeRange nodes_;
    GpuCount result_;
};

}  // namespace

GpuCount count_gpus(const GpuAsk& ask, const PartitionShape* shape, const PoolConfig& pool, Explain explain) {
    return Counting(ask, shape, pool, explain).count();
}

std::optional<GpuAsk> of_type(const GpuAsk& ask, const std::string& type) {
    auto typed = ask;
    bool asks = false;
    for (auto* field : {&typed.tres_per_job, &typed.tres_per_node, &typed.tres_per_socket, &typed.tres_per_task}) {
        if (!*field) continue;
        const auto gpus = parse_tres_gpus(**field).gpus;
        if (gpus.size() > 1 || (gpus.size() == 1 && !gpus.begin()->first.empty())) return std::nullopt;
        if (gpus.empty()) continue;
        asks = true;
        *field = with_gpu_type(**field, type);
    }
    if (asks) return typed;
    const auto per_gpu = set(ask.ntasks_per_tres), tasks = set(ask.num_tasks);
    if (!per_gpu || !tasks) return std::nullopt;
    typed.tres_per_job = fmt::format("gres:gpu:{}:{}", type, ceil_div(*tasks, *per_gpu));
    return typed;
}

void settle_types(GpuIntervals& gpus, const PoolConfig& pool) {
    if (pool.gpus.size() != 1) return;
    const auto untyped = gpus.extract("");
    if (!untyped.empty()) add(gpus, GpuIntervals{{pool.gpus.begin()->first, untyped.mapped()}});
}

}  // namespace accord
