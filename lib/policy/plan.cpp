// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's pass: candidates in R16's order, each claiming what the next one cannot have.
#include "policy/plan.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "policy/classify.hpp"
#include "policy/governed.hpp"
#include "policy/names.hpp"
#include "policy/planning.hpp"

namespace accord {

namespace {

constexpr Named<ActionKind> action_kinds[] = {
    {ActionKind::promote, "promote"}, {ActionKind::release, "release"}, {ActionKind::hold, "hold"},
    {ActionKind::park, "park"},
    {ActionKind::demote, "demote"},
    {ActionKind::cancel, "cancel"},
    {ActionKind::throttle, "throttle"}};

/// A pending job that might be promoted or released, or the components of a heterogeneous one that might be so together.
struct Candidate {
    std::span<const GovernedJob* const> parts;
    std::optional<JobClass> among;  ///< R7: the class that other components of it have already
    std::int64_t factor = 0;        ///< R16
    bool whole = true;              ///< false: some of its components are no longer pending

    [[nodiscard]] bool is_het() const { return parts.front()->job->het_job_id != 0; }
    /// R16, for sorting.
    [[nodiscard]] auto order() const {
        const auto& first = *parts.front();
        return std::tuple(-factor, first.facts ? first.facts->decided_s : first.job->submit_s, first.job->job_id);
    }
};

bool awaits_promotion(const GovernedJob& governed) {
    return governed.cls == JobClass::borrowed && governed.job->hold == Hold::none && is_movable(governed);
}

bool awaits_move(const GovernedJob& governed) {
    return (governed.cls == JobClass::queued && is_movable(governed)) || awaits_promotion(governed);
}

/// R5: its date, its dependency, or a hold that its user submitted it with is still before it.
bool is_eligible(const GovernedJob& governed, std::int64_t now_s) {
    const auto& facts = governed.facts;
    return governed.job->eligible_at(now_s) && !(facts && facts->not_eligible && facts->user_wants_hold);
}

/// Pointers to the jobs that may be moved, those of one heterogeneous job side by side.
std::vector<const GovernedJob*> movable_jobs(const std::vector<GovernedJob>& jobs) {
    std::vector<const GovernedJob*> movable, components;
    for (const auto& governed : jobs)
        if (awaits_move(governed)) (governed.job->het_job_id == 0 ? movable : components).push_back(&governed);
    std::sort(components.begin(), components.end(), [](const auto* left, const auto* right) {
        return std::pair(left->job->het_job_id, left->job->job_id) < std::pair(right->job->het_job_id, right->job->job_id);
    });
    movable.insert(movable.end(), components.begin(), components.end());
    return movable;
}

/// R7: what the components of one heterogeneous job have become so far.
struct HetState {
    bool guaranteed = false, borrowed = false, queued = false, all_pending = true;

    /// The class that the others must follow; none while all have the same.
    [[nodiscard]] std::optional<JobClass> ahead() const {
        if (guaranteed) return JobClass::guaranteed;
        return borrowed && queued ? std::optional(JobClass::borrowed) : std::nullopt;
    }
    [[nodiscard]] bool is_behind(const GovernedJob& governed) const {
        return guaranteed || !queued || governed.cls == JobClass::queued;
    }
};

std::unordered_map<std::uint32_t, HetState> het_states(const std::vector<GovernedJob>& jobs) {
    std::unordered_map<std::uint32_t, HetState> states;
    for (const auto& governed : jobs) {
        if (governed.job->het_job_id == 0) continue;
        auto& state = states[governed.job->het_job_id];
        state.guaranteed = state.guaranteed || governed.cls == JobClass::guaranteed;
        state.borrowed = state.borrowed || governed.cls == JobClass::borrowed;
        state.queued = state.queued || governed.cls == JobClass::queued;
        state.all_pending = state.all_pending && governed.job->state == JobState::pending;
    }
    return states;
}

Candidate candidate_of_het(std::span<const GovernedJob*> components, const HetState& state) {
    const auto rest = std::stable_partition(components.begin(), components.end(),
                                            [&](const auto* one) { return state.is_behind(*one); });
    return {{components.begin(), rest}, state.ahead(), 0, state.all_pending};
}

/// The end of what belongs to the job at `first`.
auto end_of_job(std::vector<const GovernedJob*>::iterator first, std::vector<const GovernedJob*>::iterator end) {
    const auto het_job_id = (*first)->job->het_job_id;
    if (het_job_id == 0) return first + 1;
    return std::find_if(first, end, [&](const auto* one) { return one->job->het_job_id != het_job_id; });
}

std::vector<Candidate> candidates(const Planning& planning, std::vector<const GovernedJob*>& movable) {
    const auto states = het_states(planning.jobs);
    std::vector<Candidate> found;
    for (auto first = movable.begin(); first != movable.end();) {
        const auto last = end_of_job(first, movable.end());
        const auto state = states.find((*first)->job->het_job_id);
        auto candidate = state == states.end() ? Candidate{{first, last}, {}, 0, true}
                                               : candidate_of_het({first, last}, state->second);
        first = last;
        if (candidate.parts.empty()) continue;
        if (const auto* contract = planning.contract_in_force(*candidate.parts.front()))
            candidate.factor = site_factor(planning.policy.config(), *contract, JobClass::guaranteed, {}, {});
        found.push_back(candidate);
    }
    std::sort(found.begin(), found.end(),
              [](const auto& left, const auto& right) { return left.order() < right.order(); });
    return found;
}

/// GPUs of available nodes that no job holds, and none that is about to start claims.
GpuVector idle_gpus(const Planning& planning, const PoolConfig& pool) {
    auto idle = planning.shape.partition(pool.partition)->available_capacity();
    for (const auto& governed : planning.jobs) {
        const auto& job = *governed.job;
        if (place_of(planning.policy.config(), job.partition).pool != &pool) continue;
        const bool starts = governed.cls == JobClass::guaranteed && job.hold == Hold::none &&
                            job.eligible_at(planning.now_s);
        if (job.holds_resources() || starts)
            add(idle, job.allocated.empty() ? governed.claim : job.allocated, -1);
    }
    return idle;
}

/// R7: Slurm cannot preempt for two components of one job.
bool starts_without_reclaim(Planning& planning, const Candidate& candidate) {
    std::map<std::string, GpuVector> asked;
    for (const auto* part : candidate.parts) add(asked[planning.pool_of(*part).partition], part->would_claim);
    return std::all_of(asked.begin(), asked.end(), [&](const auto& entry) {
        const auto& [partition, gpus] = entry;
        auto known = planning.idle.find(partition);
        if (known == planning.idle.end())
            known = planning.idle.emplace(partition, idle_gpus(planning, *planning.policy.config().pool_of(partition))).first;
        return std::all_of(gpus.begin(), gpus.end(), [&](const auto& one) {
            return one.second <= amount_of(known->second, one.first);
        });
    });
}

bool fits(const Contract& contract, const ContractClaims& claims, const PoolLoans& loans, const GovernedJob& governed,
          JobClass to) {
    const auto& ask = governed.would_claim;
    const bool is_release = governed.cls == JobClass::queued;
    if (is_release && beyond_member_limit(contract, claims, governed.job->uid, ask)) return false;
    if (to == JobClass::guaranteed) return !beyond_headroom(contract, claims, ask);
    if (!is_release || ask.empty()) return is_release;
    return may_borrow(contract, governed.job->type, governed.job->requeueable) &&
           !beyond_borrow_limit(contract, claims, ask) && !beyond_lend_limits(loans, contract, claims, ask);
}

/// Whether the components fit together, each beside those before it.
bool fit_together(Planning& planning, const Candidate& candidate, JobClass to) {
    std::map<std::string, ContractClaims> trial;
    std::map<std::string, PoolLoans> loans;
    for (const auto* part : candidate.parts) {
        const auto& pool = planning.pool_of(*part);
        auto& theirs = trial.try_emplace(part->contract, planning.claims[part->contract]).first->second;
        auto& lent = loans.try_emplace(pool.partition, planning.loans_of(pool)).first->second;
        const auto& contract = *planning.contract_in_force(*part);
        if (!planning.within_budget(contract, *part, to) || !fits(contract, theirs, lent, *part, to)) return false;
        move_claim(theirs, *part, to);
        lent.set(planning.policy, part->contract, theirs);
    }
    return true;
}

/// One job alone is tried without a copy of its contract's claims.
bool fits(Planning& planning, const Candidate& candidate, JobClass to) {
    if (candidate.parts.size() != 1) return fit_together(planning, candidate, to);
    const auto& part = *candidate.parts.front();
    const auto& contract = *planning.contract_in_force(part);
    return planning.within_budget(contract, part, to) &&
           fits(contract, planning.claims[part.contract], planning.loans_of(planning.pool_of(part)), part, to);
}

/// The class that the job can have now, if it is better than the one it has.
std::optional<JobClass> better_class(Planning& planning, const Candidate& candidate) {
    const auto parts = candidate.parts;
    const bool may_move = candidate.whole && std::all_of(parts.begin(), parts.end(), [&](const auto* part) {
        return is_eligible(*part, planning.now_s) && planning.contract_in_force(*part) != nullptr;
    });
    if (!may_move) return std::nullopt;
    if (candidate.among) return fits(planning, candidate, *candidate.among) ? candidate.among : std::nullopt;
    const bool asks = std::any_of(parts.begin(), parts.end(), [](const auto* part) { return !part->would_claim.empty(); });
    if (asks && fits(planning, candidate, JobClass::guaranteed)) {
        const bool starts = !candidate.is_het() || starts_without_reclaim(planning, candidate);
        return starts ? std::optional(JobClass::guaranteed) : std::nullopt;
    }
    return fits(planning, candidate, JobClass::borrowed) ? std::optional(JobClass::borrowed) : std::nullopt;
}

Action action_for(const Planning& planning, const GovernedJob& governed, JobClass to) {
    const auto& pool = planning.pool_of(governed);
    Action action;
    action.kind = governed.cls == JobClass::queued ? ActionKind::release : ActionKind::promote;
    action.job_id = governed.job->job_id;
    action.contract = governed.contract;
    action.from = governed.cls;
    action.to = to;
    action.gpus = governed.would_claim;
    action.partition = to == JobClass::guaranteed ? pool.partition : pool.lend_partition;
    action.site_factor = site_factor(planning.policy.config(), *planning.contract_in_force(governed), to,
                                     planning.claims.at(governed.contract), governed.would_claim);
    const bool own_limit = std::any_of(action.gpus.begin(), action.gpus.end(), [&](const auto& one) {
        const auto& capacity = planning.contract_in_force(governed)->capacity;
        return capacity.contains(one.first) && capacity.at(one.first).borrow_limit;
    });
    action.reason = to == JobClass::guaranteed ? Reason::headroom : own_limit ? Reason::borrow_limit : Reason::lend_limit;
    if (is_parked(governed.job->begin_s)) action.begin_s = std::max(own_begin(governed.job->begin_s), planning.now_s);
    action.user_hold = governed.cls == JobClass::queued && governed.facts && governed.facts->user_wants_hold;
    return action;
}

/// An administrator's hold in place of the user's, which its owner could lift; none where that would keep Slurm from
/// testing its dependency.
std::optional<Action> keeping_for(const GovernedJob& governed, const PoolConfig& pool) {
    const auto& job = *governed.job;
    const bool user_wants_hold = governed.facts && governed.facts->user_wants_hold;
    const bool park = job.dependent && !user_wants_hold;
    if (park ? job.hold == Hold::none : job.hold != Hold::user) return std::nullopt;
    Action action;
    action.kind = park ? ActionKind::park : ActionKind::hold;
    if (park) action.begin_s = parked(job.begin_s);
    action.job_id = governed.job->job_id;
    action.contract = governed.contract;
    action.to = JobClass::queued;
    action.partition = pool.lend_partition;
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
        if (!governed.throttle_is_off() || governed.at_rest) continue;
        const auto [known, is_new] = by_array.try_emplace(governed.job->array_job_id);
        if (is_new || governed.job->job_id == governed.job->array_job_id) known->second = throttle_for(governed);
    }
    std::vector<Action> actions;
    for (auto& [array, action] : by_array) actions.push_back(std::move(action));
    return actions;
}

/// What becomes of a candidate, if anything.
void plan_for(Planning& planning, const Candidate& candidate) {
    const auto to = better_class(planning, candidate);
    for (const auto* part : candidate.parts) {
        if (to) {
            planning.add(action_for(planning, *part, *to));
            move_claim(planning.claims[part->contract], *part, *to);
            planning.note_claims(part->contract);
            if (*to == JobClass::guaranteed)
                for (auto& [partition, idle] : planning.idle)
                    if (partition == planning.actions.back().partition) add(idle, part->would_claim, -1);
        } else if (part->cls == JobClass::queued && !planning.acted_on.contains(part->job->job_id)) {
            if (auto keeping = keeping_for(*part, planning.pool_of(*part))) planning.add(std::move(*keeping));
        }
    }
}

}  // namespace

const char* to_string(ActionKind kind) { return name_of(action_kinds, kind); }

std::vector<Action> plan(const Policy& policy, const ClusterShape& shape, const std::vector<GovernedJob>& jobs,
                         std::unordered_map<std::string, ContractClaims> claims, const BudgetUses& budgets,
                         std::int64_t now_s) {
    if (policy.config().mode == Mode::observe) return {};
    Planning planning{policy, shape, jobs, budgets, now_s, std::move(claims), throttles(jobs), {}, {}, {}};
    stop_jobs(planning);
    auto movable = movable_jobs(jobs);
    for (const auto& candidate : candidates(planning, movable)) plan_for(planning, candidate);
    take_back(planning);
    return std::move(planning.actions);
}

}  // namespace accord
