// SPDX-License-Identifier: GPL-2.0-or-later
// A model of slurmctld, plugin and accordd around the engine: it submits, starts, ends and holds jobs, takes snapshots
// and carries out plans, as the laws of the engine need it.
#pragma once

#include <cstdint>
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
    void start(std::size_t index);
    void end(std::size_t index);
    void requeue(std::size_t index);
    /// accordd's snapshot: what the job list shows, and nothing beside it.
    void take_snapshot();
    /// accordd's pass on the list and the ledger as they are; each action goes through the plugin. Returns the decisions.
    std::vector<Decision> pass();

    [[nodiscard]] const Policy& policy() const { return policy_; }
    [[nodiscard]] const Ledger& ledger() const { return ledger_; }
    [[nodiscard]] const std::vector<JobView>& jobs() const { return jobs_; }
    [[nodiscard]] const std::vector<Decision>& journal() const { return journal_; }
    [[nodiscard]] std::vector<GovernedJob> governed() const;
    [[nodiscard]] std::vector<Action> planned() const;

private:
    void record(const Decision& decision);
    void carry_out(const Action& action);
    JobView& job(std::uint32_t job_id);
    bool throttled(std::uint32_t array_job_id);
    void make_job(const JobRequest& request, const Decision& decision);

    World world_;
    Policy policy_;
    Ledger ledger_;
    std::vector<JobView> jobs_;
    std::vector<Decision> journal_;            ///< number N at N - 1
    std::map<std::uint64_t, JobFacts> facts_;  ///< by the job's own decision
    std::uint32_t last_job_ = 0;
};

}  // namespace accord::test
