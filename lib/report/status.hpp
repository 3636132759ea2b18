// SPDX-License-Identifier: GPL-2.0-or-later
// How matters stand: guarantees, claims and use of every contract.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "policy/config.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"
#include "report/record.hpp"
#include "store/usage_db.hpp"

namespace accord {

/// A contract and one GPU type.
struct StatusRow {
    std::string contract, pool;
    std::string state;  ///< of the contract; "none" where jobs claim for a contract that is not there
    std::string gpu_type;
    Gpus guaranteed = 0;
    Gpus claimed = 0;   ///< by guaranteed jobs, pending ones too
    Gpus headroom = 0;
    Gpus borrowed = 0;  ///< claimed by borrowed jobs, pending ones too
    Gpus excess = 0;
    Gpus in_use = 0;    ///< held by running jobs of either class
    Gpus lent = 0;      ///< of the guarantee: idle here, and in use by other contracts beyond theirs
    Gpus lendable = 0;  ///< of the guarantee: not claimed here, and within the lend limit
    std::int64_t queued_jobs = 0;  ///< of the contract, whatever their type
    std::optional<BudgetStanding> budget;  ///< of the contract, where it has one
};

/// A pool and one GPU type.
struct PoolStatus {
    std::string pool, gpu_type;
    Gpus capacity = 0;
    Gpus available = 0;   ///< on nodes that are neither down nor draining; the capacity where no shape is known
    Gpus guaranteed = 0;  ///< by contracts in force
    Gpus in_use = 0;
    Gpus lent = 0;
    /// R14: how much more excess there may be; unset where no contract of the pool has a lend limit.
    std::optional<Gpus> borrowable;
};

struct StatusInput {
    const Config& config;
    const std::vector<PolicyContract>& contracts;
    const LedgerNow& now;
    const std::vector<UsageInterval>& running;
    std::int64_t now_s = 0;
    std::string pool;  ///< only this one; empty: all
};

struct Status {
    std::vector<StatusRow> rows;    ///< by contract and type
    std::vector<PoolStatus> pools;  ///< in the order of accord.toml
};

[[nodiscard]] Status status_of(const StatusInput& input);

/// Shares `total` out over parts of at most `most[i]` each, in proportion to them: largest remainders first, then the
/// first. What exceeds their sum is left out.
[[nodiscard]] std::vector<Gpus> share_out(Gpus total, const std::vector<Gpus>& most);

}  // namespace accord
