// SPDX-License-Identifier: GPL-2.0-or-later
// The request that a changed job comes to, its claim, and the class that it must fit.
#include "policy/widen.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/authorize.hpp"
#include "policy/classify.hpp"
#include "policy/messages.hpp"
#include "policy/unusable.hpp"

namespace accord {

namespace {

using Objection = std::optional<Decision>;

/// One change of what a job asks for, with what it comes to.
struct Widening {
    const Judgement& judgement;
    JobClass cls;
    ClaimChange claim;
    std::optional<std::int64_t> time_limit_min;  ///< the new one, if it changes
    std::optional<std::int64_t> more_tasks;      ///< of an array whose throttle changes

    [[nodiscard]] const JobView& job() const { return judgement.job; }
    [[nodiscard]] const Change& change() const { return judgement.change(); }
    [[nodiscard]] bool requeueable() const { return change().requeue.value_or(job().requeueable); }
    /// Of its old claim what is surely in the ledger, and given back for the new one.
    [[nodiscard]] GpuVector counted() const {
        return cls == JobClass::queued || may_be_uncounted(judgement, cls) ? GpuVector{} : claim.before;
    }
    /// R5: it waits for its time in the lend partition, and nothing will keep it from borrowing then.
    [[nodiscard]] bool claims_later() const {
        if (!may_be_uncounted(judgement, cls) || judgement.contract() == nullptr) return false;
        ClassifyInput input;
        input.contract = judgement.contract();
        input.ask = claim.after;
        input.may_borrow = may_borrow(*input.contract->contract, job().type, requeueable());
        input.loans = &judgement.loans();
        return !may_be_stopped(input);
    }
    /// What it adds to the ledger's claims.
    [[nodiscard]] GpuVector more() const {
        if (cls == JobClass::queued || claims_later()) return {};
        if (more_tasks) return ask();
        return claim.more.empty() || !may_be_uncounted(judgement, cls) ? claim.more : claim.after;
    }
    /// Tasks that ask for GPUs: of an array those that may run at once, of a raised throttle only those that it adds.
    [[nodiscard]] std::int64_t tasks() const {
        if (more_tasks) return *more_tasks;
        return tasks_at_once(job(), throttle_of(job()), maxima(claim.gpus), *judgement.place.pool);
    }
    /// What the job, or what a raised throttle adds, is judged for.
    [[nodiscard]] GpuVector ask() const { return times(maxima(claim.gpus), tasks()); }
};

std::string names_of(const Change& change) { return printable(fmt::format("{}", fmt::join(change.asks, ", "))); }

Objection immutable(const Judgement& judgement, const std::string& why) {
    return rejected(judgement, Reason::immutable,
                    fmt::format("{} keeps its {}: {}; cancel and submit again, or ask {}", judgement.job_text(),
                                names_of(judgement.change()), why, judgement.whom()));
}

/// The record that the throttle is kept with has the array's own number; slurmctld takes it from no other.
bool has_throttle(const JobView& job) { return job.array_job_id != 0 && job.job_id == job.array_job_id; }

/// EndTime moves a running job's limit by as much (_update_job, 22.05).
std::optional<std::int64_t> new_time_limit(const Judgement& judgement) {
    const auto& [job, change] = std::tie(judgement.job, judgement.change());
    if (change.time_limit_min) return change.time_limit_min;
    if (!change.end_s || !job.time_limit_min) return std::nullopt;
    return *job.time_limit_min + (*change.end_s - job.end_s + 30) / 60;
}

bool takes_longer(const Widening& widening) {
    const auto& [before, after] = std::tie(widening.job().time_limit_min, widening.time_limit_min);
    return after && (!before || *after > *before);
}

std::int64_t cpus_for_each(const GpuAsk& ask, const GpuIntervals& gpus) {
    Gpus fewest = 0;
    for (const auto& [type, interval] : gpus) fewest = saturating_add(fewest, interval.min);
    return fewest == 0 ? 0 : cpus_for_each_gpu(ask, fewest);
}

/// With more CPUs, or fewer GPUs to them.
bool takes_more_cpus(const Widening& widening) {
    const auto& [judgement, change] = std::tie(widening.judgement, widening.change());
    const auto* contract = judgement.contract();
    if (contract == nullptr || !contract->contract->workloads.max_cpus_per_gpu) return false;
    const auto before = gpus_of(widening.job(), *judgement.place.pool, judgement.ledger.shape());
    const auto after = cpus_for_each(amended(widening.job().gpus, change.gpus, change.semantics), widening.claim.gpus);
    return after > *contract->contract->workloads.max_cpus_per_gpu && after > cpus_for_each(widening.job().gpus, before);
}

bool widens(const Widening& widening) {
    return !widening.claim.more.empty() || widening.more_tasks.value_or(0) > 0 || takes_longer(widening) ||
           takes_more_cpus(widening);
}

/// The whole job as a submission would ask for it.
JobRequest request_of(const Widening& widening) {
    const auto& [job, change] = std::tie(widening.job(), widening.change());
    JobRequest request;
    request.uid = job.uid;
    request.account = job.account;
    request.partitions = {widening.judgement.place.pool->partition};
    request.type = job.type;
    request.gpus = amended(job.gpus, change.gpus, change.semantics);
    request.node_list_malformed = change.node_list_malformed;
    if (job.array_job_id != 0) request.array = ArraySpec{{}, widening.tasks(), {}};
    request.time_limit_min = widening.time_limit_min ? widening.time_limit_min : job.time_limit_min;
    request.requeueable = widening.requeueable();
    request.work_dir = change.work_dir.value_or(job.work_dir);
    request.std_out = change.std_out.value_or(job.std_out);
    request.std_err = change.std_err.value_or(job.std_err);
    request.std_in = change.std_in.value_or(job.std_in);
    return request;
}

/// What the contract's jobs claim without the one that changes, as far as its new claim takes the place of the old.
ContractClaims claims_without(const Widening& widening, const ContractClaims& claims) {
    auto without = claims;
    if (widening.more_tasks) return without;
    auto& by_class = widening.cls == JobClass::guaranteed ? without.guaranteed : without.borrowed;
    auto& by_member = without.by_member[widening.job().uid];
    for (const auto& [type, before] : widening.counted()) {
        const auto back = std::min(before, amount_of(widening.claim.after, type));
        for (auto* claimed : {&by_class, &by_member})
            if (const auto found = claimed->find(type); found != claimed->end())
                found->second = std::max<Gpus>(0, found->second - back);
    }
    return without;
}

std::string claims_text(const Widening& widening) {
    if (widening.more_tasks)
        return fmt::format("asks for {} more for {} more tasks at once",
                           describe(widening.ask()), *widening.more_tasks);
    return fmt::format("asks for {} instead of {}", describe(widening.claim.after), describe(widening.claim.before));
}

Objection beyond_guarantee(const Widening& widening, const Application& application, const GpuVector& ask) {
    const auto& terms = application.terms();
    const auto& claims = *application.claims;
    if (application.budget.limit != BudgetLimit::none)
        return rejected(widening.judgement, Reason::budget_exhausted,
                        fmt::format("{} is guaranteed and {}, and the budget of {} is used up, so that no more of its GPUs are "
                                    "guaranteed: leave it, or ask {}",
                                    widening.judgement.job_text(), claims_text(widening), terms.key(),
                                    widening.judgement.whom()));
    const auto scarce = beyond_headroom(terms, claims, ask);
    if (!scarce) return {};
    return rejected(widening.judgement, Reason::headroom,
                    fmt::format("{} is guaranteed and {}, and {} of the {} guaranteed {} of {} are left for it: ask for as "
                                "many, or cancel and submit again, or ask {}",
                                widening.judgement.job_text(), claims_text(widening), headroom_of(terms, claims, *scarce),
                                terms.capacity.at(*scarce).guaranteed, *scarce, terms.key(), widening.judgement.whom()));
}

Objection beyond_lenders(const Widening& widening, const Contract& terms, const ContractClaims& claims,
                         const GpuVector& ask) {
    const auto& loans = widening.judgement.loans();
    const auto scarce = beyond_lend_limits(loans, terms, claims, ask);
    if (!scarce) return {};
    return rejected(widening.judgement, Reason::lend_limit,
                    fmt::format("{} is borrowed and {}, and that is not within {}: ask for fewer, or cancel and submit again, "
                                "or ask {}",
                                widening.judgement.job_text(), claims_text(widening), lending_text(loans, *scarce),
                                widening.judgement.whom()));
}

Objection beyond_loan(const Widening& widening, const Contract& terms, const ContractClaims& claims,
                      const GpuVector& ask) {
    if (!may_borrow(terms, widening.job().type, widening.requeueable()))
        return rejected(widening.judgement, Reason::not_requeueable,
                        fmt::format("{} is borrowed and {}, and it could not be requeued when they are wanted back: "
                                    "cancel and submit again, to wait for guaranteed GPUs, or ask {}",
                                    widening.judgement.job_text(), claims_text(widening), widening.judgement.whom()));
    const auto scarce = beyond_borrow_limit(terms, claims, ask);
    if (!scarce) return beyond_lenders(widening, terms, claims, ask);
    return rejected(widening.judgement, Reason::borrow_limit,
                    fmt::format("{} is borrowed and {}, and with it {} would have {} of the {} {} that it may borrow: ask "
                                "for fewer, or cancel and submit again, or ask {}",
                                widening.judgement.job_text(), claims_text(widening), terms.key(),
                                excess_of(terms, claims, *scarce, amount_of(ask, *scarce)),
                                terms.capacity.at(*scarce).borrow_limit.value_or(0), *scarce, widening.judgement.whom()));
}

Objection never_to_be(const Widening& widening, const Application& application, const std::string& type) {
    const bool borrows = may_borrow(application.terms(), widening.job().type, widening.requeueable());
    return rejected(widening.judgement, Reason::impossible,
                    fmt::format("{} {}, or ask {}", widening.judgement.job_text(),
                                impossibility(application.terms(), application.pool, *application.claims, type,
                                              application.count.gpus.at(type), borrows, &widening.judgement.loans()),
                                widening.judgement.whom()));
}

/// A queued array must be able to have all the GPUs of the tasks that it runs at once.
Objection never_at_once(const Widening& widening, const Application& application) {
    const bool borrows = may_borrow(application.terms(), widening.job().type, widening.requeueable());
    const auto most = most_tasks(application.terms(), application.pool, application.count.gpus, borrows,
                                 &widening.judgement.loans());
    const auto at_once = tasks_at_once(widening.job(), throttle_of(widening.job()), maxima(widening.claim.gpus),
                                       application.pool);
    if (at_once <= most) return {};
    return rejected(widening.judgement, Reason::impossible,
                    fmt::format("{} would run {} tasks at once, and {} could ever hold the GPUs of {}: set "
                                "ArrayTaskThrottle={} or ask for fewer, or ask {}",
                                widening.judgement.job_text(), at_once, application.terms().key(), most, most,
                                widening.judgement.whom()));
}

/// R5, R6, R14: the job keeps its class, or the change is refused.
Objection object_to_class(const Widening& widening, const Application& application) {
    const auto& terms = application.terms();
    ClassifyInput input{application.contract, &application.pool, application.claims, {}, &application.count.gpus,
                        may_borrow(terms, widening.job().type, widening.requeueable())};
    input.loans = &widening.judgement.loans();
    input.ask = widening.ask();
    const auto classification = classify(input);
    if (classification.verdict == Verdict::rejected) return never_to_be(widening, application, classification.type);
    if (input.ask.empty()) return {};
    switch (widening.cls) {
        case JobClass::guaranteed: return beyond_guarantee(widening, application, input.ask);
        case JobClass::borrowed:
            if (widening.claims_later()) return {};
            return beyond_loan(widening, terms, *application.claims, input.ask);
        default: return never_at_once(widening, application);
    }
}

/// R7: the sum of a heterogeneous job's components was judged, and Slurm asks about one of them. What is admitted of it
/// must not reclaim anything, either.
Objection object_to_component(const Widening& widening) {
    if (widening.job().het_job_id == 0 || widening.claim.more.empty()) return {};
    return immutable(widening.judgement, "the components of a heterogeneous job are judged together");
}

/// The ladder, and then the class, as for a new request of the whole job.
Objection object_as_new(const Widening& widening) {
    const auto& judgement = widening.judgement;
    const auto request = request_of(widening);
    auto application = apply_for(judgement.policy, judgement.ledger, request, *judgement.place.pool, judgement.now_s);
    application.count.gpus = widening.claim.gpus;
    ContractClaims claims;
    if (application.claims != nullptr) {
        claims = claims_without(widening, *application.claims);
        application.claims = &claims;
    }
    if (auto refusal = authorize(application)) {
        auto decision = rejected(judgement, refusal->reason, {});
        constexpr std::string_view prefix = "accord: ";
        decision.message = refusal->message.insert(prefix.size(), judgement.job_text() + ": ");
        return decision;
    }
    const bool more_gpus = !widening.claim.more.empty() || widening.more_tasks.value_or(0) > 0;
    return more_gpus ? object_to_class(widening, application) : std::nullopt;
}

/// R6 and R8 bind a job that asks for no more, too.
Objection object_to_less(const Widening& widening) {
    const auto& judgement = widening.judgement;
    const bool pending = widening.job().state == JobState::pending;
    if (pending && widening.job().het_job_id == 0 && widening.cls == JobClass::guaranteed && widening.claim.after.empty() && !widening.claim.before.empty())
        return rejected(judgement, Reason::no_gpu,
                        fmt::format("{} is guaranteed, and jobs without GPUs run in {}: cancel and submit again; ask {}",
                                    judgement.job_text(), judgement.place.pool->lend_partition, judgement.whom()));
    const auto* contract = judgement.contract();
    const auto type = widening.job().type;
    if (contract == nullptr || widening.cls == JobClass::guaranteed || widening.claim.before.empty() ||
        may_borrow(*contract->contract, type, widening.requeueable()) ||
        !may_borrow(*contract->contract, type, widening.job().requeueable))
        return {};
    return rejected(judgement, Reason::not_requeueable,
                    fmt::format("{} is {} and must stay requeueable, since its GPUs may be wanted back: cancel and submit "
                                "again with --no-requeue, to wait for guaranteed GPUs, or ask {}",
                                judgement.job_text(), to_string(widening.cls), judgement.whom()));
}

bool changes_nodes(const AskChange& change) { return change.min_nodes || change.max_nodes || change.job_size; }

/// What slurmctld would do only in part, or not at all, is refused as a whole.
Objection object_to_kept(const Judgement& judgement) {
    const auto& [job, change] = std::tie(judgement.job, judgement.change());
    if (job.state != JobState::pending) return {};
    if (judgement.modification.job->lacks_node_limit() && changes_nodes(change.gpus))
        return immutable(judgement, "it was requeued, and Slurm does not say any more how many nodes it may take");
    if (parts_of(change.gpus) > most_parts)
        return immutable(judgement, "too much changes at once, of which Slurm may do a part");
    if (const auto kept = kept_in_spite(job.gpus, change.gpus, change.semantics)) return immutable(judgement, *kept);
    return {};
}

Objection object_to_throttle(const Widening& widening) {
    const auto& judgement = widening.judgement;
    if (!widening.change().array_limit || !has_throttle(widening.job())) return {};
    if (!widening.more_tasks) return immutable(judgement, "what it was is not on record yet, so try again later");
    if (parts_of(widening.change().gpus) > 0) return immutable(judgement, "change ArrayTaskThrottle by itself");
    return {};
}

/// A throttle is in force already, whoever has set it (22.05).
Objection object_to_stranger(const Widening& widening) {
    const auto& judgement = widening.judgement;
    const bool throttles = widening.change().array_limit && has_throttle(widening.job());
    if (is_owners(judgement) || !(throttles || widens(widening))) return {};
    return rejected(judgement, Reason::immutable,
                    fmt::format("{} is user {}'s, and nobody else changes its {} to more: leave that to its user, or ask {}",
                                judgement.job_text(), judgement.policy.user_name(widening.job().uid),
                                names_of(judgement.change()), judgement.whom()));
}

Decision accepted(const Widening& widening) {
    const auto& judgement = widening.judgement;
    auto decision = blank(judgement);
    decision.verdict = widening.cls == JobClass::queued ? Verdict::queued : Verdict::admitted;
    decision.gpus = widening.claim.gpus;
    decision.claim = widening.more();
    // a class on record would say that it is eligible
    if (!may_be_uncounted(judgement, widening.cls) || !decision.claim.empty()) decision.cls = widening.cls;
    const auto& [before, after] = std::tie(widening.claim.before, widening.claim.after);
    const auto gpus = widening.more_tasks || before == after ? describe(after)
                                                             : describe(after) + " instead of " + describe(before);
    decision.message = fmt::format("accord: {}: {} changed: {}, {} of {}", judgement.job_text(),
                                   names_of(widening.change()), to_string(widening.cls), gpus,
                                   contract_key(widening.job(), *judgement.place.pool));
    return decision;
}

}  // namespace

std::optional<std::int64_t> more_tasks(const Judgement& judgement) {
    const auto& [job, change] = std::tie(judgement.job, judgement.change());
    const auto decision = decision_in_comment(job.admin_comment);
    if (!change.array_limit || !has_throttle(job) || !decision) return std::nullopt;
    const auto before = judgement.ledger.throttle_of(decision->number);
    if (!before) return std::nullopt;
    if (*before == 0) return 0;
    if (*change.array_limit != 0) return std::max<std::int64_t>(0, *change.array_limit - *before);
    return total(judgement.place.pool->gpus);
}

std::optional<Decision> judge_asks(const Judgement& judgement) {
    const auto& change = judgement.change();
    const bool no_throttle = change.array_limit && !has_throttle(judgement.job);
    if (change.asks.empty() || (no_throttle && change.asks.size() == 1)) return std::nullopt;
    if (auto kept = object_to_kept(judgement)) return kept;
    const Widening widening{judgement, *class_now(judgement), claim_change(judgement), new_time_limit(judgement),
                            more_tasks(judgement)};
    for (const auto objection : {object_to_stranger, object_to_throttle, object_to_component, object_to_less})
        if (auto decision = objection(widening)) return decision;
    if (widens(widening))
        if (auto decision = object_as_new(widening)) return decision;
    return accepted(widening);
}

}  // namespace accord
