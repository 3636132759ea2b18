// SPDX-License-Identifier: GPL-2.0-or-later
// What the record knows of the jobs in the list, without asking the database about each of them at every pass.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "policy/plan.hpp"
#include "store/decisions_db.hpp"

namespace accord {

class FactsCache {
public:
    /// None: the job carries no decision, or one that the database does not have (another controller's).
    [[nodiscard]] Result<std::optional<JobFacts>> of(const JobView& job, const DecisionsDb& decisions);

    /// A modification of a job with this decision is on record: what is known of it is out of date.
    void forget(const DecisionId& decision);
    /// Drops what nobody has asked for since the last call.
    void sweep();

private:
    struct Entry {
        std::optional<JobFacts> facts;
        bool used = true;
    };
    std::map<std::pair<DecisionId, std::uint32_t>, Entry> entries_;  ///< by decision and job id
};

}  // namespace accord
