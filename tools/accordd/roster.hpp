// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of the list with the decisions that they carry and what the record knows of them, kept from list to list so
// that the database is asked about each job once.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/plan.hpp"
#include "store/decisions_db.hpp"

namespace accord {

class Roster {
public:
    /// Takes a list over: jobs that are not in it are forgotten.
    void take(const std::vector<JobView>& jobs);

    [[nodiscard]] bool lists(std::uint32_t job_id) const { return known_.contains(job_id); }
    /// Of a job of the list; none: it carries none.
    [[nodiscard]] std::optional<DecisionId> decision_of(const JobView& job) const;

    /// None: the job carries no decision, or one that the database does not have (another controller's).
    [[nodiscard]] Result<std::optional<JobFacts>> facts_of(const JobView& job, const DecisionsDb& decisions);
    /// A modification of a job with this decision is on record: what was known of it is out of date.
    void forget_facts(const DecisionId& decision) { outdated_.insert(decision); }

    /// Decisions that became jobs since `linked` was called last; of an array, the array's own id.
    [[nodiscard]] const std::vector<std::pair<DecisionId, std::uint32_t>>& unlinked() const { return unlinked_; }
    void linked() { unlinked_.clear(); }

private:
    void drop_outdated();

    struct Known {
        std::optional<DecisionId> decision;
        std::optional<std::optional<JobFacts>> facts;  ///< none: the database was not asked
        std::uint64_t list = 0;                        ///< the last one that showed the job
    };

    std::unordered_map<std::uint32_t, Known> known_;  ///< by job id
    std::vector<std::pair<DecisionId, std::uint32_t>> unlinked_;
    std::set<DecisionId> outdated_;  ///< whose jobs' facts are to be asked for anew
    std::uint64_t list_ = 0;
};

}  // namespace accord
