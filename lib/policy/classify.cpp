// SPDX-License-Identifier: GPL-2.0-or-later
// Classes, limits and the site factor.
#include "policy/classify.hpp"

#include <algorithm>

namespace accord {

namespace {

/// The first type that the pool or the contract could never give a task; empty when none.
std::optional<std::string> never_given(const ClassifyInput& input) {
    for (const auto& [type, gpus] : *input.per_task)
        if (gpus.min > amount_of(input.pool->gpus, type)) return type;
    for (const auto& [type, gpus] : *input.per_task)
        if (gpus.max > most_ever(*input.contract->contract, *input.pool, type, input.may_borrow, input.loans))
            return type;
    return std::nullopt;
}

}  // namespace

bool may_be_stopped(const ClassifyInput& input) {
    const auto& contract = *input.contract->contract;
    return !input.may_borrow || contract.members.max_gpus_per_user || contract.budget ||
           std::any_of(input.ask.begin(), input.ask.end(), [&](const auto& entry) {
               const auto capacity = contract.capacity.find(entry.first);
               const auto* sums = input.loans == nullptr ? nullptr : input.loans->of(entry.first);
               return capacity == contract.capacity.end() || capacity->second.borrow_limit || (sums && sums->limited());
           });
}

bool may_borrow(const Contract& contract, WorkloadType type, bool requeueable) {
    return type == WorkloadType::interactive ? contract.reclaim.interactive_may_borrow : requeueable;
}

std::optional<std::string> beyond_headroom(const Contract& contract, const ContractClaims& claims,
                                           const GpuVector& ask) {
    for (const auto& [type, gpus] : ask)
        if (gpus > headroom_of(contract, claims, type)) return type;
    return std::nullopt;
}

std::optional<std::string> beyond_borrow_limit(const Contract& contract, const ContractClaims& claims,
                                               const GpuVector& ask) {
    for (const auto& [type, gpus] : ask) {
        const auto capacity = contract.capacity.find(type);
        if (capacity == contract.capacity.end()) return type;
        if (!capacity->second.borrow_limit) continue;
        if (excess_of(contract, claims, type, gpus) > *capacity->second.borrow_limit) return type;
    }
    return std::nullopt;
}

Gpus claimed_by(const ContractClaims& claims, std::uint32_t uid) {
    const auto found = claims.by_member.find(uid);
    return found == claims.by_member.end() ? 0 : total(found->second);
}

bool beyond_member_limit(const Contract& contract, const ContractClaims& claims, std::uint32_t uid,
                         const GpuVector& ask) {
    const auto most = contract.members.max_gpus_per_user;
    return most && !ask.empty() && saturating_add(claimed_by(claims, uid), total(ask)) > *most;
}

bool beyond_contract(const Contract& contract, const ContractClaims& claims, std::uint32_t uid, JobClass cls,
                     const GpuVector& claim) {
    const auto most = contract.members.max_gpus_per_user;
    if (most && claimed_by(claims, uid) > *most) return true;
    return std::any_of(claim.begin(), claim.end(), [&](const auto& one) {
        const auto capacity = contract.capacity.find(one.first);
        if (capacity == contract.capacity.end()) return true;
        const auto& limit = capacity->second.borrow_limit;
        return cls == JobClass::guaranteed ? amount_of(claims.guaranteed, one.first) > capacity->second.guaranteed
                                           : limit && excess_of(contract, claims, one.first, 0) > *limit;
    });
}

Classification classify(const ClassifyInput& input) {
    const auto& contract = *input.contract->contract;
    if (input.ask.empty() && input.eligibility != Eligibility::together)
        return {Verdict::admitted, JobClass::borrowed, Reason::no_gpu, {}};
    if (const auto type = never_given(input)) return {Verdict::rejected, JobClass::queued, Reason::impossible, *type};
    if (input.eligibility != Eligibility::now) {
        const bool waits_lent = input.eligibility == Eligibility::later && !may_be_stopped(input);
        return {waits_lent ? Verdict::admitted : Verdict::queued, waits_lent ? JobClass::borrowed : JobClass::queued,
                Reason::not_eligible, {}};
    }
    const auto scarce = beyond_headroom(contract, *input.claims, input.ask);
    if (!scarce && input.within_budget) return {Verdict::admitted, JobClass::guaranteed, Reason::none, {}};
    const auto& about = scarce ? *scarce : input.ask.begin()->first;
    if (!input.may_borrow) return {Verdict::queued, JobClass::queued, Reason::not_requeueable, about};
    if (const auto type = beyond_borrow_limit(contract, *input.claims, input.ask))
        return {Verdict::queued, JobClass::queued, Reason::borrow_limit, *type};
    if (const auto type = input.loans == nullptr ? std::nullopt
                                                 : beyond_lend_limits(*input.loans, contract, *input.claims, input.ask))
        return {Verdict::queued, JobClass::queued, Reason::lend_limit, *type};
    return {Verdict::admitted, JobClass::borrowed, input.within_budget ? Reason::headroom : Reason::budget_exhausted,
            about};
}

std::int64_t site_factor(const Config& config, const Contract& contract, JobClass cls,
                         const ContractClaims& claims, const GpuVector& ask) {
    constexpr std::int64_t base = 100'000, most = 99'999;
    const auto* priority_class = config.priority_class(contract.priority_class);
    const auto factor = base + (priority_class == nullptr ? 0 : priority_class->site_factor);
    if (cls != JobClass::borrowed) return factor;
    Gpus guaranteed = 0, excess = 0;
    for (const auto& [type, capacity] : contract.capacity) {
        guaranteed = saturating_add(guaranteed, capacity.guaranteed);
        excess = saturating_add(excess, excess_of(contract, claims, type, amount_of(ask, type)));
    }
    const auto weight = saturating_mul(guaranteed, std::max<std::int64_t>(contract.share, 1));
    return factor - (weight == 0 ? most : std::min(most, saturating_mul(1'000, excess) / weight));
}

Gpus most_ever(const Contract& contract, const PoolConfig& pool, const std::string& type, bool may_borrow,
               const PoolLoans* loans) {
    const auto capacity = contract.capacity.find(type);
    if (capacity == contract.capacity.end()) return 0;
    const auto& [guaranteed, lend_limit, borrow_limit] = capacity->second;
    auto borrowable = may_borrow ? borrow_limit.value_or(gpus_max) : 0;
    if (loans != nullptr) borrowable = std::min(borrowable, loans->most_excess(contract, type));
    return std::min(saturating_add(guaranteed, borrowable), amount_of(pool.gpus, type));
}

std::int64_t most_tasks(const Contract& contract, const PoolConfig& pool, const GpuIntervals& per_task,
                        bool may_borrow, const PoolLoans* loans) {
    std::int64_t tasks = gpus_max;
    for (const auto& [type, gpus] : per_task)
        if (gpus.max != 0) tasks = std::min(tasks, most_ever(contract, pool, type, may_borrow, loans) / gpus.max);
    return tasks;
}

}  // namespace accord
