// SPDX-License-Identifier: GPL-2.0-or-later
// R17: accordd's actions, other operators' changes and users' changes, each by their own rules.
#include "policy/modify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/authorize.hpp"
#include "policy/classify.hpp"
#include "policy/governed.hpp"
#include "policy/messages.hpp"
#include "policy/scope_path.hpp"

namespace accord {

namespace {

/// One modification of a job that could be read, with what is judged by.
struct Judgement {
    const Policy& policy;
    const Ledger& ledger;
    const Modification& modification;
    const JobView& job;
    Place place;
    std::int64_t now_s;

    [[nodiscard]] const Change& change() const { return modification.change; }
    [[nodiscard]] const PolicyContract* contract() const {
        return place ? policy.contract(contract_key(job, *place.pool)) : nullptr;
    }
    [[nodiscard]] std::string whom() const {
        const auto* found = contract();
        return whom_to_ask(policy.config(), found == nullptr ? nullptr : found->contract.get());
    }
};

Decision blank(const Judgement& judgement) {
    const auto& [policy, ledger, modification, job, place, now_s] = judgement;
    Decision decision;
    decision.kind = DecisionKind::modification;
    decision.time_s = now_s;
    decision.mode = policy.config().mode;
    decision.uid = job.uid;
    decision.user = policy.user_name(job.uid);
    decision.account = lower_case(job.account);
    decision.partition = place ? place.pool->partition : job.partition;
    decision.job_id = job.job_id;
    decision.job_decision = decision_in_comment(job.admin_comment);
    if (const auto* contract = judgement.contract()) {
        decision.contract = contract->contract->key();
        decision.contract_version = contract->version;
    }
    return decision;
}

Decision rejected(const Judgement& judgement, Reason reason, std::string_view body) {
    auto decision = blank(judgement);
    decision.reason = reason;
    decision.message = refusal(body, reason);
    return decision;
}

/// A queued job is kept in the lend partition, and the record says so; where that is silent, an administrator's hold there
/// is accordd's.
bool is_queued(const Judgement& judgement) {
    const auto& job = judgement.job;
    if (!judgement.place.lent || job.state != JobState::pending || !job.is_kept()) return false;
    const auto decision = decision_in_comment(job.admin_comment);
    return decision ? judgement.ledger.is_queued(decision->number) : job.hold != Hold::user;
}

std::string job_text(const Judgement& judgement) { return "job " + printable(judgement.modification.job_name); }
std::string caller(const Judgement& judgement) { return judgement.policy.user_name(judgement.modification.caller_uid); }

// accordd's own actions.

GpuVector claim_of(const JobView& job, const GpuIntervals& gpus, const PoolConfig& pool) {
    const auto per_task = maxima(gpus);
    return times(per_task, tasks_at_once(job, throttle_of(job), per_task, pool));
}

/// The throttle that an array's claim was counted with goes on record with it.
void give(Decision& decision, const JobView& job, GpuVector claim) {
    decision.claim = std::move(claim);
    if (job.array_job_id != 0 && !job.array_task_id) decision.throttle = throttle_of(job).value_or(0);
}

/// R7: an array's throttle put back to the one on record; it gives no claim.
Decision throttled(const Judgement& judgement, const ActionMark& mark) {
    auto decision = blank(judgement);
    decision.verdict = Verdict::admitted;
    decision.message = fmt::format("accord: {}: array throttle put back to {} by action {}", job_text(judgement),
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

/// Why the action no longer fits what there is; empty when it does.
std::string staleness(const Judgement& judgement, JobClass to, const GpuVector& claim) {
    const auto& job = judgement.job;
    if (job.state != JobState::pending) return "the job is no longer pending";
    if (!judgement.place.lent) return "the job is not in a lend partition";
    if (to != JobClass::guaranteed && !job.is_kept()) return "the job is not held";
    if (to == JobClass::queued) return {};
    const auto* contract = judgement.contract();
    if (contract == nullptr || !contract->active_at(judgement.now_s)) return "its contract is not active";
    const auto& terms = *contract->contract;
    const auto& claims = judgement.ledger.of(terms.key());
    const auto budget = budget_limit(judgement);
    if (!claim.empty() && (budget == BudgetLimit::reject || (budget != BudgetLimit::none && to == JobClass::guaranteed)))
        return "its contract's budget is used up";
    if (job.is_kept() && beyond_member_limit(terms, claims, job.uid, claim))
        return fmt::format("{} GPUs are the member's already", claimed_by(claims, job.uid));
    if (to == JobClass::guaranteed) {
        if (claim.empty() && job.het_job_id == 0) return "the job asks for no GPU";
        const auto scarce = beyond_headroom(terms, claims, claim);
        return scarce ? fmt::format("{} {} of headroom are left", headroom_of(terms, claims, *scarce), *scarce) : "";
    }
    if (!may_borrow(terms, job.type, job.requeueable)) return "the job could not be requeued";
    const auto scarce = beyond_borrow_limit(terms, claims, claim);
    return scarce ? fmt::format("{} {} of excess are claimed already", excess_of(terms, claims, *scarce), *scarce) : "";
}

Decision judge_action(const Judgement& judgement, const ActionMark& mark) {
    const auto& job = judgement.job;
    auto decision = blank(judgement);
    if (judgement.place) decision.gpus = gpus_of(job, *judgement.place.pool, judgement.ledger.shape());
    auto claim = judgement.place ? claim_of(job, decision.gpus, *judgement.place.pool) : GpuVector{};
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

std::optional<JobClass> class_before(const Judgement& judgement) {
    if (!judgement.place) return std::nullopt;
    if (!judgement.place.lent) return JobClass::guaranteed;
    return is_queued(judgement) ? JobClass::queued : JobClass::borrowed;
}

Decision recorded(const Judgement& judgement) {
    auto decision = blank(judgement);
    decision.verdict = Verdict::admitted;
    decision.message = fmt::format("accord: job {} modified by {}", judgement.modification.job_name, caller(judgement));
    const auto after = class_after(judgement);
    if (judgement.job.state != JobState::pending || !after || after == class_before(judgement)) return decision;
    const auto target = judgement.change().partition
                            ? place_of(judgement.policy.config(), *judgement.change().partition)
                            : judgement.place;
    decision.partition = target.pool->partition;
    const auto* contract = judgement.policy.contract(contract_key(judgement.job, *target.pool));
    decision.contract = contract == nullptr ? "" : contract->contract->key();
    decision.contract_version = contract == nullptr ? 0 : contract->version;
    decision.cls = after;
    decision.gpus = gpus_of(judgement.job, *target.pool, judgement.ledger.shape());
    if (after != JobClass::queued)
        give(decision, judgement.job, claim_of(judgement.job, decision.gpus, *target.pool));
    return decision;
}

// Users.

using Objection = std::optional<Decision>;

Objection object_to_account(const Judgement& judgement) {
    const auto& account = judgement.change().account;
    if (!account || lower_case(*account) == lower_case(judgement.job.account)) return {};
    return rejected(judgement, Reason::immutable,
                    fmt::format("{} cannot move from account {} to {}, since its grant is for the first: cancel and "
                                "submit again with --account={}; ask {}",
                                job_text(judgement), judgement.job.account, printable(*account), printable(*account),
                                judgement.whom()));
}

Objection object_to_comment(const Judgement& judgement) {
    const auto& comment = judgement.change().admin_comment;
    if (!comment || *comment == judgement.job.admin_comment) return {};
    return rejected(judgement, Reason::immutable,
                    fmt::format("{}: its admin_comment names its decision and is not to be changed; ask {}",
                                job_text(judgement), judgement.whom()));
}

Objection object_to_partition(const Judgement& judgement) {
    const auto& partition = judgement.change().partition;
    if (!partition || *partition == judgement.job.partition) return {};
    if (is_queued(judgement))
        return rejected(judgement, Reason::queued,
                        fmt::format("{} is queued until there is room for {} and changes its partition then: leave it, "
                                    "or cancel and submit again; ask {}",
                                    job_text(judgement), contract_key(judgement.job, *judgement.place.pool),
                                    judgement.whom()));
    const auto target = place_of(judgement.policy.config(), *partition);
    if (judgement.place && target && target.pool == judgement.place.pool)
        return rejected(judgement, Reason::immutable,
                        fmt::format("{} moves between {} and {} by itself, as its contract has room: leave it; ask {}",
                                    job_text(judgement), target.pool->partition, target.pool->lend_partition,
                                    judgement.whom()));
    return rejected(judgement, Reason::immutable,
                    fmt::format("{} cannot move from partition {} to {}, since it was judged for the first: cancel and "
                                "submit again with --partition={}; ask {}",
                                job_text(judgement), judgement.job.partition, printable(*partition),
                                target ? target.pool->partition : printable(*partition), judgement.whom()));
}

Objection object_to_release(const Judgement& judgement) {
    const auto priority = judgement.change().priority;
    if (priority != PriorityChange::release && priority != PriorityChange::set) return {};
    if (!is_queued(judgement)) return {};
    auto decision = rejected(judgement, Reason::queued,
                             fmt::format("{} is queued until there is room for {} and is released then: leave it, or "
                                         "cancel and submit a smaller one; ask {}",
                                         job_text(judgement), contract_key(judgement.job, *judgement.place.pool),
                                         judgement.whom()));
    if (priority == PriorityChange::release) decision.user_hold = false;
    return decision;
}

Objection object_to_begin(const Judgement& judgement) {
    const auto& job = judgement.job;
    if (!judgement.change().begin || !is_parked(job.begin_s) || !is_queued(judgement)) return {};
    return rejected(judgement, Reason::queued,
                    fmt::format("{} is queued until its dependency is met and there is room for {}, and gets its begin time "
                                "then: leave it, or cancel and submit again; ask {}",
                                job_text(judgement), contract_key(job, *judgement.place.pool), judgement.whom()));
}

Objection object_to_asks(const Judgement& judgement) {
    const auto& asks = judgement.change().asks;
    if (asks.empty()) return {};
    return rejected(judgement, Reason::immutable,
                    fmt::format("{} keeps the {} that it was judged by: cancel and submit again; ask {}",
                                job_text(judgement), printable(fmt::format("{}", fmt::join(asks, ", "))),
                                judgement.whom()));
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
                    fmt::format("{}: the {} {} is {}: name a path within contract {}; ask {}", job_text(judgement),
                                breach->what, printable(breach->path),
                                breach->access == PathAccess::hidden ? "outside its paths" : "in a read-only path",
                                contract->contract->key(), judgement.whom()));
}

constexpr Objection (*objections[])(const Judgement&) = {
    object_to_account, object_to_comment, object_to_partition, object_to_release, object_to_begin, object_to_asks, object_to_paths,
};

/// The owner's hold of a queued job is lost by Slurm once accordd's own is on it: it is kept on record.
Decision kept_wish(const Judgement& judgement) {
    auto decision = blank(judgement);
    decision.verdict = Verdict::queued;
    decision.cls = JobClass::queued;
    decision.user_hold = true;
    decision.message = fmt::format("accord: {} is to stay held when its contract has room", job_text(judgement));
    return decision;
}

std::optional<Decision> judge_user(const Judgement& judgement) {
    for (const auto objection : objections)
        if (auto decision = objection(judgement)) return decision;
    if (judgement.change().priority == PriorityChange::hold && is_queued(judgement)) return kept_wish(judgement);
    return std::nullopt;
}

/// Of an ungoverned job only the move into a pool is refused.
std::optional<Decision> judge_arrival(const Judgement& judgement) {
    const auto target = place_of(judgement.policy.config(), *judgement.change().partition);
    return rejected(judgement, Reason::immutable,
                    fmt::format("{} was not judged for partition {}: cancel and submit it there; ask {}",
                                job_text(judgement), target.pool->partition, judgement.whom()));
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

}  // namespace

std::optional<Decision> decide_modification(const Policy& policy, const Ledger& ledger,
                                            const Modification& modification, std::int64_t now_s) {
    if (!modification.job) return judge_unreadable(policy, modification, now_s);
    const auto& change = modification.change;
    const auto& job = *modification.job;
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
