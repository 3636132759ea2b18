// SPDX-License-Identifier: GPL-2.0-or-later
// R4, one function per way of asking.
#include "policy/count.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "policy/nodes.hpp"
#include "policy/tres.hpp"

namespace accord {

namespace {

/// A request under count: what its fields say, and the answer as far as it is known.
class Counting {
public:
    Counting(const GpuAsk& ask, const PartitionShape* shape, const PoolConfig& pool, Explain explain)
        : ask_(ask), shape_(shape), pool_(pool), explain_(explain) {}

    GpuCount count() {
        read_fields();
        nodes_ = node_range(ask_, shape_, total(per_job_.gpus));
        if (whole_nodes())
            count_whole_nodes();
        else if (const auto why = uncountable(); !why.empty())
            count_everything(why);
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

    void read_fields() {
        per_job_ = read_field(ask_.tres_per_job, "--gpus");
        per_node_ = read_field(ask_.tres_per_node, "--gres or --gpus-per-node");
        per_task_ = read_field(ask_.tres_per_task, "--gpus-per-task");
        per_socket_ = read_field(ask_.tres_per_socket, "--gpus-per-socket");
    }

    TresGpus read_field(const std::optional<std::string>& text, const char* option) {
        if (!text) return {};
        auto found = parse_tres_gpus(*text);
        if (!found.without_prefix.empty())
            say("{}: \"{}\" has no \"gres:\" or \"gres/\" before it, so Slurm takes no GPU from it", option,
                found.without_prefix);
        names_gpus_ = names_gpus_ || !found.gpus.empty();
        shared_ = shared_ || found.shared;
        malformed_ = malformed_ || found.malformed;
        return found;
    }

    /// The types that any field names; "" for GPUs of no named type.
    [[nodiscard]] std::set<std::string> types() const {
        std::set<std::string> named;
        for (const auto* field : {&per_job_, &per_node_, &per_task_, &per_socket_})
            for (const auto& [type, gpus] : field->gpus) named.insert(type);
        return named;
    }

    [[nodiscard]] bool whole_nodes() const { return ask_.whole_node || (shape_ != nullptr && shape_->exclusive); }

    /// Why the request cannot be counted exactly; empty when it can.
    [[nodiscard]] std::string uncountable() const {
        if (malformed_) return "a GPU count that Slurm does not take";
        if (shared_) return "shards or MPS";
        if (!per_socket_.gpus.empty()) return "GPUs per socket";
        if (ask_.ntasks_per_tres && *ask_.ntasks_per_tres > 0) return "tasks per GPU";
        if (names_gpus_ && ask_.job_size) return "a list of node counts";
        return {};
    }

    void widen(const std::string& type, Gpus min, Gpus max) {
        auto& interval = result_.gpus[type];
        interval.min = std::max(interval.min, min);
        interval.max = std::max({interval.max, max, interval.min});
    }

    // One function per way of asking.

    void count_each_way() {
        for (const auto& [type, gpus] : per_job_.gpus) count_per_job(type, gpus);
        for (const auto& [type, gpus] : per_node_.gpus)
            if (amount_of(per_job_.gpus, type) == 0) count_per_node(type, gpus);
        for (const auto& [type, gpus] : per_task_.gpus)
            if (!count_per_task(type, gpus)) return count_everything("GPUs per task without a number of tasks");
        if (!names_gpus_)
            say("the request names no GPU");
        else
            count_what_is_left_unusable();
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

    /// False when the number of tasks is not known, in which case Slurm refuses the request.
    bool count_per_task(const std::string& type, Gpus gpus) {
        const auto in_all = amount_of(per_job_.gpus, type);
        const auto tasks = task_range();
        if (!tasks) return in_all != 0;
        const auto fewest = saturating_mul(gpus, tasks->min), most = saturating_mul(gpus, tasks->max);
        widen(type, fewest, most);
        say("{} for each of {} tasks makes {}", describe({{type, gpus}}), range_text(tasks->min, tasks->max),
            range_text(fewest, most));
        return true;
    }

    /// gres_job_state_validate (22.05): without --ntasks the tasks follow from the nodes.
    [[nodiscard]] std::optional<GpuInterval> task_range() const {
        if (ask_.num_tasks && *ask_.num_tasks > 0) return GpuInterval{*ask_.num_tasks, *ask_.num_tasks};
        if (ask_.ntasks_per_node && *ask_.ntasks_per_node > 0)
            return GpuInterval{saturating_mul(*ask_.ntasks_per_node, nodes_.fewest),
                               saturating_mul(*ask_.ntasks_per_node, nodes_.most)};
        const bool fixed = ask_.min_nodes && ask_.max_nodes && *ask_.min_nodes == *ask_.max_nodes;
        if (fixed && !ask_.cpus_per_task) return GpuInterval{*ask_.min_nodes, *ask_.min_nodes};
        return std::nullopt;
    }

    void count_whole_nodes() {
        if (shape_ == nullptr) return count_everything("whole nodes, whose GPUs are not known yet");
        std::vector<const NodeShape*> nodes;
        const auto asked = types();
        for (const auto& node : shape_->nodes)
            if (has_all(node, asked)) nodes.push_back(&node);
        std::set<std::string> held;
        for (const auto* node : nodes)
            for (const auto& [type, gpus] : node->gpus) held.insert(type);
        for (const auto& type : held)
            widen(type, gpus_of_poorest(nodes, type, nodes_.fewest), gpus_of_richest(nodes, type, nodes_.most));
        for (const auto& [type, gpus] : per_job_.gpus)
            if (held.contains(type)) widen(type, gpus, gpus);
        say("whole nodes: every GPU of {} makes {}", nodes_text(nodes_.most), describe(maxima(result_.gpus)));
    }

    static bool has_all(const NodeShape& node, const std::set<std::string>& asked) {
        return std::all_of(asked.begin(), asked.end(), [&](const auto& type) { return gpus_on(node, type) > 0; });
    }

    void count_everything(const std::string& why) {
        result_.exact = false;
        auto asked = types();
        if (asked.empty()) asked.insert("");
        for (const auto& type : asked) widen(type, 0, every_gpu(type));
        say("{}: counted as every GPU of {}, which makes {}", why, nodes_text(nodes_.most),
            describe(maxima(result_.gpus)));
    }

    [[nodiscard]] Gpus every_gpu(const std::string& type) const {
        if (shape_ == nullptr) return pool_gpus(type);
        std::vector<const NodeShape*> nodes;
        for (const auto& node : shape_->nodes) nodes.push_back(&node);
        return gpus_of_richest(nodes, type, nodes_.most);
    }

    [[nodiscard]] Gpus pool_gpus(const std::string& type) const {
        return type.empty() ? total(pool_.gpus) : amount_of(pool_.gpus, type);
    }

    // CPUs and memory beyond the GPUs' share leave GPUs without any.

    void count_what_is_left_unusable() {
        Gpus fewest = 0;
        for (const auto& [type, interval] : result_.gpus) fewest = saturating_add(fewest, interval.min);
        if (cpus_asked() > fewest || asks_per_gpu(ask_.cpus_per_tres) > 1) {
            if (const auto share = cpu_share(); share && over(*share, fewest, cpus_asked(), ask_.cpus_per_tres))
                count_everything(fmt::format("more than {} CPUs for each GPU", *share));
        }
        if (ask_.mem_per_node_mb || ask_.mem_per_cpu_mb || ask_.mem_per_tres) {
            if (const auto share = memory_share(); share && over(*share, fewest, memory_asked(), ask_.mem_per_tres))
                count_everything(fmt::format("more than {} MiB of memory for each GPU", *share));
        }
    }

    static std::int64_t asks_per_gpu(const std::optional<std::string>& field) {
        Gpus most = 0;
        if (field)
            for (const auto& [type, count] : parse_tres_gpus(*field).gpus) most = std::max(most, count);
        return most;
    }

    static bool over(std::int64_t share, Gpus gpus, std::int64_t asked, const std::optional<std::string>& per_gpu) {
        return asked > saturating_mul(share, gpus) || asks_per_gpu(per_gpu) > share;
    }

    [[nodiscard]] std::int64_t cpus_asked() const {
        const auto at_least = [](const std::optional<std::int64_t>& value, std::int64_t least) {
            return std::clamp(value.value_or(least), least, gpus_max);
        };
        return std::max({at_least(ask_.min_cpus, 0),
                         saturating_mul(at_least(ask_.num_tasks, 1), at_least(ask_.cpus_per_task, 1)),
                         saturating_mul(at_least(ask_.min_cpus_per_node, 0), nodes_.fewest)});
    }

    [[nodiscard]] std::int64_t memory_asked() const {
        if (ask_.mem_per_node_mb)
            return *ask_.mem_per_node_mb <= 0 ? gpus_max : saturating_mul(*ask_.mem_per_node_mb, nodes_.fewest);
        return saturating_mul(std::max<std::int64_t>(ask_.mem_per_cpu_mb.value_or(0), 0), cpus_asked());
    }

    [[nodiscard]] std::optional<std::int64_t> cpu_share() const {
        return pool_.cpus_per_gpu ? pool_.cpus_per_gpu : smallest_share(&NodeShape::cpus);
    }

    [[nodiscard]] std::optional<std::int64_t> memory_share() const {
        return pool_.mem_per_gpu_mb ? pool_.mem_per_gpu_mb : smallest_share(&NodeShape::memory_mb);
    }

    /// The node's share of the node where it is smallest; none where no node's is known.
    [[nodiscard]] std::optional<std::int64_t> smallest_share(std::int64_t NodeShape::* what) const {
        std::optional<std::int64_t> smallest;
        if (shape_ == nullptr) return smallest;
        for (const auto& node : shape_->nodes) {
            const auto gpus = total(node.gpus);
            if (gpus == 0 || node.*what <= 0) continue;
            const auto share = node.*what / gpus;
            if (!smallest || share < *smallest) smallest = share;
        }
        return smallest;
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

    const GpuAsk& ask_;
    const PartitionShape* shape_;
    const PoolConfig& pool_;
    const Explain explain_;
    TresGpus per_job_, per_node_, per_task_, per_socket_;
    bool names_gpus_ = false, shared_ = false, malformed_ = false;
    NodeRange nodes_;
    GpuCount result_;
};

}  // namespace

GpuCount count_gpus(const GpuAsk& ask, const PartitionShape* shape, const PoolConfig& pool, Explain explain) {
    return Counting(ask, shape, pool, explain).count();
}

void settle_types(GpuIntervals& gpus, const PoolConfig& pool) {
    if (pool.gpus.size() != 1) return;
    auto untyped = gpus.extract("");
    if (untyped.empty()) return;
    untyped.key() = pool.gpus.begin()->first;
    const auto settled = gpus.insert(std::move(untyped));
    if (settled.inserted) return;
    const auto& [min, max] = settled.node.mapped();
    auto& of_type = settled.position->second;
    of_type.min = saturating_add(of_type.min, min);
    of_type.max = saturating_add(of_type.max, max);
}

}  // namespace accord
