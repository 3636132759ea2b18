// SPDX-License-Identifier: GPL-2.0-or-later
// R5, R6, R8, R14, R16: in which class a job that may run does run. Shared by submissions and by accordd's plan.
#pragma once

#include <cstdint>

#include "policy/decision.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"

namespace accord {

/// What classification needs of a job.
struct ClassifyInput {
    const PolicyContract* contract = nullptr;
    const PoolConfig* pool = nullptr;
    const ContractClaims* claims = nullptr;
    GpuVector ask;      ///< the claim if admitted: maxima, times the concurrent tasks of an array
    GpuVector ask_min;  ///< fewest GPUs of one task: what the pool must be able to give
    GpuVector ask_max;  ///< most GPUs of one task: what the contract must be able to hold
    bool may_borrow = true;  ///< R6
};

struct Classification {
    Verdict verdict = Verdict::rejected;
    JobClass cls = JobClass::queued;
    Reason reason = Reason::none;  ///< impossible when rejected
    std::string type;              ///< the GPU type that the reason is about
};

[[nodiscard]] Classification classify(const ClassifyInput& input);

/// R16, without Slurm's offset. `excess_after` and the guarantee are sums over the contract's types.
[[nodiscard]] std::int64_t site_factor(const Config& config, const Contract& contract, JobClass cls,
                                       const ContractClaims& claims_after);

/// R7: the most tasks, of `per_task` GPUs each, that the contract could ever hold at once: guarantee plus borrow limit,
/// at most the pool; with `may_borrow` false the guarantee alone.
[[nodiscard]] std::int64_t most_tasks(const Contract& contract, const PoolConfig& pool, const GpuVector& per_task,
                                      bool may_borrow);

}  // namespace accord
