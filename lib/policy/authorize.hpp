// SPDX-License-Identifier: GPL-2.0-or-later
// May this job run at all? The ladder of section "who may": the first rung that fails is the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/count.hpp"
#include "policy/decision.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"
#include "policy/request.hpp"
#include "policy/shape.hpp"

namespace accord {

/// A request for one pool, with what the rungs look at already found out.
struct Application {
    const Policy& policy;
    const JobRequest& request;
    const PoolConfig& pool;
    const PartitionShape* shape = nullptr;  ///< null: not known yet
    std::int64_t now_s = 0;

    std::string account;                       ///< in lower case; empty: none named and none found (R2)
    std::vector<std::string> accounts_to_name;  ///< R2: several contracts would do
    const PolicyContract* contract = nullptr;
    const ContractClaims* claims = nullptr;  ///< the contract's, without this job; null without a contract
    GpuCount count;                          ///< types settled (R9)
    BudgetStanding budget;                   ///< the contract's
    /// R7: of a heterogeneous job what it asks of the contract up to this component, where that is more than `count`.
    std::optional<GpuIntervals> with_earlier;

    [[nodiscard]] const GpuIntervals& of_whole_job() const { return with_earlier ? *with_earlier : count.gpus; }

    [[nodiscard]] const Contract& terms() const { return *contract->contract; }
};

struct Refusal {
    Reason reason = Reason::none;
    std::string message;  ///< the whole line
};

/// Finds the contract (R2) and counts the GPUs (R4, R9).
[[nodiscard]] Application apply_for(const Policy& policy, const Ledger& ledger, const JobRequest& request,
                                    const PoolConfig& pool, std::int64_t now_s);

/// The first failing rung from `ambiguous_account` to `env_too_large`. Past it the application has a contract.
[[nodiscard]] std::optional<Refusal> authorize(const Application& application);

/// The time limit that the job must be given, where it names none and the partition's default does not do.
[[nodiscard]] std::optional<std::int64_t> imposed_time_limit(const Application& application);

/// The time limit that the job will have, its own, imposed or the partition's; nothing where there is none.
[[nodiscard]] std::optional<std::int64_t> time_limit_of(const Application& application);

/// `account` as contracts spell it.
[[nodiscard]] std::string lower_case(std::string account);

}  // namespace accord
