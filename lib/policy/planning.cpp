// SPDX-License-Identifier: GPL-2.0-or-later
// What one pass of planning looks at and has given away so far.
#include "policy/planning.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "policy/classify.hpp"
#include "policy/governed.hpp"

namespace accord {

void Planning::add(Action action) {
    // Of an array of which a task is split off the rest stays as it is.
    acted_on.emplace(action.job_id, action.task ? action.from : action.to);
    actions.push_back(std::move(action));
}

PoolLoans loans_by(const Policy& policy, const PoolConfig& pool, const ClusterShape& shape, std::int64_t now_s,
                   const std::unordered_map<std::string, ContractClaims>& claims) {
    PoolLoans loans(policy, pool, shape, now_s);
    if (!loans.any_limit()) return loans;
    for (const auto& [key, claimed] : claims)
        if (partition_of(key) == pool.partition) loans.set(policy, key, claimed);
    return loans;
}

const PoolLoans& Planning::loans_of(const PoolConfig& pool) {
    auto known = loans.find(pool.partition);
    if (known == loans.end())
        known = loans.emplace(pool.partition, loans_by(policy, pool, shape, now_s, claims)).first;
    return known->second;
}

void Planning::note_claims(const std::string& contract) {
    const auto known = loans.find(std::string(partition_of(contract)));
    if (known != loans.end() && known->second.any_limit()) known->second.set(policy, contract, claims.at(contract));
}

const PoolConfig& Planning::pool_of(const GovernedJob& governed) const {
    return *place_of(policy.config(), governed.job->partition).pool;
}

const Contract* Planning::contract_in_force(const GovernedJob& governed) const {
    if (governed.contract == last_contract) return last_in_force;
    const auto* found = policy.contract(governed.contract);
    const bool in_force =
        found != nullptr && found->active_at(now_s) && shape.partition(pool_of(governed).partition) != nullptr;
    last_contract = governed.contract;
    return last_in_force = in_force ? found->contract.get() : nullptr;
}

bool Planning::within_budget(const Contract& contract, const GovernedJob& governed, JobClass to) const {
    if (governed.would_claim.empty()) return true;
    const auto limit = standing_of(contract, budgets, now_s).limit;
    return limit == BudgetLimit::none || (limit == BudgetLimit::borrow_only && to == JobClass::borrowed);
}

GpuVector& Planning::idle_in(const PoolConfig& pool) {
    const auto [known, is_new] = idle.try_emplace(pool.partition);
    if (!is_new) return known->second;
    auto& gpus = known->second = shape.partition(pool.partition)->available_capacity();
    for (const auto& governed : jobs) {
        const auto& job = *governed.job;
        if (place_of(policy.config(), job.partition).pool != &pool) continue;
        const bool starts = governed.cls == JobClass::guaranteed && job.hold == Hold::none && job.eligible_at(now_s);
        if (job.holds_resources() || starts)
            accord::add(gpus, job.allocated.empty() ? governed.claim : job.allocated, -1);
    }
    return gpus;
}

bool may_move(const Planning& planning, const GovernedJob& governed) {
    const auto& facts = governed.facts;
    const bool eligible = governed.job->eligible_at(planning.now_s) && !(facts && facts->not_eligible && facts->user_wants_hold);
    return eligible && planning.contract_in_force(governed) != nullptr;
}

std::int64_t borrows_again_s(const Contract& contract, const GovernedJob& governed) {
    constexpr std::int64_t first_s = 60, longest_s = 86'400;
    const auto preemptions = governed.facts ? governed.facts->preemptions : 0;
    const auto further = preemptions - contract.reclaim.max_preemptions;
    if (preemptions == 0 || further < 0 || governed.job->het_job_id != 0 || governed.would_claim.empty()) return 0;
    const bool fits_guarantee = std::all_of(governed.would_claim.begin(), governed.would_claim.end(), [&](const auto& one) {
        const auto capacity = contract.capacity.find(one.first);
        return capacity != contract.capacity.end() && one.second <= capacity->second.guaranteed;
    });
    const auto pause_s = further < 11 ? std::min(longest_s, first_s << further) : longest_s;
    return fits_guarantee ? std::numeric_limits<std::int64_t>::max() : governed.facts->last_preempted_s + pause_s;
}

bool rests_from_borrowing(const Contract& contract, const GovernedJob& governed, std::int64_t now_s) {
    return now_s < borrows_again_s(contract, governed);
}

bool may_be_given(const Planning& planning, const ContractClaims& claims, const PoolLoans& loans,
                  const GovernedJob& governed, JobClass to) {
    const auto& contract = *planning.contract_in_force(governed);
    const auto& ask = governed.would_claim;
    if (!planning.within_budget(contract, governed, to)) return false;
    const bool is_release = governed.cls == JobClass::queued;
    if (is_release && beyond_member_limit(contract, claims, governed.job->uid, ask)) return false;
    if (to == JobClass::guaranteed) return !beyond_headroom(contract, claims, ask);
    if (!is_release || ask.empty()) return is_release;
    return may_borrow(contract, governed.job->type, governed.job->requeueable) &&
           !rests_from_borrowing(contract, governed, planning.now_s) && !beyond_borrow_limit(contract, claims, ask) &&
           !beyond_lend_limits(loans, contract, claims, ask);
}

bool may_be_given(Planning& planning, const GovernedJob& governed, JobClass to) {
    return may_be_given(planning, planning.claims[governed.contract], planning.loans_of(planning.pool_of(governed)), governed, to);
}

std::optional<JobClass> class_for(Planning& planning, const GovernedJob& governed) {
    if (!governed.would_claim.empty() && may_be_given(planning, governed, JobClass::guaranteed)) return JobClass::guaranteed;
    return may_be_given(planning, governed, JobClass::borrowed) ? std::optional(JobClass::borrowed) : std::nullopt;
}

void give(Planning& planning, const GovernedJob& governed, JobClass to, std::optional<std::uint32_t> task) {
    const auto& pool = planning.pool_of(governed);
    const auto& contract = *planning.contract_in_force(governed);
    auto& claims = planning.claims[governed.contract];
    Action action;
    action.kind = governed.cls == JobClass::queued ? ActionKind::release : ActionKind::promote;
    action.job_id = governed.job->job_id;
    action.task = task;
    action.contract = governed.contract;
    action.from = governed.cls;
    action.to = to;
    action.gpus = governed.would_claim;
    action.partition = to == JobClass::guaranteed ? pool.partition : pool.lend_partition;
    action.site_factor = site_factor(planning.policy.config(), contract, to, claims, governed.would_claim);
    const bool own_limit = std::any_of(action.gpus.begin(), action.gpus.end(), [&](const auto& one) {
        const auto capacity = contract.capacity.find(one.first);
        return capacity != contract.capacity.end() && capacity->second.borrow_limit;
    });
    action.reason = to == JobClass::guaranteed ? Reason::headroom : own_limit ? Reason::borrow_limit : Reason::lend_limit;
    if (is_parked(governed.job->begin_s)) action.begin_s = std::max(own_begin(governed.job->begin_s), planning.now_s);
    action.user_hold = governed.cls == JobClass::queued && governed.facts && governed.facts->user_wants_hold;
    planning.add(std::move(action));
    move_claim(claims, governed, to);
    planning.note_claims(governed.contract);
    const auto idle = planning.idle.find(pool.partition);
    if (to == JobClass::guaranteed && idle != planning.idle.end()) add(idle->second, governed.would_claim, -1);
}

bool is_movable(const GovernedJob& governed) {
    if (governed.at_rest || (governed.facts && governed.facts->cls == JobClass::exempt)) return false;
    return governed.job->state == JobState::pending && governed.job->type != WorkloadType::cron &&
           !governed.throttle_is_off();
}

void move_claim(ContractClaims& claims, const GovernedJob& governed, JobClass to) {
    if (governed.cls != JobClass::queued)
        add(governed.cls == JobClass::borrowed ? claims.borrowed : claims.guaranteed, governed.claim, -1);
    auto& members = claims.by_member[governed.job->uid];
    add(members, governed.claim, -1);
    if (to == JobClass::queued) return;
    add(members, governed.would_claim);
    add(to == JobClass::guaranteed ? claims.guaranteed : claims.borrowed, governed.would_claim);
}

Action queueing_of(const Planning& planning, const GovernedJob& governed, ActionKind kind, Reason why) {
    const auto& job = *governed.job;
    const bool user_wants_hold = job.hold == Hold::user || (governed.facts && governed.facts->user_wants_hold);
    Action action;
    action.kind = kind;
    action.job_id = job.job_id;
    action.contract = governed.contract;
    action.from = governed.cls;
    action.to = JobClass::queued;
    action.partition = planning.pool_of(governed).lend_partition;
    action.reason = why;
    if (job.dependent && !user_wants_hold) action.begin_s = parked(job.begin_s);
    return action;
}

}  // namespace accord
