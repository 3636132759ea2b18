// SPDX-License-Identifier: GPL-2.0-or-later
// Budgets against metered use.
#include "policy/budget.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "policy/gpus.hpp"

namespace accord {

namespace {

BudgetLimit limit_of(const Budget& budget, std::int64_t budget_gpu_s, std::int64_t used_gpu_s) {
    if (used_gpu_s < budget_gpu_s) return BudgetLimit::none;
    const bool overruns = budget.overrun_percent > 100 &&
                          saturating_mul(used_gpu_s, 100) <= saturating_mul(budget_gpu_s, budget.overrun_percent);
    return overruns || budget.on_exhausted == OnExhausted::borrow_only ? BudgetLimit::borrow_only : BudgetLimit::reject;
}

}  // namespace

std::int64_t Period::overlap(std::int64_t from_s, std::int64_t to_s) const {
    return std::max<std::int64_t>(0, std::min(to_s, end_s) - std::max(from_s, start_s));
}

BudgetStanding standing_of(const Contract& contract, const BudgetUses& uses, std::int64_t now_s) {
    BudgetStanding standing;
    if (!contract.budget) return standing;
    standing.budget_gpu_s = saturating_mul(contract.budget->gpu_hours, 3600);
    const auto found = uses.find(contract.key());
    if (found == uses.end() || now_s >= found->second.period.end_s) return standing;
    standing.used_gpu_s = found->second.gpu_s;
    standing.outstanding_gpu_s = found->second.outstanding_gpu_s;
    standing.period_end_s = found->second.period.end_s;
    standing.limit = limit_of(*contract.budget, standing.budget_gpu_s, standing.used_gpu_s);
    return standing;
}

std::string gpu_hours_text(std::int64_t gpu_s) {
    const auto tenths = gpu_s / 360;
    return tenths % 10 == 0 ? fmt::format("{}", tenths / 10) : fmt::format("{}.{}", tenths / 10, tenths % 10);
}

}  // namespace accord
