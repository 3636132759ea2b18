// SPDX-License-Identifier: GPL-2.0-or-later
// How much of its budget each contract has used in the present period.
#include "budget_meter.hpp"

#include <algorithm>

namespace accord {

void BudgetMeter::Account::count(const UsageInterval& interval, std::int64_t end_s) {
    const auto used_s = period.overlap(std::max(interval.start_s, from_s), end_s);
    gpu_s = saturating_add(gpu_s, saturating_mul(total(interval.gpus), used_s));
}

void BudgetMeter::add(const std::vector<UsageInterval>& changed) {
    for (const auto& interval : changed) {
        // A stretch that has found its beneficiary had ended before.
        if (!interval.end_s || interval.beneficiary_job) continue;
        if (const auto account = accounts_.find(interval.contract); account != accounts_.end())
            account->second.count(interval, *interval.end_s);
    }
}

Result<void> BudgetMeter::follow(const Policy& policy, const Calendar& calendar, const UsageDb& usage,
                                 std::int64_t now_s) {
    std::map<std::string, Account> accounts;
    for (const auto& [contract, version, state, members, hash] : policy.contracts()) {
        if (!contract->budget) continue;
        const auto period = calendar.period_at(contract->budget->period, now_s);
        if (!period) continue;
        const auto key = contract->key();
        if (const auto known = accounts_.find(key); known != accounts_.end() && known->second.period == *period) {
            accounts.insert(*known);
            continue;
        }
        const auto opened = open(key, *period, usage);
        if (!opened) return tl::unexpected(opened.error());
        accounts.emplace(key, *opened);
    }
    accounts_ = std::move(accounts);
    std::erase_if(known_, [&](const auto& known) {
        return accounts_.contains(known.first) || now_s >= known.second.period.end_s;
    });
    return {};
}

Result<BudgetMeter::Account> BudgetMeter::open(const std::string& contract, const Period& period,
                                               const UsageDb& usage) const {
    Account account{period, period.start_s, 0};
    if (const auto known = known_.find(contract); known != known_.end() && known->second.period == period) {
        const auto recorded = usage.gpu_seconds(contract, {period.start_s, known_s_}, UsageDb::Stretches::all);
        if (!recorded) return tl::unexpected(recorded.error());
        if (*recorded < known->second.gpu_s) account = {period, known_s_, known->second.gpu_s};
    }
    const auto ended = usage.gpu_seconds(contract, {account.from_s, period.end_s}, UsageDb::Stretches::ended);
    if (!ended) return tl::unexpected(ended.error());
    account.gpu_s = saturating_add(account.gpu_s, *ended);
    return account;
}

BudgetUses BudgetMeter::uses(const UsageMeter& running) const {
    auto accounts = accounts_;
    running.each_running([&](const UsageInterval& interval, std::int64_t seen_s) {
        if (const auto account = accounts.find(interval.contract); account != accounts.end())
            account->second.count(interval, seen_s);
    });
    auto uses = known_;
    for (const auto& [contract, account] : accounts) uses[contract] = {account.period, account.gpu_s, 0};
    return uses;
}

void add_outstanding(BudgetUses& uses, const std::vector<GovernedJob>& jobs, std::int64_t now_s) {
    if (uses.empty()) return;
    for (const auto& governed : jobs) {
        const auto use = uses.find(governed.contract);
        if (use == uses.end()) continue;
        const auto& job = *governed.job;
        const auto begins_s = job.holds_resources() ? job.start_s : now_s;
        const auto ends_s = job.time_limit_min ? begins_s + saturating_mul(*job.time_limit_min, 60) : gpus_max;
        const auto left_s = use->second.period.overlap(now_s, ends_s);
        auto& outstanding = use->second.outstanding_gpu_s;
        outstanding = saturating_add(outstanding, saturating_mul(total(governed.would_claim), left_s));
    }
}

}  // namespace accord
