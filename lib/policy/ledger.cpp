// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshot and tail, counted once each.
#include "policy/ledger.hpp"

#include <algorithm>
#include <utility>

namespace accord {

Ledger::Ledger() : base_(std::make_shared<LedgerBase>()) {}

void Ledger::rebase(std::shared_ptr<const LedgerBase> base) {
    base_ = std::move(base);
    std::erase_if(tail_, [&](const auto& entry) { return base_->accounts_for(entry.first); });
    const auto is_known = [&](const auto& entry) { return base_->accounts_for(entry.second.record); };
    std::erase_if(queued_tail_, is_known);
    std::erase_if(throttle_tail_, is_known);
    touched_.clear();
    loans_.clear();
    loans_lack_.clear();
    for (const auto& [decision, claim] : tail_) count(claim);
}

void Ledger::add(std::uint64_t decision, Claim claim) {
    if (base_->accounts_for(decision)) return;
    const auto known = tail_.size();
    const auto entry = tail_.emplace_hint(tail_.end(), decision, std::move(claim));  // most are newer than all before
    if (tail_.size() > known) count(entry->second);
}

void Ledger::set_queued(std::uint64_t decision, bool queued, std::uint64_t record, std::uint32_t job_id) {
    if (base_->accounts_for(record)) return;
    auto& change = queued_tail_[{decision, job_id}];
    if (record >= change.record) change = {queued, record};
}

void Ledger::set_throttle(std::uint64_t decision, std::int64_t throttle, std::uint64_t record) {
    if (base_->accounts_for(record)) return;
    auto& change = throttle_tail_[decision];
    if (record >= change.record) change = {throttle, record};
}

void Ledger::count(const Claim& claim, int sign) {
    auto touched = touched_.find(claim.contract);
    if (touched == touched_.end()) {
        const auto known = base_->contracts.find(claim.contract);
        touched = touched_.emplace(claim.contract, known == base_->contracts.end() ? ContractClaims{} : known->second)
                      .first;
    }
    add_claim(touched->second, claim, sign);
    if (!loans_.empty()) loans_lack_.insert(claim.contract);
}

std::optional<Ledger> Ledger::without_crons_of(std::uint32_t uid, std::int64_t now_s) const {
    std::optional<Ledger> without;
    for (const auto& cron : base_->crons) {
        if (cron.claim.uid != uid || cron.begin_s <= now_s) continue;
        if (!without) without = *this;
        without->count(cron.claim, -1);
    }
    return without;
}

void Ledger::recount(const std::string& contract) {
    if (!loans_.empty()) loans_lack_.insert(contract);
}

PoolLoans Ledger::loans_anew(const Policy& policy, const PoolConfig& pool, std::int64_t now_s) const {
    PoolLoans loans(policy, pool, base_->shape, now_s);
    if (!loans.any_limit()) return loans;
    for (const auto& [key, claims] : base_->contracts)
        if (partition_of(key) == pool.partition) loans.set(policy, key, claims);
    for (const auto& [key, claims] : touched_)
        if (partition_of(key) == pool.partition) loans.set(policy, key, claims);
    return loans;
}

const PoolLoans& Ledger::loans(const Policy& policy, const PoolConfig& pool, std::int64_t now_s) const {
    auto known = loans_.find(pool.partition);
    if (known == loans_.end() || !known->second.hold_for(policy, now_s)) {
        known = loans_.insert_or_assign(pool.partition, loans_anew(policy, pool, now_s)).first;
        std::erase_if(loans_lack_, [&](const auto& key) { return partition_of(key) == pool.partition; });
        return known->second;
    }
    if (loans_lack_.empty()) return known->second;
    for (const auto& key : loans_lack_)
        if (partition_of(key) == pool.partition && known->second.any_limit()) known->second.set(policy, key, of(key));
    std::erase_if(loans_lack_, [&](const auto& key) { return partition_of(key) == pool.partition; });
    return known->second;
}

const ContractClaims& Ledger::of(const std::string& contract) const {
    static const ContractClaims none;
    if (const auto touched = touched_.find(contract); touched != touched_.end()) return touched->second;
    const auto known = base_->contracts.find(contract);
    return known == base_->contracts.end() ? none : known->second;
}

bool Ledger::is_queued(std::uint64_t decision, std::uint32_t job_id) const {
    for (const auto about : {job_id, std::uint32_t{0}})
        if (const auto change = queued_tail_.find({decision, about}); change != queued_tail_.end())
            return change->second.queued;
    if (!base_->queued.contains(decision)) return false;
    const auto released = base_->released.find(decision);
    return released == base_->released.end() || !released->second.contains(job_id);
}

std::optional<std::int64_t> Ledger::throttle_of(std::uint64_t decision) const {
    if (const auto change = throttle_tail_.find(decision); change != throttle_tail_.end()) return change->second.throttle;
    const auto known = base_->throttles.find(decision);
    return known == base_->throttles.end() ? std::nullopt : std::optional(known->second);
}

std::optional<std::int64_t> Ledger::node_limit_of(std::uint64_t decision) const {
    const auto known = base_->node_limits.find(decision);
    return known == base_->node_limits.end() ? std::nullopt : std::optional(known->second);
}

std::optional<Claim> claim_of(const Decision& decision) {
    if (!decision.cls || decision.verdict == Verdict::rejected) return std::nullopt;
    const bool observed = decision.mode == Mode::observe;
    const bool queued = *decision.cls == JobClass::queued;
    if (decision.claim.empty() && (!queued || observed || decision.kind == DecisionKind::modification))
        return std::nullopt;
    return Claim{decision.contract.empty() ? decision.account + "/" + decision.partition : decision.contract,
                 decision.uid, observed ? JobClass::guaranteed : *decision.cls, decision.claim};
}

void apply_to_ledger(Ledger& ledger, std::uint64_t number, const Decision& decision) {
    if (auto claim = claim_of(decision)) ledger.add(number, std::move(*claim));
    const bool submission = decision.kind == DecisionKind::submission;
    if (decision.throttle && decision.allows() && (submission || decision.job_decision))
        ledger.set_throttle(submission ? number : decision.job_decision->number, *decision.throttle, number);
    if (!decision.cls || decision.verdict == Verdict::rejected || decision.mode == Mode::observe) return;
    const bool queued = *decision.cls == JobClass::queued;
    if (submission) {
        if (queued) ledger.set_queued(number, true, number);
    } else if (decision.job_decision) {
        ledger.set_queued(decision.job_decision->number, queued, number, decision.job_id.value_or(0));
    }
}

void add_claim(ContractClaims& to, const Claim& claim, int sign) {
    if (claim.cls == JobClass::queued) {
        to.queued_jobs += sign;
        return;
    }
    if (claim.gpus.empty()) return;
    add(claim.cls == JobClass::borrowed ? to.borrowed : to.guaranteed, claim.gpus, sign);
    add(to.by_member[claim.uid], claim.gpus, sign);
}

std::string_view partition_of(std::string_view key) {
    const auto slash = key.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : key.substr(slash + 1);
}

Gpus headroom_of(const Contract& contract, const ContractClaims& claims, const std::string& type) {
    const auto capacity = contract.capacity.find(type);
    if (capacity == contract.capacity.end()) return 0;
    return std::max<Gpus>(0, capacity->second.guaranteed - amount_of(claims.guaranteed, type));
}

Gpus excess_of(const Contract& contract, const ContractClaims& claims, const std::string& type, Gpus more) {
    const auto capacity = contract.capacity.find(type);
    const auto guaranteed = capacity == contract.capacity.end() ? 0 : capacity->second.guaranteed;
    const auto claimed = saturating_add(amount_of(claims.guaranteed, type), amount_of(claims.borrowed, type));
    return std::max<Gpus>(0, saturating_add(claimed, more) - guaranteed);
}

}  // namespace accord
