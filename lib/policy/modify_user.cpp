// SPDX-License-Identifier: GPL-2.0-or-later
// What stays with a job for good, and what changes within its contract.
#include "policy/modify_user.hpp"

#include <fmt/format.h>

#include "policy/authorize.hpp"
#include "policy/budget.hpp"
#include "policy/messages.hpp"
#include "policy/scope_path.hpp"
#include "policy/widen.hpp"

namespace accord {

namespace {

using Objection = std::optional<Decision>;

Objection object_to_account(const Judgement& judgement) {
    const auto& account = judgement.change().account;
    if (!account || lower_case(*account) == lower_case(judgement.job.account)) return {};
    return rejected(judgement, Reason::immutable,
                    fmt::format("{} cannot move from account {} to {}, since its grant is for the first: cancel and "
                                "submit again with --account={}; ask {}",
                                judgement.job_text(), judgement.job.account, printable(*account), printable(*account),
                                judgement.whom()));
}

Objection object_to_comment(const Judgement& judgement) {
    const auto& comment = judgement.change().admin_comment;
    if (!comment || *comment == judgement.job.admin_comment) return {};
    return rejected(judgement, Reason::immutable,
                    fmt::format("{}: its admin_comment names its decision and is not to be changed; ask {}",
                                judgement.job_text(), judgement.whom()));
}

Objection object_to_partition(const Judgement& judgement) {
    const auto& partition = judgement.change().partition;
    if (!partition || *partition == judgement.job.partition) return {};
    if (is_queued(judgement))
        return rejected(judgement, Reason::queued,
                        fmt::format("{} is queued until there is room for {} and changes its partition then: leave it, "
                                    "or cancel and submit again; ask {}",
                                    judgement.job_text(), contract_key(judgement.job, *judgement.place.pool),
                                    judgement.whom()));
    const auto target = place_of(judgement.policy.config(), *partition);
    if (judgement.place && target && target.pool == judgement.place.pool)
        return rejected(judgement, Reason::immutable,
                        fmt::format("{} moves between {} and {} by itself, as its contract has room: leave it; ask {}",
                                    judgement.job_text(), target.pool->partition, target.pool->lend_partition,
                                    judgement.whom()));
    return rejected(judgement, Reason::immutable,
                    fmt::format("{} cannot move from partition {} to {}, since it was judged for the first: cancel and "
                                "submit again with --partition={}; ask {}",
                                judgement.job_text(), judgement.job.partition, printable(*partition),
                                target ? target.pool->partition : printable(*partition), judgement.whom()));
}

Objection object_to_release(const Judgement& judgement) {
    const auto priority = judgement.change().priority;
    if (priority != PriorityChange::release && priority != PriorityChange::set) return {};
    if (!is_queued(judgement)) return {};
    auto decision = rejected(judgement, Reason::queued,
                             fmt::format("{} is queued until there is room for {} and is released then: leave it, or "
                                         "cancel and submit a smaller one; ask {}",
                                         judgement.job_text(), contract_key(judgement.job, *judgement.place.pool),
                                         judgement.whom()));
    if (priority == PriorityChange::release && is_owners(judgement)) decision.user_hold = false;
    return decision;
}

/// R5: while the contract's budget is used up a job with GPUs does not start by its user's release.
Objection object_to_spending(const Judgement& judgement, const Contract& terms) {
    const auto budget = standing_of(terms, judgement.ledger.base().budgets, judgement.now_s);
    const bool binds = budget.limit == BudgetLimit::reject ||
                       (budget.limit == BudgetLimit::borrow_only && !judgement.place.lent);
    if (!binds || maxima(gpus_of(judgement.job, *judgement.place.pool, judgement.ledger.shape())).empty()) return {};
    return rejected(judgement, Reason::budget_exhausted,
                    fmt::format("{} is {} and stays held: {}: release it then{}, or ask {}", judgement.job_text(),
                                judgement.place.lent ? "borrowed" : "guaranteed", budget_text(budget),
                                budget.limit == BudgetLimit::reject ? "" : ", or cancel and submit again, to borrow",
                                terms.owners.cost.empty() ? judgement.whom() : terms.owners.cost));
}

/// A job that its user has held since it was admitted keeps its claim, and starts by its user's release alone: what keeps
/// new jobs from starting whatever is free keeps it as well.
Objection object_to_start(const Judgement& judgement) {
    const auto& job = judgement.job;
    const bool starts = judgement.change().priority == PriorityChange::release && job.hold != Hold::none;
    const auto* contract = judgement.contract();
    if (!starts || job.state != JobState::pending || contract == nullptr) return {};
    if (contract->active_at(judgement.now_s)) return object_to_spending(judgement, *contract->contract);
    return rejected(judgement, Reason::not_active,
                    fmt::format("{} stays held, since contract {} is not in force: release it when it is again, or ask {}",
                                judgement.job_text(), contract->contract->key(), judgement.whom()));
}

Objection object_to_begin(const Judgement& judgement) {
    const auto& job = judgement.job;
    if (!judgement.change().begin || !is_parked(job.begin_s) || !is_queued(judgement)) return {};
    return rejected(judgement, Reason::queued,
                    fmt::format("{} is queued until its dependency is met and there is room for {}, and gets its begin time "
                                "then: leave it, or cancel and submit again; ask {}",
                                judgement.job_text(), contract_key(job, *judgement.place.pool), judgement.whom()));
}

Objection object_to_paths(const Judgement& judgement) {
    const auto* contract = judgement.contract();
    if (contract == nullptr) return {};
    const auto& job = judgement.job;
    const auto& change = judgement.change();
    if (!change.names_path()) return {};
    const bool script = job.type == WorkloadType::batch || job.type == WorkloadType::array;
    // All of them: a working directory moves the others where they are relative to it.
    const JobPaths paths{change.work_dir.value_or(job.work_dir), change.std_out.value_or(job.std_out),
                         change.std_err.value_or(job.std_err), change.std_in.value_or(job.std_in), script};
    const auto breach = scope_breach(contract->contract->filesystem, paths);
    if (!breach) return {};
    return rejected(judgement, Reason::scope_path,
                    fmt::format("{}: {}: name a path within contract {}; ask {}", judgement.job_text(), breach->text(),
                                contract->contract->key(), judgement.whom()));
}

constexpr Objection (*objections[])(const Judgement&) = {
    object_to_account, object_to_comment, object_to_partition, object_to_release, object_to_start, object_to_begin,
    object_to_paths,
};

/// The owner's hold of a queued job is lost by Slurm once accordd's own is on it: it is kept on record.
Decision kept_wish(const Judgement& judgement) {
    auto decision = blank(judgement);
    decision.verdict = Verdict::queued;
    decision.cls = JobClass::queued;
    decision.user_hold = true;
    decision.message = fmt::format("accord: {} is to stay held when its contract has room", judgement.job_text());
    return decision;
}

}  // namespace

std::optional<Decision> judge_user(const Judgement& judgement) {
    for (const auto objection : objections)
        if (auto decision = objection(judgement)) return decision;
    auto decision = judge_asks(judgement);
    const bool wishes_hold =
        judgement.change().priority == PriorityChange::hold && is_queued(judgement) && is_owners(judgement);
    if (!wishes_hold || (decision && !decision->allows())) return decision;
    if (!decision) return kept_wish(judgement);
    decision->user_hold = true;
    return decision;
}

}  // namespace accord
