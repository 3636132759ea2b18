// SPDX-License-Identifier: GPL-2.0-or-later
// Turns successive job lists into stretches of use: who held what, in which class, how it ended and for whom.
#include "usage_meter.hpp"

#include <algorithm>

#include "policy/governed.hpp"

namespace accord {
namespace {

const char* word(Ending ending) {
    switch (ending) {
        case Ending::completed: return "completed";
        case Ending::failed: return "failed";
        case Ending::cancelled: return "cancelled";
        case Ending::preempted: return "preempted";
        case Ending::none: break;
    }
    return "unknown";
}

template <typename Ranges>
bool overlap(const Ranges& left, const Ranges& right) {
    return std::any_of(left.begin(), left.end(), [&](const auto& a) {
        return std::any_of(right.begin(), right.end(),
                           [&](const auto& b) { return a.first <= b.second && b.first <= a.second; });
    });
}

UsageInterval interval_of(const Place& place, const ClusterShape& shape, const JobView& job) {
    UsageInterval interval;
    interval.job_id = job.job_id;
    // The restart is counted while the run before still holds its GPUs (_job_requeue_op, 22.05).
    const bool being_requeued = job.state == JobState::completing && job.ending == Ending::none;
    interval.restart = being_requeued && job.restarts > 0 ? job.restarts - 1 : job.restarts;
    interval.contract = contract_key(job, *place.pool);
    interval.uid = job.uid;
    interval.cls = place.lent ? JobClass::borrowed : JobClass::guaranteed;
    interval.gpus = job.state == JobState::ended ? maxima(gpus_of(job, *place.pool, shape)) : job.allocated;
    interval.start_s = job.start_s;
    return interval;
}

}  // namespace

UsageMeter::UsageMeter(const std::vector<UsageInterval>& open, std::int64_t seen_s) {
    for (const auto& interval : open)
        running_[interval.job_id] = Stretch{interval, "", {}, std::max(interval.start_s, seen_s), 0};
}

void UsageMeter::each_running(const std::function<void(const UsageInterval&, std::int64_t)>& use) const {
    for (const auto& [job_id, stretch] : running_) use(stretch.interval, stretch.seen_s);
}

std::vector<UsageInterval> UsageMeter::update(const Config& config, const ClusterShape& shape,
                                              const std::vector<JobView>& jobs, std::int64_t taken_s,
                                              const OnRecord& on_record) {
    taken_s_ = taken_s;
    ++list_;
    std::vector<UsageInterval> changed;
    std::set<std::pair<std::uint32_t, std::uint32_t>> shown;
    for (const auto& job : jobs) {
        see(config, shape, job, changed, on_record);
        if (job.state == JobState::ended) shown.emplace(job.job_id, job.restarts);
    }
    std::erase_if(ended_, [&](const auto& key) { return !shown.contains(key); });
    finish_vanished(changed);
    find_beneficiaries(config, jobs, changed);
    return changed;
}

void UsageMeter::see(const Config& config, const ClusterShape& shape, const JobView& job,
                     std::vector<UsageInterval>& changed, const OnRecord& on_record) {
    const auto place = place_of(config, job.partition);
    if (!place) return;
    if (job.state == JobState::pending) {
        // A requeue sets the time of submission anew (batch_requeue_fini, 22.05).
        finish_running(job.job_id, std::min(job.submit_s, taken_s_), "requeued", changed);
    } else if (!job.holds_resources()) {
        see_ended(job, {interval_of(place, shape, job), place.pool->partition, job.nodes, job.start_s, list_}, changed,
                  on_record);
    } else if (!goes_on(job, place.pool->partition)) {
        // The record of a job that runs again says no more when its run before had ended.
        finish_running(job.job_id, std::min(job.submit_s, job.start_s), "requeued", changed);
        const auto seen_s = job.state == JobState::completing ? job.start_s : std::max(job.start_s, taken_s_);
        Stretch now{interval_of(place, shape, job), place.pool->partition, job.nodes, seen_s, list_};
        changed.push_back(now.interval);
        running_.emplace(job.job_id, std::move(now));
    }
}

/// Whether the run at hand is the one that is known, which is then seen once more.
bool UsageMeter::goes_on(const JobView& job, const std::string& pool) {
    const auto known = running_.find(job.job_id);
    if (known == running_.end()) return false;
    auto& before = known->second;
    const bool same_run = before.interval.restart == job.restarts && before.interval.start_s == job.start_s;
    const bool being_requeued = job.state == JobState::completing && before.interval.restart + 1 == job.restarts;
    if (!same_run && !being_requeued) return false;
    if (!job.nodes.empty()) before.nodes = job.nodes;
    if (before.pool.empty()) before.pool = pool;
    // A completing job's end is behind it.
    if (job.state != JobState::completing) before.seen_s = std::max(before.seen_s, taken_s_);
    before.seen_in = list_;
    return true;
}

/// A job that is cancelled before it starts has a start as well, the moment of its end, but never had a node.
void UsageMeter::see_ended(const JobView& job, Stretch now, std::vector<UsageInterval>& changed,
                           const OnRecord& on_record) {
    const bool first_seen = ended_.emplace(job.job_id, job.restarts).second;
    if (running_.contains(job.job_id)) {
        finish_running(job.job_id, job.end_s, word(job.ending), changed);
    } else if (first_seen && !job.nodes.empty() && !on_record(job.job_id, job.restarts)) {
        finish(std::move(now), job.end_s, word(job.ending), changed);
    }
}

void UsageMeter::finish(Stretch stretch, std::int64_t end_s, const char* how, std::vector<UsageInterval>& changed) {
    auto& interval = stretch.interval;
    interval.end_s = std::max({end_s, interval.start_s, stretch.seen_s});
    interval.ended = how;
    changed.push_back(interval);
    if (interval.cls == JobClass::borrowed && (interval.ended == "requeued" || interval.ended == "preempted"))
        lost_.push_back(std::move(stretch));
}

void UsageMeter::finish_running(std::uint32_t job_id, std::int64_t end_s, const char* how,
                                std::vector<UsageInterval>& changed) {
    auto known = running_.extract(job_id);
    if (!known.empty()) finish(std::move(known.mapped()), end_s, how, changed);
}

/// Jobs that slurmctld has forgotten between two lists.
void UsageMeter::finish_vanished(std::vector<UsageInterval>& changed) {
    std::vector<std::uint32_t> vanished;
    for (const auto& [job_id, stretch] : running_)
        if (stretch.seen_in != list_) vanished.push_back(job_id);
    for (const auto job_id : vanished) finish_running(job_id, running_.at(job_id).seen_s, "unknown", changed);
}

void UsageMeter::find_beneficiaries(const Config& config, const std::vector<JobView>& jobs,
                                    std::vector<UsageInterval>& changed) {
    for (auto& lost : lost_) {
        const JobView* first = nullptr;
        for (const auto& job : jobs) {
            const auto after_s = job.start_s - *lost.interval.end_s;
            const auto* pool = config.pool_of(job.partition);
            if (!pool || pool->partition != lost.pool || job.state == JobState::pending || after_s < 0 ||
                after_s > beneficiary_window_s || !overlap(job.nodes, lost.nodes))
                continue;
            if (!first || std::pair(job.start_s, job.job_id) < std::pair(first->start_s, first->job_id)) first = &job;
        }
        if (!first) continue;
        lost.interval.ended = "preempted";
        lost.interval.beneficiary_job = first->job_id;
        changed.push_back(lost.interval);
    }
    std::erase_if(lost_, [&](const Stretch& lost) {
        return lost.interval.beneficiary_job || taken_s_ - *lost.interval.end_s > beneficiary_window_s;
    });
}

}  // namespace accord
