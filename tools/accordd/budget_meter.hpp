// SPDX-License-Identifier: GPL-2.0-or-later
// How much of its budget each contract has used in the present period.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "contract/calendar.hpp"
#include "policy/plan.hpp"
#include "policy/policy.hpp"
#include "store/usage_db.hpp"
#include "usage_meter.hpp"

namespace accord {

/// Sums up stretches of use: those that have ended as they end, running ones as far as a list has shown them. A contract's
/// period is looked up in usage.db when it begins, when accordd starts and when the contract gets its budget. Where the
/// ledger file knows of more use in the same period than usage.db does, which was lost then, it goes on from that. What
/// the file says of a contract that is not there stays until its period ends.
class BudgetMeter {
public:
    /// Goes on from the ledger file: what was used up to `metered_s`.
    BudgetMeter(BudgetUses known, std::int64_t metered_s) : known_(std::move(known)), known_s_(metered_s) {}

    /// The stretches that a list has changed, as UsageMeter::update gives them, once.
    void add(const std::vector<UsageInterval>& changed);
    /// Sees to it that each contract with a budget is metered for the period of `now_s`, and no other. `usage` must hold
    /// all that was added.
    [[nodiscard]] Result<void> follow(const Policy& policy, const Calendar& calendar, const UsageDb& usage,
                                      std::int64_t now_s);
    [[nodiscard]] BudgetUses uses(const UsageMeter& running) const;

private:
    struct Account {
        Period period;
        std::int64_t from_s = 0;  ///< from when on stretches count
        std::int64_t gpu_s = 0;   ///< of ended ones, and what was used before `from_s`
        void count(const UsageInterval& interval, std::int64_t end_s);
    };
    [[nodiscard]] Result<Account> open(const std::string& contract, const Period& period, const UsageDb& usage) const;

    std::map<std::string, Account> accounts_;  ///< by contract
    BudgetUses known_;                         ///< of contracts without an account yet
    std::int64_t known_s_;
};

/// Adds what the jobs may still use within the periods: their claims for what is left of their time limits.
void add_outstanding(BudgetUses& uses, const std::vector<GovernedJob>& jobs, std::int64_t now_s);

}  // namespace accord
