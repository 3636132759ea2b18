// SPDX-License-Identifier: GPL-2.0-or-later
// The one line that a researcher reads about a decision.
#pragma once

#include <string>
#include <string_view>

#include "policy/classify.hpp"
#include "policy/count.hpp"
#include "policy/decision.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"
#include "policy/request.hpp"

namespace accord {

/// "accord: BODY [CODE]".
[[nodiscard]] std::string refusal(std::string_view body, Reason code);

/// Whom to ask: the contract's operations owner, or without a contract the administrators.
[[nodiscard]] std::string whom_to_ask(const Config& config, const Contract* contract);

/// "12.3 of the 12 GPU-hours of its budget are used, and the next period begins at ...": of a budget that is reached.
[[nodiscard]] std::string budget_text(const BudgetStanding& budget);

/// Text from a request, fit for one line: no control characters, and not too long.
[[nodiscard]] std::string printable(std::string_view text);

/// " (counted high: ...)" where the count is only a bound, " (...)" where it is more than the request's own numbers say;
/// else empty.
[[nodiscard]] std::string count_remark(const GpuCount& count);

/// The option that asks for GPUs without a type, with `type` in it: "--gpus=a100:4".
[[nodiscard]] std::string typed_option(const GpuAsk& ask, const std::string& type);

/// What an admitted or queued job's line tells, beyond the decision itself.
struct Outcome {
    const Policy& policy;
    const JobRequest& request;
    const Decision& decision;
    const Contract& contract;
    const ContractClaims& claims;  ///< before this job
    GpuVector ask;                 ///< what it would claim (decision.claim is empty for a queued job)
    const Classification& classification;
    BudgetStanding budget{};
    std::int64_t may_use_gpu_s = 0;  ///< of the budget's present period, at most
    const PoolLoans* loans = nullptr;
};
[[nodiscard]] std::string admission(const Outcome& outcome);
/// R6: why a scrontab job, which would be queued, is refused.
[[nodiscard]] std::string refusal_of_cron(const Outcome& outcome);

/// `impossible`: what the contract and the pool could give at most.
[[nodiscard]] std::string impossibility(const Contract& contract, const PoolConfig& pool, const ContractClaims& claims,
                                        const std::string& type, const GpuInterval& asked, bool may_borrow,
                                        const PoolLoans* loans);

/// R14: "what partition gpu lends (4 of 4 a100 in use; vision-lab/gpu lends at most 2)".
[[nodiscard]] std::string lending_text(const PoolLoans& loans, const std::string& type);

/// " (did you mean gpu:3090:1?)" where a count without a type is more than the pool has: Slurm reads a model number as
/// that (R4). Else empty.
[[nodiscard]] std::string type_hint(const GpuAsk& ask, const PoolConfig& pool);

}  // namespace accord
