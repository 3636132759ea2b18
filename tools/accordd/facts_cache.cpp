// SPDX-License-Identifier: GPL-2.0-or-later
// What the record knows of the jobs in the list, without asking the database about each of them at every pass.
#include "facts_cache.hpp"

namespace accord {

Result<std::optional<JobFacts>> FactsCache::of(const JobView& job, const DecisionsDb& decisions) {
    const auto decision = decision_in_comment(job.admin_comment);
    if (!decision) return std::optional<JobFacts>{};
    const std::pair key(*decision, job.job_id);
    if (const auto known = entries_.find(key); known != entries_.end()) {
        known->second.used = true;
        return known->second.facts;
    }
    auto facts = decisions.facts(*decision, job.job_id);
    if (facts) entries_.emplace(key, Entry{*facts});
    return facts;
}

void FactsCache::forget(const DecisionId& decision) {
    const auto first = entries_.lower_bound({decision, 0});
    auto last = first;
    while (last != entries_.end() && last->first.first == decision) ++last;
    entries_.erase(first, last);
}

void FactsCache::sweep() {
    std::erase_if(entries_, [](const auto& entry) { return !entry.second.used; });
    for (auto& [key, entry] : entries_) entry.used = false;
}

}  // namespace accord
