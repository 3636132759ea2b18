// SPDX-License-Identifier: GPL-2.0-or-later
// Sums of excess and of what may be lent.
#include "policy/loans.hpp"

#include <algorithm>
#include <set>

#include "policy/ledger.hpp"
#include "policy/policy.hpp"

namespace accord {

PoolLoans::PoolLoans(const Policy& policy, const PoolConfig& pool, const ClusterShape& shape, std::int64_t now_s)
    : terms_(policy.lend_terms()), partition_(pool.partition), now_s_(now_s) {
    const auto* partition = shape.partition(pool.partition);
    const auto available = partition == nullptr ? pool.gpus : partition->available_capacity();
    const auto named = terms_->types_of(pool.partition);
    std::set<std::string> types(named.begin(), named.end());
    for (const auto& [type, gpus] : pool.gpus) types.insert(type);
    LendWindow all;
    for (const auto& type : types) {
        const auto window = terms_->at(pool.partition, type, now_s);
        all.from_s = std::max(all.from_s, window.from_s);
        all.until_s = std::min(all.until_s, window.until_s);
        any_limit_ = any_limit_ || window.sums.limits > 0;
        sums_.emplace_back(type, LoanSums{window.sums, amount_of(pool.gpus, type), amount_of(available, type), 0, 0});
    }
    from_s_ = all.from_s;
    until_s_ = all.until_s;
}

bool PoolLoans::hold_for(const Policy& policy, std::int64_t now_s) const {
    return policy.lend_terms() == terms_ && from_s_ <= now_s && now_s < until_s_;
}

PoolLoans::Part PoolLoans::part_of(const Contract* in_force, const ContractClaims& claims, const std::string& type,
                                   Gpus ask) {
    const auto claimed = saturating_add(amount_of(claims.guaranteed, type), amount_of(claims.borrowed, type));
    const auto all = saturating_add(claimed, ask);
    if (in_force == nullptr) return {all, 0};
    const auto capacity = in_force->capacity.find(type);
    if (capacity == in_force->capacity.end()) return {all, 0};
    const auto guaranteed = capacity->second.guaranteed;
    const auto most = std::min(capacity->second.lend_limit.value_or(gpus_max), guaranteed);
    const auto idle = std::max<Gpus>(0, guaranteed - all);
    return {std::max<Gpus>(0, all - guaranteed), most - std::min(most, idle)};
}

void PoolLoans::set(const Policy& policy, const std::string& key, const ContractClaims& claims) {
    const auto* found = policy.contract(key);
    const auto* in_force = found != nullptr && found->active_at(now_s_) ? found->contract.get() : nullptr;
    auto& parts = parts_[key];
    parts.resize(sums_.size());
    for (std::size_t index = 0; index < sums_.size(); ++index) {
        auto& [type, sums] = sums_[index];
        const auto part = part_of(in_force, claims, type, 0);
        sums.excess += part.excess - parts[index].excess;
        sums.kept += part.kept - parts[index].kept;
        parts[index] = part;
    }
}

std::size_t PoolLoans::index_of(const std::string& type) const {
    const auto found = std::find_if(sums_.begin(), sums_.end(), [&](const auto& one) { return one.first == type; });
    return static_cast<std::size_t>(found - sums_.begin());
}

const LoanSums* PoolLoans::of(const std::string& type) const {
    const auto index = index_of(type);
    return index == sums_.size() ? nullptr : &sums_[index].second;
}

bool PoolLoans::refuses(const Contract& contract, const ContractClaims& claims, const std::string& type, Gpus ask) const {
    const auto* found = of(type);
    if (found == nullptr || ask == 0) return false;
    const auto after = part_of(&contract, claims, type, ask);
    if (after.excess == 0) return false;
    if (found->short_of_guarantees()) return true;
    if (!found->limited()) return false;
    auto sums = *found;
    if (const auto parts = parts_.find(contract.key()); parts != parts_.end()) {
        const auto& before = parts->second[index_of(type)];
        sums.excess -= before.excess;
        sums.kept -= before.kept;
    }
    sums.excess = saturating_add(sums.excess, after.excess);
    sums.kept += after.kept;
    return sums.overdrawn();
}

Gpus PoolLoans::most_excess(const Contract& contract, const std::string& type) const {
    const auto* sums = of(type);
    if (sums == nullptr || !sums->limited()) return gpus_max;
    const auto capacity = contract.capacity.find(type);
    const auto own = capacity == contract.capacity.end()
                         ? Gpus{0}
                         : std::min(capacity->second.lend_limit.value_or(gpus_max), capacity->second.guaranteed);
    return std::max<Gpus>(0, sums->terms.lendable - own) + std::max<Gpus>(0, sums->in_pool - sums->terms.guaranteed);
}

std::vector<std::shared_ptr<const Contract>> PoolLoans::limited(const std::string& type) const {
    auto contracts = terms_->limited(partition_, type);
    std::erase_if(contracts, [&](const auto& one) { return now_s_ < one->valid_from_s || now_s_ > one->valid_until_s; });
    return contracts;
}

bool closed(const PoolLoans& loans, const GpuVector& claim) {
    return overdrawn(loans, claim) || std::any_of(claim.begin(), claim.end(), [&](const auto& one) {
        const auto* sums = loans.of(one.first);
        return sums != nullptr && sums->short_of_guarantees();
    });
}

bool overdrawn(const PoolLoans& loans, const GpuVector& claim) {
    return std::any_of(claim.begin(), claim.end(), [&](const auto& one) {
        const auto* sums = loans.of(one.first);
        return sums != nullptr && sums->overdrawn();
    });
}

std::optional<std::string> beyond_lend_limits(const PoolLoans& loans, const Contract& contract,
                                              const ContractClaims& claims, const GpuVector& ask) {
    for (const auto& [type, gpus] : ask)
        if (loans.refuses(contract, claims, type, gpus)) return type;
    return std::nullopt;
}

}  // namespace accord
