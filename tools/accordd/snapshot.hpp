// SPDX-License-Identifier: GPL-2.0-or-later
// The ledger's snapshot from a job list, and what must be counted beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "policy/ledger.hpp"
#include "policy/plan.hpp"
#include "resolver.hpp"
#include "roster.hpp"

namespace accord {

/// Those of the resolver's open decisions that jobs of the list carry, ended jobs' too.
[[nodiscard]] std::unordered_set<std::uint64_t> open_decisions_shown(const std::vector<JobView>& jobs, const Roster& roster,
                                                                     const Resolver& resolver, std::uint32_t controller);

/// `jobs`, the roster and the resolver's marks must come from the same list.
[[nodiscard]] LedgerBase snapshot(const std::vector<GovernedJob>& jobs, const Roster& roster, const Resolver& resolver,
                                  const ClusterShape& shape, std::uint32_t controller, std::int64_t taken_s);

/// True where both say the same, whenever they were taken, of claims and shape.
[[nodiscard]] bool same_ledger(const LedgerBase& left, const LedgerBase& right);

/// True where the newer one's budgets are worth a file: a contract is in another period or kept from something else than
/// by the one that was written, or use has been metered for a minute since.
[[nodiscard]] bool budgets_are_due(const Policy& policy, const LedgerBase& written, const LedgerBase& newer);

/// The snapshot's claims and those of the decisions that are still open: what the plugin counts at this moment.
[[nodiscard]] std::unordered_map<std::string, ContractClaims> all_claims(std::shared_ptr<const LedgerBase> base,
                                                                         const Resolver& resolver);

}  // namespace accord
