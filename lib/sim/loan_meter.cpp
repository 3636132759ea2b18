// SPDX-License-Identifier: GPL-2.0-or-later
// Sums that change with one party at a time; what is shared out is integrated once for all and taken by each when it changes.
#include "sim/loan_meter.hpp"

#include <algorithm>

namespace accord::sim {

namespace {

constexpr int scale = 40;  // bits of a GPU-second's fraction

}  // namespace

std::size_t LoanMeter::add_party() {
    Party party;
    party.since_s = now_s_;
    party.by_limit_at = by_limit_;
    party.by_idle_at = by_idle_;
    parties_.push_back(party);
    return parties_.size() - 1;
}

void LoanMeter::advance(std::int64_t now_s) {
    const auto span_s = now_s - now_s_;
    if (span_s <= 0) return;
    now_s_ = now_s;
    const auto unowned = std::min(beyond_, std::max<Gpus>(0, capacity_ - guaranteed_));
    const auto lent = beyond_ - unowned;
    unowned_gpu_s_ += unowned * span_s;
    if (lent == 0 || idle_ == 0) return;
    lent_gpu_s_ += lent * span_s;
    const auto scaled = static_cast<Wide>(lent) * static_cast<Wide>(span_s) << scale;
    if (lent <= lendable_)
        by_limit_ += scaled / static_cast<Wide>(lendable_);
    else
        by_idle_ += scaled / static_cast<Wide>(idle_);
}

void LoanMeter::settle(Party& party) const {
    const auto span_s = now_s_ - party.since_s;
    party.allocated_gpu_s += std::min(party.used, party.guarantee) * span_s;
    party.borrowed_gpu_s += party.beyond() * span_s;
    party.lent += (by_limit_ - party.by_limit_at) * static_cast<Wide>(party.lendable()) +
                  (by_idle_ - party.by_idle_at) * static_cast<Wide>(party.idle());
    party.since_s = now_s_;
    party.by_limit_at = by_limit_;
    party.by_idle_at = by_idle_;
}

template <typename Change>
void LoanMeter::change(std::size_t index, std::int64_t now_s, Change&& change) {
    advance(now_s);
    auto& party = parties_[index];
    settle(party);
    const auto count = [&](Gpus sign) {
        guaranteed_ += sign * party.guarantee;
        beyond_ += sign * party.beyond();
        idle_ += sign * party.idle();
        lendable_ += sign * party.lendable();
    };
    count(-1);
    change(party);
    count(1);
}

void LoanMeter::set_guarantee(std::size_t party, Gpus guarantee, Gpus lend_limit, std::int64_t now_s) {
    change(party, now_s, [&](Party& one) {
        one.guarantee = guarantee;
        one.lend_limit = lend_limit;
    });
}

void LoanMeter::use(std::size_t party, Gpus more, std::int64_t now_s) {
    change(party, now_s, [&](Party& one) { one.used += more; });
}

std::vector<LoanMeter::Totals> LoanMeter::totals(std::int64_t now_s) {
    advance(now_s);
    std::vector<Totals> totals;
    std::vector<std::size_t> by_remainder;
    auto rest = lent_gpu_s_;
    for (auto& party : parties_) {
        settle(party);
        const auto lent = static_cast<std::int64_t>(party.lent >> scale);
        by_remainder.push_back(totals.size());
        totals.push_back({party.allocated_gpu_s, party.borrowed_gpu_s, lent});
        rest -= lent;
    }
    constexpr auto fraction = (Wide{1} << scale) - 1;
    std::stable_sort(by_remainder.begin(), by_remainder.end(), [&](auto left, auto right) {
        return (parties_[left].lent & fraction) > (parties_[right].lent & fraction);
    });
    for (std::size_t at = 0; rest > 0; at = (at + 1) % by_remainder.size(), --rest) ++totals[by_remainder[at]].lent_gpu_s;
    return totals;
}

}  // namespace accord::sim
