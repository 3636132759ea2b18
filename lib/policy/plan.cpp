// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's pass: candidates in R16's order, each claiming what the next one cannot have.
#include "policy/plan.hpp"

#include <algorithm>
#include <tuple>

#include "policy/classify.hpp"
#include "policy/governed.hpp"
#include "policy/names.hpp"

namespace accord {

namespace {

constexpr Named<ActionKind> action_kinds[] = {
    {ActionKind::promote, "promote"}, {ActionKind::release, "release"}, {ActionKind::hold, "hold"},
    {ActionKind::throttle, "throttle"}};

struct Candidate {
    const GovernedJob* governed;
    const PoolConfig* pool;
    const Contract* contract;  ///< null where nothing may be released for it
    std::int64_t factor;

    /// R16, for sorting.
    [[nodiscard]] auto order() const {
        const auto& job = *governed->job;
        return std::tuple(-factor, governed->facts ? governed->facts->decided_s : job.submit_s, job.job_id);
    }
};

bool awaits_promotion(const GovernedJob& governed) {
    if (governed.facts && governed.facts->cls == JobClass::exempt) return false;
    return governed.cls == JobClass::borrowed && governed.job->state == JobState::pending && governed.job->eligible &&
           !governed.would_claim.empty();
}

/// The contract that a pending job may be promoted or released for.
const Contract* contract_in_force(const Policy& policy, const ClusterShape& shape, const GovernedJob& governed,
                                  const PoolConfig& pool, std::int64_t now_s) {
    const auto* found = policy.contract(governed.contract);
    if (found == nullptr || !found->active_at(now_s) || shape.partition(pool.partition) == nullptr) return nullptr;
    return found->contract.get();
}

std::vector<Candidate> candidates(const Policy& policy, const ClusterShape& shape, const std::vector<GovernedJob>& jobs,
                                  std::int64_t now_s) {
    std::vector<Candidate> found;
    for (const auto& governed : jobs) {
        if (governed.throttle_is_off()) continue;
        if (governed.cls != JobClass::queued && !awaits_promotion(governed)) continue;
        const auto* pool = place_of(policy.config(), governed.job->partition).pool;
        const auto* contract = contract_in_force(policy, shape, governed, *pool, now_s);
        const auto factor =
            contract == nullptr ? 0 : site_factor(policy.config(), *contract, JobClass::guaranteed, {}, {});
        found.push_back({&governed, pool, contract, factor});
    }
    std::sort(found.begin(), found.end(),
              [](const auto& left, const auto& right) { return left.order() < right.order(); });
    return found;
}

/// The class that the job can have now, if it is better than the one it has.
std::optional<JobClass> better_class(const Candidate& candidate, const ContractClaims& claims) {
    const auto& [governed, pool, contract, factor] = candidate;
    if (contract == nullptr) return std::nullopt;
    const auto& ask = governed->would_claim;
    const bool is_release = governed->cls == JobClass::queued;
    if (is_release && beyond_member_limit(*contract, claims, governed->job->uid, ask)) return std::nullopt;
    if (!ask.empty() && !beyond_headroom(*contract, claims, ask)) return JobClass::guaranteed;
    if (!is_release) return std::nullopt;
    if (ask.empty()) return JobClass::borrowed;
    const bool borrows = may_borrow(*contract, governed->job->type, governed->job->requeueable);
    return borrows && !beyond_borrow_limit(*contract, claims, ask) ? std::optional(JobClass::borrowed) : std::nullopt;
}

Action action_for(const Policy& policy, const Candidate& candidate, JobClass to, const ContractClaims& claims) {
    const auto& governed = *candidate.governed;
    Action action;
    action.kind = governed.cls == JobClass::queued ? ActionKind::release : ActionKind::promote;
    action.job_id = governed.job->job_id;
    action.contract = governed.contract;
    action.from = governed.cls;
    action.to = to;
    action.gpus = governed.would_claim;
    action.partition = to == JobClass::guaranteed ? candidate.pool->partition : candidate.pool->lend_partition;
    action.site_factor = site_factor(policy.config(), *candidate.contract, to, claims, governed.would_claim);
    action.reason = to == JobClass::guaranteed ? Reason::headroom : Reason::borrow_limit;
    action.user_hold = governed.cls == JobClass::queued && governed.facts && governed.facts->user_wants_hold;
    return action;
}

/// An administrator's hold in place of the user's, which its owner could lift.
Action hold_for(const Candidate& candidate) {
    Action action;
    action.kind = ActionKind::hold;
    action.job_id = candidate.governed->job->job_id;
    action.contract = candidate.governed->contract;
    action.to = JobClass::queued;
    action.partition = candidate.pool->lend_partition;
    action.reason = Reason::queued;
    return action;
}

/// The throttle is kept with the record that bears the array's own number: the pending rest, else its last task
/// (job_array_split, 22.05). It is there, ended or not, for as long as any of its tasks (_list_find_job_old).
Action throttle_for(const GovernedJob& governed) {
    Action action;
    action.kind = ActionKind::throttle;
    action.job_id = governed.job->array_job_id;
    action.contract = governed.contract;
    action.from = action.to = governed.cls;
    action.throttle = *governed.facts->throttle;
    action.reason = Reason::immutable;
    return action;
}

std::vector<Action> throttles(const std::vector<GovernedJob>& jobs) {
    std::map<std::uint32_t, Action> by_array;
    for (const auto& governed : jobs) {
        if (!governed.throttle_is_off()) continue;
        const auto [known, is_new] = by_array.try_emplace(governed.job->array_job_id);
        if (is_new || governed.job->job_id == governed.job->array_job_id) known->second = throttle_for(governed);
    }
    std::vector<Action> actions;
    for (auto& [array, action] : by_array) actions.push_back(std::move(action));
    return actions;
}

void claim(ContractClaims& claims, const GovernedJob& governed, const Action& action) {
    if (governed.cls == JobClass::borrowed) add(claims.borrowed, governed.claim, -1);
    if (governed.cls == JobClass::queued) add(claims.by_member[governed.job->uid], action.gpus);
    add(action.to == JobClass::guaranteed ? claims.guaranteed : claims.borrowed, action.gpus);
}

}  // namespace

const char* to_string(ActionKind kind) { return name_of(action_kinds, kind); }

std::vector<Action> plan(const Policy& policy, const ClusterShape& shape, const std::vector<GovernedJob>& jobs,
                         std::unordered_map<std::string, ContractClaims> claims, std::int64_t now_s) {
    if (policy.config().mode == Mode::observe) return {};
    auto actions = throttles(jobs);
    for (const auto& candidate : candidates(policy, shape, jobs, now_s)) {
        const auto& governed = *candidate.governed;
        auto& theirs = claims[governed.contract];
        if (const auto to = better_class(candidate, theirs)) {
            actions.push_back(action_for(policy, candidate, *to, theirs));
            claim(theirs, governed, actions.back());
        } else if (governed.cls == JobClass::queued && governed.job->hold == Hold::user) {
            actions.push_back(hold_for(candidate));
        }
    }
    return actions;
}

}  // namespace accord
