// SPDX-License-Identifier: GPL-2.0-or-later
// A model of slurmctld, plugin and accordd around the engine: it submits, starts, ends, preempts, requeues and holds jobs,
// loses and regains nodes, changes contracts, takes snapshots and carries out plans, as the laws of the engine need it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "policy/modify.hpp"
#include "policy/plan.hpp"
#include "policy/world.hpp"

namespace accord::test {

inline constexpr std::uint32_t slurm_user = 64030;

class Model {
public:
    explicit Model(World world) : world_(std::move(world)), policy_(world_.policy()) { take_snapshot(); }

    /// Judges the request, claims, and makes a job of it where the answer lets it through.
    Decision submit(const JobRequest& request);
    /// One `scontrol` of the owner's. Empty where it passes without a record.
    std::optional<Decision> owner_changes(std::size_t index, PriorityChange priority);
    /// Starts the job where Slurm would: it is neither held nor before its time, its array's throttle has room and so many
    /// GPUs are idle. A guaranteed one preempts borrowed ones where that makes room, the youngest first.
    void start(std::size_t index);
    void end(std::size_t index);
    /// A user's requeue: of a running job, or of one that has ended.
    void requeue(std::size_t index);
    void wait(std::int64_t seconds) { now_s_ += seconds; }
    /// A node drains, or is there again.
    void set_available(std::size_t node, bool available);
    /// Other terms, or another state, for a contract that is there.
    void change_contract(std::size_t index, Contract terms, ContractState state);
    /// accordd's snapshot: what the job list shows, and nothing beside it.
    void take_snapshot();
    using AfterAction = std::function<void(const Action& action, const Decision& decision)>;
    /// accordd's pass on the list and the ledger as they are; each action goes through the plugin. Returns the decisions.
    std::vector<Decision> pass(const AfterAction& after_each = [](const Action&, const Decision&) {});

    [[nodiscard]] const Policy& policy() const { return policy_; }
    [[nodiscard]] const Ledger& ledger() const { return ledger_; }
    [[nodiscard]] const ClusterShape& shape() const { return world_.shape; }
    [[nodiscard]] const World& world() const { return world_; }
    [[nodiscard]] const std::vector<JobView>& jobs() const { return jobs_; }
    [[nodiscard]] const std::vector<Decision>& journal() const { return journal_; }
    [[nodiscard]] std::int64_t now_s() const { return now_s_; }
    [[nodiscard]] std::vector<GovernedJob> governed() const;
    [[nodiscard]] std::vector<Action> planned() const;
    /// GPUs of available nodes that no job holds.
    [[nodiscard]] Gpus idle() const;
    /// Of a job, or of one task of an array.
    [[nodiscard]] Gpus gpus_of_one(const JobView& job) const;

private:
    void record(const Decision& decision);
    void carry_out(JobView& updated, const Action& action);
    JobView& job(std::uint32_t job_id);
    JobView& split(std::uint32_t array_job_id, std::uint32_t task);
    bool throttled(std::uint32_t array_job_id);
    bool make_room(Gpus gpus);
    void preempt(JobView& victim);
    void make_job(const JobRequest& request, const Decision& decision);
    [[nodiscard]] std::unordered_map<std::string, ContractClaims> counted() const;
    [[nodiscard]] std::optional<JobFacts> facts_of(const JobView& view) const;

    struct Preempted {
        std::int64_t times = 0, last_s = 0;
    };

    World world_;
    Policy policy_;
    Ledger ledger_;
    std::int64_t now_s_ = noon;
    std::vector<JobView> jobs_;
    std::vector<Decision> journal_;            ///< number N at N - 1
    std::map<std::uint64_t, JobFacts> facts_;  ///< by the job's own decision
    std::map<std::uint32_t, JobFacts> facts_of_tasks_;  ///< of those that were judged by themselves, by job
    std::map<std::uint32_t, Preempted> preempted_;
    std::map<std::uint32_t, std::int64_t> sent_back_s_;
    std::uint32_t last_job_ = 0;
};

}  // namespace accord::test
