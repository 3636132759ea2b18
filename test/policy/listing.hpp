// SPDX-License-Identifier: GPL-2.0-or-later
// A small cluster's job list, and what accordd would make of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/plan.hpp"
#include "policy/world.hpp"

namespace accord::test {

inline const std::string vision = "vision-lab/gpu";

/// A cluster and its job list, with what the record says of each job.
struct Listing {
    World world;
    std::vector<JobView> jobs;
    std::map<std::uint32_t, JobFacts> facts;
    BudgetUses budgets;

    explicit Listing(Gpus guaranteed = 8, std::optional<Gpus> borrow_limit = {}) {
        world.contracts = {in_force(contract_for("vision-lab", guaranteed, borrow_limit), {vision1})};
    }

    JobView& add(const JobView& job) { return jobs.emplace_back(job); }

    JobView& queued(std::uint32_t job_id, Gpus gpus, std::int64_t decided_s, Hold hold = Hold::admin) {
        facts[job_id] = {{0, job_id}, decided_s, JobClass::queued, false};
        auto& job = add(listed(job_id, "gpu-lend", gpus));
        job.hold = hold;
        return job;
    }

    [[nodiscard]] std::vector<GovernedJob> governed() const {
        return governed_jobs(world.policy(), world.shape, jobs, noon, [&](const JobView& job) -> std::optional<JobFacts> {
            const auto found = facts.find(job.job_id);
            return found == facts.end() ? std::nullopt : std::optional(found->second);
        });
    }

    [[nodiscard]] ContractClaims claims(const std::string& contract = vision) const {
        return claims_of(governed())[contract];
    }

    [[nodiscard]] std::vector<Action> planned() const {
        const auto counted = governed();
        return plan(world.policy(), world.shape, counted, claims_of(counted), budgets, noon);
    }
};

/// "promote 1 to guaranteed, hold 2 to queued".
inline std::string told(const std::vector<Action>& actions) {
    std::string text;
    for (const auto& action : actions)
        text += std::string(text.empty() ? "" : ", ") + to_string(action.kind) + " " + std::to_string(action.job_id) +
                " to " + to_string(action.to);
    return text;
}

}  // namespace accord::test
