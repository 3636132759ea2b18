// SPDX-License-Identifier: GPL-2.0-or-later
// A submission from its partitions to its decision.
#include "policy/decide.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/authorize.hpp"
#include "policy/classify.hpp"
#include "policy/governed.hpp"
#include "policy/messages.hpp"

namespace accord {

namespace {

/// Everything that one submission is judged by.
struct Submission {
    const Policy& policy;
    const Ledger& ledger;
    const JobRequest& request;
    std::int64_t now_s;
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
    const auto& [policy, ledger, request, now_s] = submission;
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
                                          bool may_borrow) {
    if (!application.request.array) return std::nullopt;
    const auto most = most_tasks(application.terms(), application.pool, per_task, may_borrow);
    return most > 0 && application.request.array->concurrent() > most ? std::optional(most) : std::nullopt;
}

Rewrite rewrite_for(const Submission& submission, const Application& application, const Classification& classification,
                    const ContractClaims& claims, const GpuVector& ask) {
    Rewrite rewrite;
    const auto cls = classification.cls;
    rewrite.account = application.account;
    rewrite.partition = cls == JobClass::guaranteed ? application.pool.partition : application.pool.lend_partition;
    rewrite.hold = cls == JobClass::queued;
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

Decision refused_as_impossible(Decision decision, const Application& application, const ContractClaims& claims,
                               const std::string& type, bool may_borrow) {
    auto body = impossibility(application.terms(), application.pool, claims, type, decision.gpus.at(type), may_borrow);
    if (application.request.array) body += " a task";
    body += ", or ask " + whom_to_ask(application.policy.config(), &application.terms());
    if (!application.count.exact) body += " (counted high: " + application.count.steps.back() + ")";
    return rejected(std::move(decision), Reason::impossible, refusal(body, Reason::impossible));
}

/// What a contract with room or without makes of an application that passed the ladder.
Decision classified(Decision decision, const Submission& submission, const Application& application) {
    const auto& terms = application.terms();
    const auto& request = submission.request;
    const auto& claims = *application.claims;
    const bool borrows = may_borrow(terms, request.type, request.requeueable);

    const auto limit = fitting_limit(application, decision.gpus, borrows);
    ClassifyInput input{application.contract, &application.pool, &claims, {}, &decision.gpus, borrows};
    input.ask = times(maxima(decision.gpus), limit.value_or(concurrent_tasks(request)));

    const auto classification = classify(input);
    if (classification.verdict == Verdict::rejected)
        return refused_as_impossible(std::move(decision), application, claims, classification.type, borrows);

    decision.verdict = classification.verdict;
    decision.cls = classification.cls;
    decision.reason = classification.reason;
    decision.rewrite = rewrite_for(submission, application, classification, claims, input.ask);
    decision.rewrite.array_limit = limit;
    decision.throttle = throttle_of(request, decision.rewrite);
    if (classification.cls == JobClass::queued && request.held) decision.user_hold = true;
    decision.message = admission({decision, terms, claims, input.ask, classification,
                                  request.requeueable && request.type != WorkloadType::interactive,
                                  request.array ? request.array->tasks : 0});
    if (!application.count.exact) decision.message += " (counted high: " + application.count.steps.back() + ")";
    if (classification.cls != JobClass::queued) decision.claim = std::move(input.ask);
    return decision;
}

Decision judge(const Submission& submission, const PoolConfig& pool) {
    auto application = apply_for(submission.policy, submission.ledger, submission.request, pool, submission.now_s);
    auto decision = blank(submission);
    decision.partition = pool.partition;
    decision.account = printable(application.account);
    if (application.contract != nullptr) {
        decision.contract = application.terms().key();
        decision.contract_version = application.contract->version;
    }
    auto refused = authorize(application);
    decision.gpus = std::move(application.count.gpus);
    if (refused) return rejected(std::move(decision), refused->reason, std::move(refused->message));
    return classified(std::move(decision), submission, application);
}

/// R1: how good an answer is among those of several pools; a rejection is the worst.
int rank_of(const Decision& decision) {
    if (decision.verdict == Verdict::rejected) return 3;
    return decision.cls == JobClass::guaranteed ? 0 : decision.cls == JobClass::borrowed ? 1 : 2;
}

Decision best_of(const Submission& submission, Partitions partitions) {
    std::optional<Decision> best;
    for (const auto& partition : partitions) {
        auto decision = judge(submission, *submission.policy.config().pool_of(partition));
        if (!best || rank_of(decision) < rank_of(*best)) best = std::move(decision);
        if (rank_of(*best) == 0) break;
    }
    return std::move(*best);
}

}  // namespace

bool concerns(const Config& config, const ClusterShape& shape, const JobRequest& request) {
    return touches_pool(config, partitions_of(shape, request));
}

std::optional<Decision> decide(const Policy& policy, const Ledger& ledger, const JobRequest& request,
                               std::int64_t now_s) {
    const auto partitions = partitions_of(ledger.shape(), request);
    if (!touches_pool(policy.config(), partitions)) return std::nullopt;
    const Submission submission{policy, ledger, request, now_s};
    if (policy.exempt(request.uid)) return exempted(submission, partitions);

    auto refused = objection_to(policy.config(), partitions);
    auto decision = refused ? rejected(blank(submission), refused->reason, std::move(refused->message))
                            : best_of(submission, partitions);
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
