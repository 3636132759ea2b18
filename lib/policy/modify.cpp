// SPDX-License-Identifier: GPL-2.0-or-later
// R17: accordd's actions, other operators' changes and users' changes, each by their own rules.
#include "policy/modify.hpp"

#include <fmt/format.h>

#include "policy/classify.hpp"
#include "policy/judgement.hpp"
#include "policy/messages.hpp"
#include "policy/modify_user.hpp"
#include "policy/widen.hpp"

namespace accord {

namespace {

std::string caller(const Judgement& judgement) { return judgement.policy.user_name(judgement.modification.caller_uid); }

// accordd's own actions.

/// The throttle that an array's claim was counted with goes on record with it.
void give(Decision& decision, const JobView& job, GpuVector claim) {
    decision.claim = std::move(claim);
    if (job.array_job_id != 0 && !job.array_task_id) decision.throttle = throttle_of(job).value_or(0);
}

/// R7: an array's throttle put back to the one on record; it gives no claim.
Decision throttled(const Judgement& judgement, const ActionMark& mark) {
    auto decision = blank(judgement);
    decision.verdict = Verdict::admitted;
    decision.message = fmt::format("accord: {}: array throttle put back to {} by action {}", judgement.job_text(),
                                   *judgement.change().array_limit, mark.number);
    decision.rewrite.admin_comment = judgement.job.admin_comment;
    return decision;
}

bool only_throttles(const Change& change) {
    return change.array_limit && change.asks.size() == 1 && !change.partition &&
           change.priority == PriorityChange::none;
}

BudgetLimit budget_limit(const Judgement& judgement) {
    const auto* contract = judgement.contract();
    return contract == nullptr
               ? BudgetLimit::none
               : standing_of(*contract->contract, judgement.ledger.base().budgets, judgement.now_s).limit;
}

/// Why a job that asks for GPUs borrows.
Reason why_borrowed(const Judgement& judgement) {
    return budget_limit(judgement) == BudgetLimit::none ? Reason::headroom : Reason::budget_exhausted;
}

/// A job that is given less than it has: it goes back to the queue, or from the guarantee to what is lent.
bool is_demotion(const Judgement& judgement, JobClass to) {
    if (!judgement.place) return false;
    if (to == JobClass::borrowed) return !judgement.place.lent;
    return to == JobClass::queued && !(judgement.place.lent && judgement.job.is_kept());
}

/// Within a budget that is used up nothing of the class starts anew (R5).
bool beyond_budget(const Judgement& judgement, JobClass cls, const GpuVector& claim) {
    const auto limit = budget_limit(judgement);
    return !claim.empty() && (limit == BudgetLimit::reject || (limit != BudgetLimit::none && cls == JobClass::guaranteed));
}

/// R5, R11, R14, R19: a pending job loses what is not its contract's to give any more. Why one that borrows goes back to the
/// queue, accordd alone knows: how often it was preempted, and what waits behind it.
std::string staleness_of_demotion(const Judgement& judgement, JobClass to, const GpuVector& claim) {
    const auto* contract = judgement.contract();
    if (contract == nullptr) return "its contract is gone";
    const auto decision = decision_in_comment(judgement.job.admin_comment);
    const bool released_by_others =
        judgement.place.lent && decision && judgement.ledger.is_queued(decision->number, judgement.job.job_id);
    if (released_by_others) return "the job is not held";
    if (to == JobClass::queued && (judgement.place.lent || !contract->active_at(judgement.now_s))) return {};
    const auto& terms = *contract->contract;
    const auto& claims = judgement.ledger.of(terms.key());
    const auto& job = judgement.job;
    const bool revived = job.restarts != 0 && beyond_budget(judgement, JobClass::guaranteed, claim);
    if (!revived && !beyond_contract(terms, claims, job.uid, JobClass::guaranteed, claim)) return "its contract has room for it";
    if (to == JobClass::queued) return {};
    if (!may_borrow(terms, job.type, job.requeueable)) return "the job could not be requeued";
    if (beyond_budget(judgement, to, claim)) return "its contract's budget is used up";
    if (closed(judgement.loans(), claim)) return "nothing more is lent now";
    return beyond_contract(terms, claims, job.uid, to, claim) ? "its contract may not borrow as much" : "";
}

/// Why the action no longer fits what there is; empty when it does.
std::string staleness(const Judgement& judgement, JobClass to, const GpuVector& claim) {
    const auto& job = judgement.job;
    if (job.state != JobState::pending) return "the job is no longer pending";
    if (is_demotion(judgement, to)) return staleness_of_demotion(judgement, to, claim);
    if (!judgement.place.lent) return "the job is not in a lend partition";
    if (to != JobClass::guaranteed && !job.is_kept()) return "the job is not held";
    if (to == JobClass::queued) return {};
    const auto* contract = judgement.contract();
    if (contract == nullptr || !contract->active_at(judgement.now_s)) return "its contract is not active";
    const auto& terms = *contract->contract;
    const auto& claims = judgement.ledger.of(terms.key());
    if (beyond_budget(judgement, to, claim)) return "its contract's budget is used up";
    if (job.is_kept() && beyond_member_limit(terms, claims, job.uid, claim))
        return fmt::format("{} GPUs are the member's already", claimed_by(claims, job.uid));
    if (to == JobClass::guaranteed) {
        if (claim.empty() && job.het_job_id == 0) return "the job asks for no GPU";
        const auto scarce = beyond_headroom(terms, claims, claim);
        return scarce ? fmt::format("{} {} of headroom are left", headroom_of(terms, claims, *scarce), *scarce) : "";
    }
    if (claim.empty()) return {};  // R8
    if (!may_borrow(terms, job.type, job.requeueable)) return "the job could not be requeued";
    const auto scarce = beyond_borrow_limit(terms, claims, claim);
    if (!scarce && beyond_lend_limits(judgement.loans(), terms, claims, claim)) return "nothing more is lent now";
    return scarce ? fmt::format("{} {} of excess are claimed already", excess_of(terms, claims, *scarce), *scarce) : "";
}

Decision judge_action(const Judgement& judgement, const ActionMark& mark) {
    const auto& job = judgement.job;
    auto decision = blank(judgement);
    if (judgement.place) decision.gpus = gpus_of(job, *judgement.place.pool, judgement.ledger.shape());
    auto claim = judgement.place ? record_claim(job, decision.gpus, *judgement.place.pool) : GpuVector{};
    if (const auto stale = staleness(judgement, mark.to, claim); !stale.empty()) {
        decision.reason = Reason::stale;
        decision.message = refusal(fmt::format("job {}: action {} to {} is overtaken: {}",
                                               judgement.modification.job_name, mark.number, to_string(mark.to), stale),
                                   Reason::stale);
        return decision;
    }
    decision.verdict = Verdict::admitted;
    decision.cls = mark.to;
    if (mark.to == JobClass::borrowed) decision.reason = claim.empty() ? Reason::no_gpu : why_borrowed(judgement);
    decision.message = fmt::format("accord: {}: {} of {} by action {}", to_string(mark.to), describe(claim),
                                   decision.contract, mark.number);
    if (mark.to != JobClass::queued) give(decision, job, std::move(claim));
    else if (is_demotion(judgement, mark.to) && job.hold == Hold::user) decision.user_hold = true;
    decision.rewrite.admin_comment = job.admin_comment;
    return decision;
}

// Other operators: recorded and counted, not judged.

/// The class that the job will have after an operator's change, as far as partition and hold make one.
std::optional<JobClass> class_after(const Judgement& judgement) {
    const auto& change = judgement.change();
    const auto after = change.partition ? place_of(judgement.policy.config(), *change.partition) : judgement.place;
    if (!after) return std::nullopt;
    if (!after.lent) return JobClass::guaranteed;
    const bool freed = change.priority == PriorityChange::release || change.priority == PriorityChange::set;
    return is_queued(judgement) && !freed ? JobClass::queued : JobClass::borrowed;
}

/// The TRES strings of a pending job's record say what slurmctld holds, not what it was told in vain.
void keep_record_true(Decision& decision, const Judgement& judgement) {
    const auto& change = judgement.change();
    auto texts = held_texts(judgement.job.gpus, change.gpus, change.semantics);
    const bool asked = texts.tres_per_job == change.gpus.tres_per_job && texts.tres_per_node == change.gpus.tres_per_node &&
                       texts.tres_per_socket == change.gpus.tres_per_socket &&
                       texts.tres_per_task == change.gpus.tres_per_task;
    if (!asked) decision.rewrite.gpus = std::move(texts);
}

Decision recorded(const Judgement& judgement) {
    const auto& change = judgement.change();
    const auto after = class_after(judgement);
    // counted for where it goes, if it goes anywhere
    auto target = judgement;
    if (change.partition && after) target.place = place_of(judgement.policy.config(), *change.partition);
    auto decision = blank(target);
    decision.verdict = Verdict::admitted;
    decision.message = fmt::format("accord: job {} modified by {}", judgement.modification.job_name, caller(judgement));
    if (judgement.job.state != JobState::pending) return decision;
    if (!change.asks.empty()) keep_record_true(decision, judgement);
    if (!after) return decision;
    auto claim = claim_change(target);
    const bool moves = after != class_now(judgement);
    const auto tasks = more_tasks(target).value_or(0);
    decision.gpus = std::move(claim.gpus);
    if (!moves && ((claim.more.empty() && tasks == 0) || may_be_uncounted(judgement, *after))) return decision;
    decision.cls = after;
    if (after == JobClass::queued) return decision;
    if (moves)
        give(decision, judgement.job, std::move(claim.after));
    else
        decision.claim = tasks == 0 ? std::move(claim.more) : times(maxima(decision.gpus), tasks);
    return decision;
}

/// Of an ungoverned job only the move into a pool is refused.
std::optional<Decision> judge_arrival(const Judgement& judgement) {
    const auto target = place_of(judgement.policy.config(), *judgement.change().partition);
    return rejected(judgement, Reason::immutable,
                    fmt::format("{} was not judged for partition {}: cancel and submit it there; ask {}",
                                judgement.job_text(), target.pool->partition, judgement.whom()));
}

/// The job could not be read: what may matter is refused to users, and recorded of operators.
std::optional<Decision> judge_unreadable(const Policy& policy, const Modification& modification, std::int64_t now_s) {
    const auto& change = modification.change;
    const bool matters = change.priority != PriorityChange::none || change.partition || change.account ||
                         change.admin_comment || change.names_path() || !change.asks.empty();
    if (!matters) return std::nullopt;
    const bool action = change.admin_comment && action_in_comment(*change.admin_comment);
    const auto name = printable(modification.job_name);
    Decision decision;
    decision.kind = DecisionKind::modification;
    decision.time_s = now_s;
    decision.mode = policy.config().mode;
    decision.uid = modification.caller_uid;
    decision.user = policy.user_name(modification.caller_uid);
    if (modification.by_operator && !action) {
        decision.verdict = Verdict::admitted;
        decision.message = fmt::format("accord: job {}, which could not be read, modified by {}", name, decision.user);
        return decision;
    }
    decision.reason = Reason::immutable;
    decision.message = refusal(fmt::format("job {}: its state could not be read, so it keeps what it was judged by: "
                                           "cancel and submit again, or ask {}",
                                           name, whom_to_ask(policy.config(), nullptr)),
                               Reason::immutable);
    return decision;
}

JobView with_node_limit(JobView job, const Ledger& ledger) {
    const auto decision = decision_in_comment(job.admin_comment);
    if (decision && job.lacks_node_limit()) job.gpus.max_nodes = ledger.node_limit_of(decision->number);
    return job;
}

}  // namespace

std::optional<Decision> decide_modification(const Policy& policy, const Ledger& ledger,
                                            const Modification& modification, std::int64_t now_s) {
    if (!modification.job) return judge_unreadable(policy, modification, now_s);
    const auto& change = modification.change;
    const auto job = with_node_limit(*modification.job, ledger);
    const Judgement judgement{policy, ledger, modification, job, place_of(policy.config(), job.partition), now_s};

    const bool by_operator = modification.by_operator || policy.exempt(modification.caller_uid);
    const auto mark = change.admin_comment ? action_in_comment(*change.admin_comment) : std::nullopt;
    if (mark && modification.by_operator)
        return only_throttles(change) ? throttled(judgement, *mark) : judge_action(judgement, *mark);

    const bool arrives = change.partition && place_of(policy.config(), *change.partition);
    if (!judgement.place && !arrives) return std::nullopt;
    auto decision = by_operator      ? recorded(judgement)
                    : judgement.place ? judge_user(judgement)
                                      : judge_arrival(judgement);
    // Slurm changes the throttle by way of the record that has the array's own number, and by no other.
    if (decision && decision->allows() && change.array_limit && job.job_id == job.array_job_id)
        decision->throttle = change.array_limit;
    return decision;
}

}  // namespace accord
