// SPDX-License-Identifier: GPL-2.0-or-later
// A submission from its partitions to its decision.
#include "policy/decide.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/authorize.hpp"
#include "policy/classify.hpp"
#include "policy/governed.hpp"
#include "policy/messages.hpp"
#include "policy/placeable.hpp"

namespace accord {

namespace {

/// Everything that one submission is judged by.
struct Submission {
    const Policy& policy;
    const Ledger& ledger;
    const JobRequest& request;
    std::int64_t now_s;
    Wording wording;
};

using Partitions = std::span<const std::string>;

/// R1: what the request names, or the default; empty when neither is known.
Partitions partitions_of(const ClusterShape& shape, const JobRequest& request) {
    if (!request.partitions.empty()) return request.partitions;
    return shape.default_partition ? Partitions(&*shape.default_partition, 1) : Partitions{};
}

bool touches_pool(const Config& config, Partitions partitions) {
    if (partitions.empty()) return !config.pools.empty();
    return std::any_of(partitions.begin(), partitions.end(), [&](const auto& partition) {
        return config.pool_of(partition) != nullptr || config.pool_lending_in(partition) != nullptr;
    });
}

Decision blank(const Submission& submission) {
    const auto& [policy, ledger, request, now_s, wording] = submission;
    Decision decision;
    decision.time_s = now_s;
    decision.mode = policy.config().mode;
    decision.uid = request.uid;
    decision.user = policy.user_name(request.uid);
    if (request.account) decision.account = printable(lower_case(*request.account));
    return decision;
}

Decision rejected(Decision decision, Reason reason, std::string message) {
    decision.verdict = Verdict::rejected;
    decision.reason = reason;
    decision.message = std::move(message);
    return decision;
}

std::int64_t concurrent_tasks(const JobRequest& request) { return request.array ? request.array->concurrent() : 1; }

// R3.

Decision exempted(const Submission& submission, Partitions partitions) {
    auto decision = blank(submission);
    const auto& config = submission.policy.config();
    for (const auto& partition : partitions) {
        const auto* pool = config.pool_of(partition);
        if (pool == nullptr) continue;
        decision.partition = pool->partition;
        auto count = count_gpus(submission.request.gpus, submission.ledger.shape().partition(partition), *pool,
                                Explain::briefly);
        settle_types(count.gpus, *pool);
        decision.claim = times(maxima(count.gpus), concurrent_tasks(submission.request));
        decision.gpus = std::move(count.gpus);
        break;
    }
    if (decision.partition.empty() && !partitions.empty()) decision.partition = partitions.front();
    decision.verdict = Verdict::admitted;
    decision.cls = JobClass::exempt;
    decision.reason = Reason::exempt;
    decision.message = fmt::format("accord: exempt: user {} is not judged", decision.user);
    return decision;
}

// R1.

Refusal refused(Reason reason, std::string_view body) { return {reason, refusal(body, reason)}; }

/// Why the partitions as named cannot be judged one by one.
std::optional<Refusal> objection_to(const Config& config, Partitions partitions) {
    if (partitions.empty())
        return refused(Reason::store_unavailable,
                       fmt::format("no partition is named, and the default one is not known yet: name one with "
                                   "--partition, or ask {}",
                                   whom_to_ask(config, nullptr)));
    for (const auto& partition : partitions)
        if (const auto* pool = config.pool_lending_in(partition))
            return refused(Reason::lend_partition,
                           fmt::format("partition {} takes no direct submissions: submit to {}, and the job borrows "
                                       "there by itself where its contract allows; ask {}",
                                       partition, pool->partition, whom_to_ask(config, nullptr)));
    const auto ungoverned = std::find_if(partitions.begin(), partitions.end(),
                                         [&](const auto& partition) { return config.pool_of(partition) == nullptr; });
    if (ungoverned == partitions.end()) return std::nullopt;
    return refused(Reason::mixed_partitions,
                   fmt::format("of the partitions {} some are governed by contract and {} is not: name only one kind; "
                               "ask {}",
                               printable(fmt::format("{}", fmt::join(partitions, ","))), printable(*ungoverned),
                               whom_to_ask(config, nullptr)));
}

// One pool.

/// R7: an array that claims more than its contract could ever hold runs fewer tasks at once.
std::optional<std::int64_t> fitting_limit(const Application& application, const GpuIntervals& per_task,
                                          bool may_borrow, const PoolLoans& loans) {
    if (!application.request.array) return std::nullopt;
    const auto most = most_tasks(application.terms(), application.pool, per_task, may_borrow, &loans);
    return most > 0 && application.request.array->concurrent() > most ? std::optional(most) : std::nullopt;
}

Rewrite rewrite_for(const Submission& submission, const Application& application, const Classification& classification,
                    const ContractClaims& claims, const GpuVector& ask) {
    Rewrite rewrite;
    const auto cls = classification.cls;
    rewrite.account = application.account;
    rewrite.partition = cls == JobClass::guaranteed ? application.pool.partition : application.pool.lend_partition;
    const auto& request = submission.request;
    // Slurm refuses a begin time after the deadline (_validate_job_desc, 24.11); accordd may park the job later.
    const bool may_park = request.dependent && !request.held && !request.deadline;
    if (cls == JobClass::queued && may_park) rewrite.begin_s = parked(request.begin_s);
    rewrite.hold = cls == JobClass::queued && !rewrite.begin_s;
    if (cls != JobClass::queued)
        rewrite.site_factor = site_factor(submission.policy.config(), application.terms(), cls, claims, ask);
    rewrite.time_limit_min = imposed_time_limit(application);
    return rewrite;
}

/// What Slurm will have as the array's throttle; unset where it is too large for Slurm, which then takes another
/// (_create_job_array, 22.05).
std::optional<std::int64_t> throttle_of(const JobRequest& request, const Rewrite& rewrite) {
    if (!request.array) return std::nullopt;
    const auto limit = rewrite.array_limit.value_or(request.array->limit.value_or(0));
    return limit <= std::numeric_limits<int>::max() ? std::optional(limit) : std::nullopt;
}

Decision refused_as_impossible(Decision decision, const Application& application, const ClassifyInput& input,
                               const std::string& type) {
    auto body = impossibility(application.terms(), application.pool, *input.claims, type, input.per_task->at(type),
                              input.may_borrow, input.loans);
    if (application.request.array) body += " a task";
    body += ", or ask " + whom_to_ask(application.policy.config(), &application.terms());
    body += count_remark(application.count);
    body += type_hint(application.request.gpus, application.pool);
    return rejected(std::move(decision), Reason::impossible, refusal(body, Reason::impossible));
}

Eligibility eligibility_of(const JobRequest& request, std::int64_t now_s) {
    if (request.het) return Eligibility::together;
    if (request.type == WorkloadType::cron) return Eligibility::now;  // R6: nothing can be done for it later
    return request.held || request.dependent || request.begin_s > now_s ? Eligibility::later : Eligibility::now;
}

/// GPU-seconds that the job may use of its contract's budget: its claim for all of its time limit, within the period. 0
/// where neither has an end that is known.
std::int64_t may_use_gpu_s(const Application& application, const GpuVector& ask) {
    const auto limit_min = time_limit_of(application);
    const auto end_s = application.budget.period_end_s;
    if (!limit_min && !end_s) return 0;
    const auto limit_s = limit_min ? saturating_mul(*limit_min, 60) : gpus_max;
    return saturating_mul(total(ask), end_s ? std::min(limit_s, *end_s - application.now_s) : limit_s);
}

/// What the researcher is told of the count.
std::string remarks_on(const GpuCount& count) {
    auto remarks = count_remark(count);
    if (!count.without_gpus.empty()) remarks += " (" + printable(count.without_gpus) + ")";
    return remarks;
}

/// What a contract with room or without makes of an application that passed the ladder.
Decision classified(Decision decision, const Submission& submission, const Application& application) {
    const auto& terms = application.terms();
    const auto& request = submission.request;
    const auto& claims = *application.claims;
    const bool borrows = may_borrow(terms, request.type, request.requeueable);

    const auto& loans = submission.ledger.loans(submission.policy, application.pool, submission.now_s);
    const auto limit = fitting_limit(application, decision.gpus, borrows, loans);
    ClassifyInput input{application.contract, &application.pool, &claims, {}, &application.of_whole_job(), borrows,
                        eligibility_of(request, submission.now_s), application.budget.limit == BudgetLimit::none, &loans};
    input.ask = times(maxima(decision.gpus), limit.value_or(concurrent_tasks(request)));

    const auto classification = classify(input);
    if (classification.verdict == Verdict::rejected)
        return refused_as_impossible(std::move(decision), application, input, classification.type);
    const Outcome outcome{submission.policy,  request, decision, terms, claims, input.ask, classification,
                          application.budget, may_use_gpu_s(application, input.ask), &loans};
    if (request.type == WorkloadType::cron && classification.cls == JobClass::queued) {
        auto why = refusal_of_cron(outcome);
        return rejected(std::move(decision), classification.reason, std::move(why));
    }

    decision.verdict = classification.verdict;
    decision.cls = classification.cls;
    decision.reason = classification.reason;
    decision.rewrite = rewrite_for(submission, application, classification, claims, input.ask);
    decision.rewrite.array_limit = limit;
    decision.throttle = throttle_of(request, decision.rewrite);
    if (classification.cls == JobClass::queued && request.held) decision.user_hold = true;
    if (submission.wording == Wording::full) decision.message = admission(outcome) + remarks_on(application.count);
    if (classification.cls != JobClass::queued && classification.reason != Reason::not_eligible)
        decision.claim = std::move(input.ask);
    return decision;
}

Application application_for(const Submission& submission, const PoolConfig& pool) {
    return apply_for(submission.policy, submission.ledger, submission.request, pool, submission.now_s);
}

Decision judge_as_it_is(const Submission& submission, const PoolConfig& pool, const Application& application) {
    auto decision = blank(submission);
    decision.partition = pool.partition;
    decision.account = printable(application.account);
    if (application.contract != nullptr) {
        decision.contract = application.terms().key();
        decision.contract_version = application.contract->version;
    }
    auto refused = authorize(application);
    decision.gpus = application.count.gpus;
    if (refused) return rejected(std::move(decision), refused->reason, std::move(refused->message));
    return classified(std::move(decision), submission, application);
}

/// R1, R9: how good an answer is among several; a rejection is the worst.
int rank_of(const Decision& decision) {
    if (decision.verdict == Verdict::rejected) return 3;
    return decision.cls == JobClass::guaranteed ? 0 : decision.cls == JobClass::borrowed ? 1 : 2;
}

/// Of the best answers to the choices the first. None where `judge_one` has no answer to any.
template <typename Choices, typename JudgeOne>
std::optional<Decision> best_of(const Choices& choices, JudgeOne&& judge_one) {
    std::optional<Decision> best;
    for (const auto& choice : choices) {
        std::optional<Decision> decision = judge_one(choice);
        if (decision && (!best || rank_of(*decision) < rank_of(*best))) best = std::move(decision);
        if (best && rank_of(*best) == 0) break;
    }
    return best;
}

/// R9: a request without a GPU type as one for `type`.
struct TypedAsk {
    std::string type;
    GpuAsk gpus;
};

/// R9: in a pool of several GPU types, what a request that names none could be: of each of the contract's fallback types
/// that its nodes have, or of all if they have none.
std::vector<TypedAsk> typed_asks(const Application& application) {
    const auto& [request, pool] = std::tie(application.request, application.pool);
    std::vector<TypedAsk> asks, placeable;
    if (application.contract == nullptr || pool.gpus.size() < 2) return asks;
    for (const auto& type : application.terms().fallback)
        if (auto gpus = of_type(request.gpus, type); gpus && pool.gpus.contains(type)) asks.push_back({type, std::move(*gpus)});
    std::copy_if(asks.begin(), asks.end(), std::back_inserter(placeable),
                 [&](const auto& ask) { return is_placeable(request, ask.gpus, ask.type, application.shape); });
    return placeable.empty() ? asks : placeable;
}

Decision judge(const Submission& submission, const PoolConfig& pool) {
    const auto& [policy, ledger, request, now_s, wording] = submission;
    const auto application = application_for(submission, pool);
    auto best = best_of(typed_asks(application), [&](const auto& ask) {
        auto typed = request;
        typed.gpus = ask.gpus;
        const Submission as_typed{policy, ledger, typed, now_s, wording};
        auto decision = judge_as_it_is(as_typed, pool, application_for(as_typed, pool));
        if (decision.verdict == Verdict::rejected) return decision;
        decision.message += fmt::format("; {} is the type that its contract gives to requests without one", ask.type);
        decision.rewrite.gpus = ask.gpus;
        return decision;
    });
    return best ? std::move(*best) : judge_as_it_is(submission, pool, application);
}

}  // namespace

bool concerns(const Config& config, const ClusterShape& shape, const JobRequest& request) {
    return touches_pool(config, partitions_of(shape, request));
}

std::optional<Ledger> ledger_besides_replaced(const Ledger& ledger, const JobRequest& request, std::int64_t now_s) {
    return request.type == WorkloadType::cron ? ledger.without_crons_of(request.uid, now_s) : std::nullopt;
}

std::optional<Decision> decide(const Policy& policy, const Ledger& ledger, const JobRequest& request,
                               std::int64_t now_s, Wording wording) {
    const auto partitions = partitions_of(ledger.shape(), request);
    if (!touches_pool(policy.config(), partitions)) return std::nullopt;
    const auto besides = ledger_besides_replaced(ledger, request, now_s);
    const Submission submission{policy, besides ? *besides : ledger, request, now_s, wording};
    if (policy.exempt(request.uid)) return exempted(submission, partitions);

    auto refused = objection_to(policy.config(), partitions);
    auto decision = refused ? rejected(blank(submission), refused->reason, std::move(refused->message))
                            : *best_of(partitions, [&](const auto& partition) {
                                  return judge(submission, *policy.config().pool_of(partition));
                              });
    if (refused && !partitions.empty()) decision.partition = printable(partitions.front());
    if (decision.mode == Mode::observe) decision.rewrite = {};
    return decision;
}

Decision decide_unavailable(OnUnavailable what, const JobRequest& request, const std::string& why,
                            std::int64_t now_s) {
    Decision decision;
    decision.time_s = now_s;
    decision.uid = request.uid;
    decision.user = fmt::format("{}", request.uid);
    if (request.account) decision.account = printable(lower_case(*request.account));
    if (!request.partitions.empty()) decision.partition = printable(request.partitions.front());
    if (what == OnUnavailable::reject && request.uid != 0)
        return rejected(std::move(decision), Reason::store_unavailable,
                        refusal(fmt::format("no decision can be made and kept now ({}): try again later, or ask the "
                                            "cluster's administrators",
                                            why),
                                Reason::store_unavailable));
    decision.verdict = Verdict::admitted;
    decision.cls = JobClass::exempt;
    decision.reason = Reason::store_unavailable;
    decision.message = fmt::format("accord: exempt: no decision can be made and kept now ({})", why);
    return decision;
}

}  // namespace accord
