// SPDX-License-Identifier: GPL-2.0-or-later
// A contract's budget: how much of it is used in the present period, and what that means for its jobs (R5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "policy/contract.hpp"

namespace accord {

/// A month, a quarter or a year of the cluster's calendar, in seconds since the epoch.
struct Period {
    std::int64_t start_s = 0;
    std::int64_t end_s = 0;  ///< the first second of the next one
    bool operator==(const Period&) const = default;

    [[nodiscard]] bool contains(std::int64_t when_s) const { return start_s <= when_s && when_s < end_s; }
    /// How many seconds of it lie between the two.
    [[nodiscard]] std::int64_t overlap(std::int64_t from_s, std::int64_t to_s) const;
};

/// What a contract's jobs, guaranteed and borrowed ones, have used of the GPUs of all types within one period.
struct BudgetUse {
    Period period;
    std::int64_t gpu_s = 0;
    /// What running and pending jobs may still use: their claims for what is left of their time limits and the period.
    std::int64_t outstanding_gpu_s = 0;
    bool operator==(const BudgetUse&) const = default;
};

/// By contract; of those that have a budget.
using BudgetUses = std::map<std::string, BudgetUse>;

/// What a budget keeps its contract's jobs from.
enum class BudgetLimit {
    none,
    borrow_only,  ///< nothing is guaranteed
    reject,       ///< nothing is admitted or released that asks for GPUs
};

struct BudgetStanding {
    BudgetLimit limit = BudgetLimit::none;
    std::int64_t budget_gpu_s = 0;  ///< 0: the contract has none
    std::int64_t used_gpu_s = 0;
    std::int64_t outstanding_gpu_s = 0;
    std::optional<std::int64_t> period_end_s;  ///< unset: nothing is metered of this period yet
};

/// How the contract stands by what was metered last. A budget is reached when all of it is used. Up to `overrun_percent`
/// of it the contract then borrows, above it does as `on_exhausted` says. When a period is over, what was used in it no
/// longer counts.
[[nodiscard]] BudgetStanding standing_of(const Contract& contract, const BudgetUses& uses, std::int64_t now_s);

/// GPU-seconds in hours, rounded down: "12.5", "20000".
[[nodiscard]] std::string gpu_hours_text(std::int64_t gpu_s);

}  // namespace accord
