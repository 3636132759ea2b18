// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/slurm_controls.hpp"
#include "policy/count.hpp"

namespace accord {
namespace {

using State = ControlState;
using Names = std::set<std::string>;

Names node_names(const PartitionShape& partition) {
    Names names;
    for (const auto& node : partition.nodes) names.insert(node.name);
    return names;
}

Names only_in(const Names& left, const Names& right) {
    Names names;
    std::set_difference(left.begin(), left.end(), right.begin(), right.end(), std::inserter(names, names.end()));
    return names;
}

bool share_nodes(const Names& left, const Names& right) {
    return std::any_of(left.begin(), left.end(), [&](const auto& name) { return right.contains(name); });
}

/// "a100 = 16, v100 = 8": as accord.toml writes it.
std::string toml_gpus(const GpuVector& gpus) {
    std::string text;
    for (const auto& [type, count] : gpus)
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", type.empty() ? "\"\"" : type, count);
    return text;
}

/// The checks of one pool.
class PoolCheck {
public:
    PoolCheck(const PoolConfig& pool, const SlurmControls& slurm, const ClusterShape& shape)
        : pool_(pool), slurm_(slurm), shape_(shape), governed_(shape.partition(pool.partition)),
          lent_(shape.partition(pool.lend_partition)) {}

    Controls run() {
        partition_is_there(pool_.partition, governed_);
        partition_is_there(pool_.lend_partition, lent_);
        if (governed_ && lent_) {
            tiers();
            preemption();
            nodes();
            overlaps();
            defaults();
        }
        if (governed_) {
            gpus();
            defaults_for_jobs();
            availability();
        }
        reclaim();
        return std::move(controls_);
    }

private:
    void add(const std::string& what, bool right, State state, const std::string& found, Advice advice) {
        check(controls_, fmt::format("pool {}: {}", pool_.partition, what), right, state, found, std::move(advice));
    }

    void partition_is_there(const std::string& name, const PartitionShape* partition) {
        add(fmt::format("partition {}", name), partition != nullptr, State::missing,
            partition ? fmt::format("{} nodes", partition->nodes.size()) : "not there",
            {"accord.toml names it as part of a pool", fmt::format("slurm.conf: PartitionName={} Nodes=…", name)});
    }

    void tiers() {
        add("PriorityTier", governed_->priority_tier > lent_->priority_tier, State::mismatch,
            fmt::format("{} and {} in {}", governed_->priority_tier, lent_->priority_tier, lent_->name),
            {"guaranteed jobs preempt borrowed ones only from a higher tier",
             fmt::format("slurm.conf: PartitionName={} PriorityTier={}", governed_->name, lent_->priority_tier + 99)});
    }

    void preemption() {
        const auto governed = mode_of(governed_->name), lent = mode_of(lent_->name);
        add("PreemptMode", governed == "OFF", State::mismatch, governed,
            {"a guaranteed job is never preempted (R12)",
             fmt::format("slurm.conf: PartitionName={} PreemptMode=OFF", governed_->name)});
        const auto line = fmt::format("slurm.conf: PartitionName={} PreemptMode=REQUEUE", lent_->name);
        const auto why = lent == "SUSPEND" ? "a suspended job keeps its GPUs, so the owner cannot start"
                         : lent == "CANCEL" ? "borrowed jobs are cancelled, not requeued, when their GPUs are reclaimed"
                                            : "borrowed jobs cannot be preempted, so an owner waits until they end";
        add("PreemptMode of " + lent_->name, lent == "REQUEUE", State::mismatch, lent, {why, line});
    }

    void nodes() {
        const auto governed = node_names(*governed_), lent = node_names(*lent_);
        auto odd = only_in(governed, lent);
        odd.merge(only_in(lent, governed));
        add("nodes", odd.empty(), State::mismatch,
            odd.empty() ? fmt::format("the same {} in both partitions", governed.size())
                        : fmt::format("in one of the partitions only: {}", fmt::join(odd, ", ")),
            {"what is lent must be what is guaranteed",
             fmt::format("slurm.conf: give {} and {} the same Nodes=", governed_->name, lent_->name)});
    }

    /// Another partition over the pool's nodes must be below the lend partition and give way.
    void overlaps() {
        auto own = node_names(*governed_);
        own.merge(node_names(*lent_));
        std::vector<std::string> names;
        for (const auto& [name, partition] : shape_.partitions) {
            if (&partition == governed_ || &partition == lent_ || !share_nodes(node_names(partition), own)) continue;
            const auto mode = mode_of(name);
            const bool gives_way = partition.priority_tier < lent_->priority_tier && mode != "OFF" && mode != "SUSPEND";
            if (!gives_way) names.push_back(name);
        }
        add("other partitions", names.empty(), State::mismatch,
            names.empty() ? "none in the way" : fmt::format("over its nodes: {}", fmt::join(names, ", ")),
            {"their jobs take guaranteed GPUs and are not preempted for them",
             fmt::format("slurm.conf: take the nodes out of {}, or give it a PriorityTier below {} and PreemptMode=REQUEUE",
                         names.empty() ? "" : names.front(), lent_->priority_tier)});
    }

    void defaults() {
        const auto lent = slurm_.partitions.find(lent_->name);
        add("default partition", lent == slurm_.partitions.end() || !lent->second.is_default, State::mismatch,
            shape_.default_partition.value_or("(none)"),
            {"a job without --partition would be for the lend partition, and is rejected",
             fmt::format("slurm.conf: PartitionName={} Default=YES, and not {}", governed_->name, lent_->name)});
    }

    void gpus() {
        const auto has = governed_->capacity();
        add("GPUs", has == pool_.gpus, State::mismatch, describe(has),
            {fmt::format("accord.toml says {}: guarantees are checked against that", describe(pool_.gpus)),
             fmt::format("accord.toml: gpus = {{ {} }}", toml_gpus(has))});
    }

    /// R4: what Slurm adds to a request by itself is counted for nobody.
    void defaults_for_jobs() {
        const auto found = slurm_.partitions.find(governed_->name);
        if (found == slurm_.partitions.end()) return;
        const auto count = count_gpus(found->second.default_ask, governed_, pool_);
        const auto taken = total(maxima(count.gpus));
        add("defaults for jobs", taken <= 1, State::warning,
            taken <= 1 ? "within a GPU's share" : count.steps.back(),
            {"a job that asks for one GPU, and names neither CPUs nor memory, is given more than that GPU's, and counted for one",
             "slurm.conf: DefMemPerGPU and DefCpuPerGPU, no more than a GPU's share of its node"});
    }

    void availability() {
        std::vector<std::string> out;
        for (const auto& node : governed_->nodes)
            if (!node.available) out.push_back(node.name);
        GpuVector short_of = governed_->capacity();
        add_to(short_of, governed_->available_capacity());
        add("nodes available", out.empty(), State::warning,
            out.empty() ? "all" : fmt::format("down or draining: {} ({})", fmt::join(out, ", "), describe(short_of)),
            {"guarantees stay on paper, but these GPUs cannot serve them", fmt::format("scontrol show node {}", fmt::join(out, ","))});
    }
    static void add_to(GpuVector& from, const GpuVector& what) { accord::add(from, what, -1); }

    void reclaim() {
        if (pool_.reclaim == "live")
            add("reclaim", false, State::mismatch,
                slurm_.exempts_by_priority ? "static" : "static: Slurm " + slurm_.version,
                {"this version of Accord reclaims in static mode only", "accord.toml: reclaim = \"static\""});
        else
            add("reclaim", false, State::warning, "static",
                {"Slurm picks the jobs that are preempted, by node order, and takes more than it must where owners come "
                 "together or small jobs lie beside large ones (R13)",
                 "nothing: this version of Accord reclaims in static mode only"});
    }

    std::string mode_of(const std::string& partition) const {
        const auto found = slurm_.partitions.find(partition);
        return found == slurm_.partitions.end() ? slurm_.preempt_mode : found->second.preempt_mode;
    }

    const PoolConfig& pool_;
    const SlurmControls& slurm_;
    const ClusterShape& shape_;
    const PartitionShape* governed_;
    const PartitionShape* lent_;
    Controls controls_;
};

}  // namespace

Controls check_pools(const Config& config, const SlurmControls& slurm, const ClusterShape& shape) {
    Controls controls;
    check(controls, "accord.toml pools", !config.pools.empty(), ControlState::missing,
          fmt::format("{}", config.pools.size()), {"without a pool no job is governed", "accord.toml: [[pool]]"});
    for (const auto& pool : config.pools) {
        auto of_pool = PoolCheck(pool, slurm, shape).run();
        controls.insert(controls.end(), std::make_move_iterator(of_pool.begin()), std::make_move_iterator(of_pool.end()));
    }
    return controls;
}

}  // namespace accord
