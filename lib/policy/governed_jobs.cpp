// SPDX-License-Identifier: GPL-2.0-or-later
// From the job list to what Accord counts: classes, contracts and claims.
#include <algorithm>
#include <map>
#include <tuple>

#include "policy/governed.hpp"
#include "policy/plan.hpp"

namespace accord {

namespace {

JobClass class_of(const JobView& job, const Place& place, const std::optional<JobFacts>& facts) {
    if (!place.lent) return JobClass::guaranteed;
    if (job.state != JobState::pending || !job.is_kept()) return JobClass::borrowed;
    const bool queued = facts ? facts->cls == JobClass::queued : job.hold != Hold::user;
    return queued ? JobClass::queued : JobClass::borrowed;
}

/// R5: it was let into the lend partition before its time, without a claim, and that has not come.
bool awaits_eligibility(const GovernedJob& governed, std::int64_t now_s) {
    const auto& job = *governed.job;
    return governed.cls == JobClass::borrowed && job.state == JobState::pending && governed.facts &&
           governed.facts->not_eligible && (job.hold != Hold::none || !job.eligible_at(now_s));
}

/// The wider of the throttle in force and the one on record; none: all tasks at once.
std::optional<std::int64_t> widest_throttle(const GovernedJob& governed) {
    const auto in_force = throttle_of(*governed.job);
    if (!governed.throttle_is_off()) return in_force;
    const auto on_record = governed.facts->throttle.value();
    return in_force && on_record != 0 ? std::optional(std::max(*in_force, on_record)) : std::nullopt;
}

/// With the limit of nodes that the list does not show any more.
GpuIntervals known_gpus(const GovernedJob& governed, const PoolConfig& pool, const ClusterShape& shape) {
    const auto& job = *governed.job;
    if (!job.lacks_node_limit() || !governed.facts || !governed.facts->max_nodes) return gpus_of(job, pool, shape);
    auto limited = job;
    limited.gpus.max_nodes = governed.facts->max_nodes;
    return gpus_of(limited, pool, shape);
}

/// The records of one array in one class, and how many of their tasks may run at once.
struct ArrayPart {
    std::vector<GovernedJob*> holding, pending;  ///< single tasks
    GovernedJob* rest = nullptr;
    std::int64_t rest_at_once = 0;
    std::int64_t limit = gpus_max;
};

/// Tasks that hold resources keep their claims; what the throttle leaves goes to pending ones, then to the rest.
void share_claims(ArrayPart& part) {
    auto room = std::max<std::int64_t>(0, part.limit - static_cast<std::int64_t>(part.holding.size()));
    for (auto* task : part.pending) {
        if (room == 0)
            task->claim.clear();
        else
            --room;
    }
    if (part.rest == nullptr) return;
    const auto at_once = std::min(room, part.rest_at_once);
    if (at_once < part.rest_at_once)
        for (auto& [type, gpus] : part.rest->claim) gpus = gpus / part.rest_at_once * at_once;
    std::erase_if(part.rest->claim, [](const auto& entry) { return entry.second == 0; });
}

void share_array_claims(std::vector<GovernedJob>& jobs, const Config& config) {
    std::map<std::tuple<std::uint32_t, JobClass, std::string>, ArrayPart> parts;
    for (auto& governed : jobs) {
        const auto& job = *governed.job;
        if (job.array_job_id == 0 || governed.cls == JobClass::queued) continue;
        auto& part = parts[{job.array_job_id, governed.cls, governed.contract}];
        const auto throttle = widest_throttle(governed);
        if (throttle) part.limit = *throttle;
        if (job.holds_resources()) {
            part.holding.push_back(&governed);
        } else if (job.array_task_id) {
            part.pending.push_back(&governed);
        } else {
            part.rest = &governed;
            part.rest_at_once = tasks_at_once(job, throttle, governed.claim, *place_of(config, job.partition).pool);
        }
    }
    for (auto& [key, part] : parts) share_claims(part);
}

}  // namespace

bool GovernedJob::throttle_is_off() const {
    return job->array_job_id != 0 && facts && facts->throttle && *facts->throttle != throttle_of(*job).value_or(0);
}

std::vector<GovernedJob> governed_jobs(const Policy& policy, const ClusterShape& shape,
                                       const std::vector<JobView>& jobs, std::int64_t now_s,
                                       const std::function<std::optional<JobFacts>(const JobView&)>& facts) {
    std::vector<GovernedJob> governed;
    governed.reserve(jobs.size());
    for (const auto& job : jobs) {
        if (job.state == JobState::ended) continue;
        const auto place = place_of(policy.config(), job.partition);
        if (!place) continue;
        auto& one = governed.emplace_back();
        one.job = &job;
        one.contract = contract_key(job, *place.pool);
        one.facts = facts(job);
        one.cls = class_of(job, place, one.facts);
        auto per_task = maxima(known_gpus(one, *place.pool, shape));
        const auto at_once = tasks_at_once(job, widest_throttle(one), per_task, *place.pool);
        one.at_once = at_once;
        one.would_claim = times(std::move(per_task), at_once);
        if (one.cls != JobClass::queued && !awaits_eligibility(one, now_s)) one.claim = one.would_claim;
    }
    share_array_claims(governed, policy.config());
    return governed;
}

std::unordered_map<std::string, ContractClaims> claims_of(const std::vector<GovernedJob>& jobs) {
    std::unordered_map<std::string, ContractClaims> claims;
    for (const auto& governed : jobs)
        add_claim(claims[governed.contract], {governed.contract, governed.job->uid, governed.cls, governed.claim});
    return claims;
}

}  // namespace accord
