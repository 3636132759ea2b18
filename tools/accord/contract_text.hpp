// SPDX-License-Identifier: GPL-2.0-or-later
// What people are told of a contract in a line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/budget.hpp"
#include "table.hpp"

namespace accord {

/// "8 a100 + 4 v100".
[[nodiscard]] std::string guarantee_of(const Contract& contract);
/// "4 a100 + any v100": "any" where a type has no limit.
[[nodiscard]] std::string borrow_limit_of(const Contract& contract);
/// "12.3 of 100 GPU-hours of the month used by 2026-05-20T10:00:00Z; the next begins at 2026-06-01T00:00:00Z", and what
/// follows of it. Of a contract with a budget; `metered_s` is the time of the use.
[[nodiscard]] std::string budget_line(const Contract& contract, const BudgetStanding& budget, std::int64_t metered_s);
/// budget_period, budget_gpu_hours, budget_used_gpu_hours and budget_period_end; null without a budget, the last also
/// while nothing is metered.
[[nodiscard]] std::vector<std::string> budget_columns();
[[nodiscard]] std::vector<Cell> budget_cells(const Contract* contract, const std::optional<BudgetStanding>& budget);
/// "guarantees 8 a100, 2025-12-31T23:00:00Z to 2026-12-31T22:59:59Z".
[[nodiscard]] std::string summary_of(const Contract& contract);

}  // namespace accord
