// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's pass: candidates in R16's order, each claiming what the next one cannot have.
#include "policy/plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "policy/candidates.hpp"
#include "policy/governed.hpp"
#include "policy/names.hpp"
#include "policy/planning.hpp"

namespace accord {

namespace {

constexpr Named<ActionKind> action_kinds[] = {
    {ActionKind::promote, "promote"}, {ActionKind::release, "release"}, {ActionKind::hold, "hold"},
    {ActionKind::park, "park"},       {ActionKind::demote, "demote"},   {ActionKind::cancel, "cancel"},
    {ActionKind::throttle, "throttle"}};

/// R7: Slurm cannot preempt for two components of one job.
bool starts_without_reclaim(Planning& planning, const Candidate& candidate) {
    std::map<std::string, GpuVector> asked;
    for (const auto* part : candidate.parts) add(asked[planning.pool_of(*part).partition], part->would_claim);
    return std::all_of(asked.begin(), asked.end(), [&](const auto& entry) {
        const auto& idle = planning.idle_in(*planning.policy.config().pool_of(entry.first));
        return std::all_of(entry.second.begin(), entry.second.end(),
                           [&](const auto& one) { return one.second <= amount_of(idle, one.first); });
    });
}

/// Whether the components of a heterogeneous job fit together, each beside those before it.
bool fit_together(Planning& planning, const Candidate& candidate, JobClass to) {
    std::map<std::string, ContractClaims> trial;
    std::map<std::string, PoolLoans> loans;
    for (const auto* part : candidate.parts) {
        const auto& pool = planning.pool_of(*part);
        auto& theirs = trial.try_emplace(part->contract, planning.claims[part->contract]).first->second;
        auto& lent = loans.try_emplace(pool.partition, planning.loans_of(pool)).first->second;
        if (!may_be_given(planning, theirs, lent, *part, to)) return false;
        move_claim(theirs, *part, to);
        if (lent.any_limit()) lent.set(planning.policy, part->contract, theirs);
    }
    return true;
}

/// The class that the components can have together, if it is better than the one they have.
std::optional<JobClass> class_together(Planning& planning, const Candidate& candidate) {
    const auto parts = candidate.parts;
    if (candidate.among) return fit_together(planning, candidate, *candidate.among) ? candidate.among : std::nullopt;
    const bool asks = std::any_of(parts.begin(), parts.end(), [](const auto* part) { return !part->would_claim.empty(); });
    if (asks && fit_together(planning, candidate, JobClass::guaranteed))
        return starts_without_reclaim(planning, candidate) ? std::optional(JobClass::guaranteed) : std::nullopt;
    return fit_together(planning, candidate, JobClass::borrowed) ? std::optional(JobClass::borrowed) : std::nullopt;
}

/// The class that the candidate can have now, if it is better than the one it has.
std::optional<JobClass> better_class(Planning& planning, const Candidate& candidate) {
    const auto parts = candidate.parts;
    const bool moves = candidate.whole &&
                       std::all_of(parts.begin(), parts.end(), [&](const auto* part) { return may_move(planning, *part); });
    if (!moves) return std::nullopt;
    return candidate.is_het() ? class_together(planning, candidate) : class_for(planning, candidate.first());
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
    if (const auto to = better_class(planning, candidate)) {
        for (const auto* part : candidate.parts) give(planning, *part, *to);
        return;
    }
    const bool splits = !candidate.is_het() && may_move(planning, candidate.first());
    if (splits) split_array(planning, candidate.first());
    for (const auto* part : candidate.parts)
        if (part->cls == JobClass::queued && !planning.acted_on.contains(part->job->job_id))
            if (auto keeping = keeping_for(*part, planning.pool_of(*part))) planning.add(std::move(*keeping));
}

}  // namespace

const char* to_string(ActionKind kind) { return name_of(action_kinds, kind); }

std::vector<Action> plan(const Policy& policy, const ClusterShape& shape, const std::vector<GovernedJob>& jobs,
                         std::unordered_map<std::string, ContractClaims> claims, const BudgetUses& budgets,
                         std::int64_t now_s) {
    if (policy.config().mode == Mode::observe) return {};
    Planning planning{policy, shape, jobs, budgets, now_s, std::move(claims), throttles(jobs), {}, {}, {}, {}};
    stop_jobs(planning);
    Candidates candidates(planning);
    while (const auto candidate = candidates.next()) plan_for(planning, *candidate);
    send_back(planning);
    take_back(planning);
    return std::move(planning.actions);
}

}  // namespace accord
