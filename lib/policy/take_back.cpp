// SPDX-License-Identifier: GPL-2.0-or-later
// Pending jobs that lose what they were given: of contracts out of force (R19), of guarantees that shrank, and those that
// Slurm made pending again after their claims had gone to others.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "policy/classify.hpp"
#include "policy/planning.hpp"

namespace accord {

namespace {

bool is_exempt(const GovernedJob& governed) { return governed.facts && governed.facts->cls == JobClass::exempt; }

// R19.

/// A revoked contract's jobs are cancelled once they are held: so none is cancelled that has just started. A scrontab job
/// cannot be held, and would come again and again.
std::optional<Action> stop_of(const Planning& planning, const GovernedJob& governed, bool revoked) {
    const auto& job = *governed.job;
    if (job.state != JobState::pending || governed.at_rest || is_exempt(governed)) return std::nullopt;
    const bool cancels = revoked && (job.type == WorkloadType::cron || (governed.cls == JobClass::queued && job.is_kept()));
    if (cancels) {
        auto action = queueing_of(planning, governed, ActionKind::cancel, Reason::not_active);
        action.begin_s.reset();
        action.partition = job.partition;
        return action;
    }
    if (!is_movable(governed) || governed.cls == JobClass::queued) return std::nullopt;
    return queueing_of(planning, governed, ActionKind::hold, Reason::not_active);
}

// Claims that are too many.

/// Slurm lets a user requeue a job that has ended, and asks nobody (_job_requeue_op, 22.05): it is pending again in the
/// place that it had. Its start is put off for longer than a pass takes (batch_requeue_fini).
bool may_be_revived(const GovernedJob& governed) {
    return governed.job->restarts != 0 && governed.cls != JobClass::queued && !governed.claim.empty();
}

/// A pending guaranteed job that the plugin let in: its contract's guarantee may have shrunk since.
bool may_outlive_guarantee(const GovernedJob& governed) {
    return governed.cls == JobClass::guaranteed && governed.facts && !governed.claim.empty();
}

bool beyond_guarantee(const Contract& contract, const ContractClaims& claims, const GpuVector& of) {
    return std::any_of(of.begin(), of.end(), [&](const auto& one) {
        const auto capacity = contract.capacity.find(one.first);
        return amount_of(claims.guaranteed, one.first) >
               (capacity == contract.capacity.end() ? 0 : capacity->second.guaranteed);
    });
}

/// A contract that may claim too much, by all that is counted, and what its listed jobs claim. A promotion is counted in
/// both classes until the next list, so that only the list can tell.
struct Suspect {
    const Contract* contract = nullptr;
    ContractClaims listed;
    std::vector<const GovernedJob*> pending;  ///< what may be taken back
    bool throttle_is_off = false;             ///< one of its arrays counts wider than it is to be
};
using Suspects = std::map<std::string, Suspect>;

/// R14 of each pool with a lend limit, by what the list shows.
class ListedLoans {
public:
    explicit ListedLoans(const Planning& planning) : planning_(planning) {}

    [[nodiscard]] PoolLoans& of(const PoolConfig& pool) {
        const auto known = loans_.find(pool.partition);
        if (known != loans_.end()) return known->second;
        PoolLoans loans(planning_.policy, pool, planning_.shape, planning_.now_s);
        if (loans.any_limit()) {
            if (claims_.empty()) claims_ = claims_of(planning_.jobs);
            loans = loans_by(planning_.policy, pool, planning_.shape, planning_.now_s, claims_);
        }
        return loans_.emplace(pool.partition, std::move(loans)).first->second;
    }

private:
    const Planning& planning_;
    std::unordered_map<std::string, ContractClaims> claims_;
    std::map<std::string, PoolLoans> loans_;
};

/// Contracts that claim more than their guarantee by all that is counted, and those with jobs that came again.
Suspects suspects_of(const Planning& planning) {
    Suspects suspects;
    for (const auto& [key, claims] : planning.claims) {
        const auto* found = planning.policy.contract(key);
        if (found != nullptr && found->active_at(planning.now_s) && beyond_guarantee(*found->contract, claims, claims.guaranteed))
            suspects[key].contract = found->contract.get();
    }
    for (const auto& governed : planning.jobs)
        if (may_be_revived(governed) && is_movable(governed))
            if (const auto* contract = planning.contract_in_force(governed)) suspects[governed.contract].contract = contract;
    return suspects;
}

void list_claims(const Planning& planning, Suspects& suspects) {
    for (const auto& governed : planning.jobs) {
        const auto found = suspects.find(governed.contract);
        if (found == suspects.end()) continue;
        auto& suspect = found->second;
        add_claim(suspect.listed, {governed.contract, governed.job->uid, governed.cls, governed.claim});
        suspect.throttle_is_off = suspect.throttle_is_off || governed.throttle_is_off();
        if (const auto action = planning.acted_on.find(governed.job->job_id); action != planning.acted_on.end())
            move_claim(suspect.listed, governed, action->second);
        else if (is_movable(governed) && (may_be_revived(governed) || may_outlive_guarantee(governed)))
            suspect.pending.push_back(&governed);
    }
}

/// The guarantee is filled by priority, then job id; what came again comes last.
void order_from_tail(std::vector<const GovernedJob*>& pending) {
    std::sort(pending.begin(), pending.end(), [](const auto* left, const auto* right) {
        const auto key = [](const GovernedJob& one) {
            return std::tuple(one.job->restarts == 0, one.job->priority, ~one.job->job_id);
        };
        return key(*left) < key(*right);
    });
}

Action demotion_of(const Planning& planning, const GovernedJob& governed, JobClass to, Reason why) {
    auto action = queueing_of(planning, governed, ActionKind::demote, why);
    if (to == JobClass::queued) return action;
    action.to = to;
    action.begin_s.reset();
    action.gpus = governed.claim;
    action.site_factor = site_factor(planning.policy.config(), *planning.contract_in_force(governed), to,
                                     planning.claims.at(governed.contract), {});
    return action;
}

bool has_excess(const Contract& contract, const ContractClaims& claims, const GpuVector& of) {
    return std::any_of(of.begin(), of.end(), [&](const auto& one) { return excess_of(contract, claims, one.first) > 0; });
}

/// Where a guaranteed job goes that is beyond the guarantee. Its claim is among `listed`, so that its excess is, too.
JobClass class_beyond_guarantee(const Planning& planning, const GovernedJob& governed, const Suspect& suspect,
                                const PoolLoans& loans) {
    const auto& job = *governed.job;
    const bool borrows = job.het_job_id == 0 && !closed(loans, governed.claim) && may_borrow(*suspect.contract, job.type, job.requeueable) &&
                         planning.within_budget(*suspect.contract, governed, JobClass::borrowed) &&
                         !beyond_contract(*suspect.contract, suspect.listed, job.uid, JobClass::borrowed, governed.claim);
    return borrows ? JobClass::borrowed : JobClass::queued;
}

/// The class that the job must go to, if it claims too much where it is.
std::optional<JobClass> class_taken_to(const Planning& planning, const GovernedJob& governed, const Suspect& suspect,
                                       const PoolLoans& loans) {
    if (governed.cls == JobClass::guaranteed && beyond_guarantee(*suspect.contract, suspect.listed, governed.claim))
        return class_beyond_guarantee(planning, governed, suspect, loans);
    if (!may_be_revived(governed)) return std::nullopt;
    const bool unlent = governed.cls == JobClass::borrowed && overdrawn(loans, governed.claim) &&
                        has_excess(*suspect.contract, suspect.listed, governed.claim);
    const bool beyond = unlent || beyond_contract(*suspect.contract, suspect.listed, governed.job->uid, governed.cls,
                                                  governed.claim);
    return beyond ? std::optional(JobClass::queued) : std::nullopt;
}

void take_from(Planning& planning, Suspect& suspect, ListedLoans& listed_loans) {
    if (suspect.throttle_is_off) return;
    order_from_tail(suspect.pending);
    for (const auto* governed : suspect.pending) {
        auto& loans = listed_loans.of(planning.pool_of(*governed));
        const auto to = class_taken_to(planning, *governed, suspect, loans);
        if (!to) continue;
        planning.add(demotion_of(planning, *governed, *to, Reason::headroom));
        move_claim(suspect.listed, *governed, *to);
        if (loans.any_limit()) loans.set(planning.policy, governed->contract, suspect.listed);
    }
}

/// Why a job that was made pending again must not start anew as what it is: its budget is used up (R5), or it has been
/// preempted too often.
std::optional<Reason> stands_in_its_way(const Planning& planning, const GovernedJob& governed) {
    const auto* contract = planning.contract_in_force(governed);
    if (contract == nullptr) return std::nullopt;
    if (!planning.within_budget(*contract, governed, governed.cls)) return Reason::budget_exhausted;
    const bool rests = governed.cls == JobClass::borrowed && rests_from_borrowing(*contract, governed, planning.now_s);
    return rests ? std::optional(Reason::headroom) : std::nullopt;
}

void take_revived(Planning& planning) {
    for (const auto& governed : planning.jobs) {
        if (!may_be_revived(governed) || !is_movable(governed) || planning.acted_on.contains(governed.job->job_id)) continue;
        if (const auto why = stands_in_its_way(planning, governed))
            planning.add(demotion_of(planning, governed, JobClass::queued, *why));
    }
}

}  // namespace

void stop_jobs(Planning& planning) {
    std::map<std::string, bool> stopped;  // whether it is revoked
    for (const auto& [key, claims] : planning.claims) {
        const auto* found = planning.policy.contract(key);
        if (found != nullptr && !found->active_at(planning.now_s))
            stopped.emplace(key, found->state == ContractState::revoked);
    }
    if (stopped.empty()) return;
    for (const auto& governed : planning.jobs) {
        const auto found = stopped.find(governed.contract);
        if (found == stopped.end() || planning.shape.partition(planning.pool_of(governed).partition) == nullptr) continue;
        if (auto action = stop_of(planning, governed, found->second)) planning.add(std::move(*action));
    }
}

void take_back(Planning& planning) {
    take_revived(planning);
    auto suspects = suspects_of(planning);
    if (suspects.empty()) return;
    list_claims(planning, suspects);
    ListedLoans loans(planning);
    for (auto& [key, suspect] : suspects) take_from(planning, suspect, loans);
}

}  // namespace accord
