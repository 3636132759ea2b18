// SPDX-License-Identifier: GPL-2.0-or-later
// Sums over contracts as steps in time.
#include "policy/lend_terms.hpp"

#include <algorithm>
#include <iterator>

#include "policy/policy.hpp"

namespace accord {

namespace {

constexpr std::size_t most_limited = 3;

LendSums sums_of(const Capacity& capacity) {
    return {capacity.guaranteed, std::min(capacity.lend_limit.value_or(gpus_max), capacity.guaranteed),
            capacity.lend_limit ? 1 : 0};
}

void add(LendSums& to, const LendSums& what, int sign) {
    to.guaranteed += sign * what.guaranteed;
    to.lendable += sign * what.lendable;
    to.limits += sign * what.limits;
}

}  // namespace

LendTerms::LendTerms(const std::vector<PolicyContract>& contracts) {
    for (const auto& one : contracts) {
        if (one.state != ContractState::active) continue;
        const auto& contract = *one.contract;
        for (const auto& [type, capacity] : contract.capacity) {
            auto& of_type = by_partition_[contract.partition][type];
            const auto sums = sums_of(capacity);
            of_type.steps.push_back({contract.valid_from_s, sums});
            if (contract.valid_until_s < std::numeric_limits<std::int64_t>::max()) {
                LendSums ends;
                add(ends, sums, -1);
                of_type.steps.push_back({contract.valid_until_s + 1, ends});
            }
            if (capacity.lend_limit) of_type.limited.push_back(one.contract);
        }
    }
    for (auto& [partition, by_type] : by_partition_)
        for (auto& [type, of_type] : by_type) settle(of_type, type);
}

/// From what changes at an instant to what holds from it on.
void LendTerms::settle(OfType& of_type, const std::string& type) {
    auto& steps = of_type.steps;
    std::sort(steps.begin(), steps.end(), [](const auto& left, const auto& right) { return left.from_s < right.from_s; });
    std::vector<Step> settled;
    LendSums sums;
    for (const auto& step : steps) {
        add(sums, step.sums, 1);
        if (settled.empty() || settled.back().from_s != step.from_s) settled.push_back({step.from_s, sums});
        else settled.back().sums = sums;
    }
    settled.shrink_to_fit();
    steps = std::move(settled);

    auto& limited = of_type.limited;
    const auto last = limited.begin() + static_cast<std::ptrdiff_t>(std::min(most_limited, limited.size()));
    std::partial_sort(limited.begin(), last, limited.end(), [&](const auto& left, const auto& right) {
        const auto key = [&](const Contract& one) { return std::pair(*one.capacity.at(type).lend_limit, one.account); };
        return key(*left) < key(*right);
    });
    limited.erase(last, limited.end());
    limited.shrink_to_fit();
}

const LendTerms::OfType* LendTerms::find(std::string_view partition, std::string_view type) const {
    const auto by_type = by_partition_.find(partition);
    if (by_type == by_partition_.end()) return nullptr;
    const auto found = by_type->second.find(type);
    return found == by_type->second.end() ? nullptr : &found->second;
}

LendWindow LendTerms::at(std::string_view partition, std::string_view type, std::int64_t now_s) const {
    LendWindow window;
    const auto* of_type = find(partition, type);
    if (of_type == nullptr) return window;
    const auto next = std::upper_bound(of_type->steps.begin(), of_type->steps.end(), now_s,
                                       [](std::int64_t at_s, const Step& step) { return at_s < step.from_s; });
    if (next != of_type->steps.end()) window.until_s = next->from_s;
    if (next == of_type->steps.begin()) return window;
    window.from_s = std::prev(next)->from_s;
    window.sums = std::prev(next)->sums;
    return window;
}

std::vector<std::string> LendTerms::types_of(std::string_view partition) const {
    std::vector<std::string> types;
    if (const auto by_type = by_partition_.find(partition); by_type != by_partition_.end())
        for (const auto& [type, of_type] : by_type->second) types.push_back(type);
    return types;
}

const std::vector<std::shared_ptr<const Contract>>& LendTerms::limited(std::string_view partition,
                                                                       std::string_view type) const {
    static const std::vector<std::shared_ptr<const Contract>> none;
    const auto* of_type = find(partition, type);
    return of_type == nullptr ? none : of_type->limited;
}

}  // namespace accord
