// SPDX-License-Identifier: GPL-2.0-or-later
// What one pass of planning looks at and has given away so far.
#include "policy/planning.hpp"

#include <utility>

#include "policy/classify.hpp"
#include "policy/governed.hpp"

namespace accord {

void Planning::add(Action action) {
    acted_on.emplace(action.job_id, action.to);
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
    const auto* found = policy.contract(governed.contract);
    const bool in_force =
        found != nullptr && found->active_at(now_s) && shape.partition(pool_of(governed).partition) != nullptr;
    return in_force ? found->contract.get() : nullptr;
}

bool Planning::within_budget(const Contract& contract, const GovernedJob& governed, JobClass to) const {
    if (governed.would_claim.empty()) return true;
    const auto limit = standing_of(contract, budgets, now_s).limit;
    return limit == BudgetLimit::none || (limit == BudgetLimit::borrow_only && to == JobClass::borrowed);
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
