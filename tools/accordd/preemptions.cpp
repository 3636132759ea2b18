// SPDX-License-Identifier: GPL-2.0-or-later
#include "preemptions.hpp"

#include <algorithm>

namespace accord {

Result<Preemptions::Count> Preemptions::of(const JobView& job, const UsageDb& usage) {
    if (const auto known = known_.find(job.job_id); known != known_.end()) return known->second;
    const auto intervals = usage.intervals(job.job_id);
    if (!intervals) return tl::unexpected(intervals.error());
    Count count;
    for (const auto& interval : *intervals) {
        if (interval.ended != "preempted") continue;
        ++count.times;
        count.last_s = std::max(count.last_s, interval.end_s.value_or(0));
    }
    known_.emplace(job.job_id, count);
    return count;
}

bool Preemptions::note(const std::vector<UsageInterval>& written) {
    bool any = false;
    for (const auto& interval : written) {
        if (interval.ended != "preempted") continue;
        known_.erase(interval.job_id);
        any = true;
    }
    return any;
}

void Preemptions::forget_unlisted(const Roster& roster) {
    std::erase_if(known_, [&](const auto& entry) { return !roster.lists(entry.first); });
}

}  // namespace accord
