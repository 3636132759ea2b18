// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/contract_controls.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace accord {
namespace {

using State = ControlState;

void warn(Controls& controls, const std::string& control, const std::string& found, Advice advice) {
    check(controls, control, false, State::warning, found, std::move(advice));
}

/// The nearest account above `account` that has a contract in the partition; empty when there is none.
std::string contract_above(const std::string& account, const std::set<std::string>& with_contract,
                           const std::map<std::string, std::string>& parents) {
    std::set<std::string> seen{account};
    for (auto above = parents.find(account); above != parents.end(); above = parents.find(above->second)) {
        if (with_contract.contains(above->second)) return above->second;
        if (!seen.insert(above->second).second) break;
    }
    return {};
}

void check_accounts(Controls& controls, const Config& config, const ContractFacts& facts) {
    if (!facts.accounts) return;
    for (const auto& pool : config.pools) {
        std::set<std::string> with_contract;
        for (const auto& one : facts.contracts)
            if (one.contract->partition == pool.partition) with_contract.insert(one.contract->account);
        for (const auto& account : with_contract)
            if (!facts.accounts->contains(account))
                warn(controls, "contract account", fmt::format("{}/{}: Slurm has no such account", account, pool.partition),
                     {"jobs cannot name it", fmt::format("sacctmgr add account {}", account)});
        for (const auto& [account, parent] : facts.parents) {
            if (with_contract.contains(account)) continue;
            const auto above = contract_above(account, with_contract, facts.parents);
            if (!above.empty())
                warn(controls, "child account", fmt::format("{} is below {}, which has a contract in {}", account, above, pool.partition),
                     {"a contract is for its own account alone: the child's jobs are rejected (no_contract)",
                      fmt::format("a contract with account = \"{}\"", account)});
        }
    }
}

void check_pools_of(Controls& controls, const Config& config, const ContractFacts& facts) {
    for (const auto& one : facts.contracts)
        if (config.pool_of(one.contract->partition) == nullptr)
            check(controls, "contract pool", false, State::mismatch,
                  fmt::format("{}: accord.toml has no such pool", one.contract->key()),
                  {"its jobs are not governed", fmt::format("accord.toml: [[pool]] partition = \"{}\"", one.contract->partition)});
}

}  // namespace

Controls check_contracts(const Config& config, const ContractFacts& facts) {
    Controls controls;
    const auto active = std::count_if(facts.contracts.begin(), facts.contracts.end(),
                                      [](const auto& one) { return one.state == ContractState::active; });
    check(controls, "contracts", active > 0, State::warning, fmt::format("{} active of {}", active, facts.contracts.size()),
          {"every job for a pool is rejected (no_contract)", "accord apply FOLDER"});
    const auto breaches = guarantee_breaches(config, facts.contracts);
    check(controls, "guarantees", breaches.empty(), State::mismatch,
          breaches.empty() ? "within the pools' capacity" : breaches.front(),
          {"more is promised than is there (R10)", "accord apply, with smaller guarantees"});
    check_pools_of(controls, config, facts);
    for (const auto& warning : facts.member_warnings)
        warn(controls, "members", warning, {"who is not resolved cannot submit", "make the user or group, or change the contract"});
    for (const auto& owner : facts.missing_owners)
        warn(controls, "contract owner", owner + ": there is no such user",
             {"nobody answers for the contract", "change [owners] in the contract's file, and apply it"});
    check_accounts(controls, config, facts);
    return controls;
}

}  // namespace accord
