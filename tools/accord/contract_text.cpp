// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract_text.hpp"

#include <fmt/format.h>

#include "policy/utc.hpp"

namespace accord {

std::string guarantee_of(const Contract& contract) {
    GpuVector gpus;
    for (const auto& [type, capacity] : contract.capacity)
        if (capacity.guaranteed != 0) gpus[type] = capacity.guaranteed;
    return describe(gpus);
}

std::string borrow_limit_of(const Contract& contract) {
    std::string text;
    for (const auto& [type, capacity] : contract.capacity)
        text += fmt::format("{}{} {}", text.empty() ? "" : " + ",
                            capacity.borrow_limit ? fmt::format("{}", *capacity.borrow_limit) : "any", type);
    return text;
}

namespace {

std::string consequence_of(const BudgetStanding& budget) {
    if (budget.limit == BudgetLimit::borrow_only) return "; nothing is guaranteed";
    if (budget.limit == BudgetLimit::reject) return "; jobs with GPUs are rejected";
    if (budget.outstanding_gpu_s == 0) return "";
    return fmt::format("; its jobs may use {} more", gpu_hours_text(budget.outstanding_gpu_s));
}

}  // namespace

std::string budget_line(const Contract& contract, const BudgetStanding& budget, std::int64_t metered_s) {
    const auto& period = contract.budget->period;
    if (!budget.period_end_s)
        return fmt::format("{} GPU-hours a {}; nothing is metered of this one yet", gpu_hours_text(budget.budget_gpu_s),
                           period);
    return fmt::format("{} of {} GPU-hours of the {} used by {}; the next begins at {}{}",
                       gpu_hours_text(budget.used_gpu_s), gpu_hours_text(budget.budget_gpu_s), period,
                       utc_text(metered_s), utc_text(*budget.period_end_s), consequence_of(budget));
}

std::vector<std::string> budget_columns() {
    return {"budget_period", "budget_gpu_hours", "budget_used_gpu_hours", "budget_period_end"};
}

std::vector<Cell> budget_cells(const Contract* contract, const std::optional<BudgetStanding>& budget) {
    if (contract == nullptr || !contract->budget || !budget) return {Cell(), Cell(), Cell(), Cell()};
    const auto end = budget->period_end_s ? Cell(utc_text(*budget->period_end_s)) : Cell();
    return {contract->budget->period, contract->budget->gpu_hours, static_cast<double>(budget->used_gpu_s) / 3600, end};
}

std::string summary_of(const Contract& contract) {
    return fmt::format("guarantees {}, {} to {}", guarantee_of(contract), utc_text(contract.valid_from_s),
                       utc_text(contract.valid_until_s));
}

}  // namespace accord
