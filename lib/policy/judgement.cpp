// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of a modification before anyone judges it.
#include "policy/judgement.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "policy/authorize.hpp"
#include "policy/messages.hpp"

namespace accord {

namespace {

void raise(GpuIntervals& to, const GpuIntervals& by) {
    for (const auto& [type, gpus] : by) to[type].max = std::max(to[type].max, gpus.max);
}

}  // namespace

const PolicyContract* Judgement::contract() const {
    return place ? policy.contract(contract_key(job, *place.pool)) : nullptr;
}

std::string Judgement::whom() const {
    const auto* found = contract();
    return whom_to_ask(policy.config(), found == nullptr ? nullptr : found->contract.get());
}

std::string Judgement::job_text() const { return "job " + printable(modification.job_name); }

Decision blank(const Judgement& judgement) {
    const auto& job = judgement.job;
    Decision decision;
    decision.kind = DecisionKind::modification;
    decision.time_s = judgement.now_s;
    decision.mode = judgement.policy.config().mode;
    decision.uid = job.uid;
    decision.user = judgement.policy.user_name(job.uid);
    decision.account = lower_case(job.account);
    decision.partition = judgement.place ? judgement.place.pool->partition : job.partition;
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

bool is_owners(const Judgement& judgement) { return judgement.modification.caller_uid == judgement.job.uid; }

bool is_queued(const Judgement& judgement) {
    const auto& job = judgement.job;
    if (!judgement.place.lent || job.state != JobState::pending || !job.is_kept()) return false;
    const auto decision = decision_in_comment(job.admin_comment);
    return decision ? judgement.ledger.is_queued(decision->number, job.job_id) : job.hold != Hold::user;
}

std::optional<JobClass> class_now(const Judgement& judgement) {
    if (!judgement.place) return std::nullopt;
    if (!judgement.place.lent) return JobClass::guaranteed;
    return is_queued(judgement) ? JobClass::queued : JobClass::borrowed;
}

bool may_be_uncounted(const Judgement& judgement, JobClass cls) {
    const auto& job = judgement.job;
    return cls == JobClass::borrowed && job.state == JobState::pending &&
           (job.hold != Hold::none || !job.eligible_at(judgement.now_s));
}

GpuVector record_claim(const JobView& job, const GpuIntervals& gpus, const PoolConfig& pool) {
    const auto per_task = maxima(gpus);
    return times(per_task, tasks_at_once(job, throttle_of(job), per_task, pool));
}

ClaimChange claim_change(const Judgement& judgement) {
    const auto& pool = *judgement.place.pool;
    const auto& shape = judgement.ledger.shape();
    const auto& change = judgement.change();
    auto job = judgement.job;
    ClaimChange result;
    result.before = record_claim(job, gpus_of(job, pool, shape), pool);
    const auto asks = outcomes(judgement.job.gpus, change.gpus, change.semantics);
    for (const auto& ask : asks) {
        job.gpus = ask;
        auto gpus = gpus_of(job, pool, shape);
        if (&ask == &asks.front())
            result.gpus = std::move(gpus);
        else
            raise(result.gpus, gpus);
    }
    result.after = record_claim(job, result.gpus, pool);
    for (const auto& [type, gpus] : result.after)
        if (const auto now = amount_of(result.before, type); gpus > now) result.more[type] = gpus - now;
    return result;
}

}  // namespace accord
