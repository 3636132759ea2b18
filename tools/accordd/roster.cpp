// SPDX-License-Identifier: GPL-2.0-or-later
#include "roster.hpp"

namespace accord {

void Roster::take(const std::vector<JobView>& jobs) {
    ++list_;
    for (const auto& job : jobs) {
        auto& known = known_[job.job_id];
        const auto decision = decision_in_comment(job.admin_comment);
        if (known.list == 0 || known.decision != decision) {
            known.decision = decision;
            known.facts.reset();
            if (decision) unlinked_.emplace_back(*decision, job.array_job_id != 0 ? job.array_job_id : job.job_id);
        }
        known.list = list_;
    }
    if (known_.size() > jobs.size()) std::erase_if(known_, [&](const auto& entry) { return entry.second.list != list_; });
}

std::optional<DecisionId> Roster::decision_of(const JobView& job) const {
    const auto found = known_.find(job.job_id);
    return found == known_.end() ? std::nullopt : found->second.decision;
}

Result<std::optional<JobFacts>> Roster::facts_of(const JobView& job, const DecisionsDb& decisions) {
    if (!outdated_.empty()) drop_outdated();
    auto& known = known_[job.job_id];
    if (!known.facts) {
        if (!known.decision) return std::optional<JobFacts>{};
        auto facts = decisions.facts(*known.decision, job.job_id);
        if (!facts) return facts;
        known.facts = *facts;
    }
    return *known.facts;
}

/// Many modifications come at once, after a burst: one way through the jobs serves them all.
void Roster::drop_outdated() {
    for (auto& [job_id, known] : known_)
        if (known.decision && outdated_.contains(*known.decision)) known.facts.reset();
    outdated_.clear();
}

}  // namespace accord
