// SPDX-License-Identifier: GPL-2.0-or-later
// R5, R6, R8, R14, R16: in which class a job that may run does run. Shared by submissions and by accordd's plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "policy/decision.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"

namespace accord {

/// R5: whether a job could start now, as far as its user is concerned.
enum class Eligibility {
    now,
    later,     ///< it is held by its user, or waits for a date or a dependency
    together,  ///< R7: a component of a heterogeneous job, judged before all of it is known
};

/// What classification needs of a job.
struct ClassifyInput {
    const PolicyContract* contract = nullptr;
    const PoolConfig* pool = nullptr;
    const ContractClaims* claims = nullptr;
    GpuVector ask;  ///< the claim if admitted: maxima, times the concurrent tasks of an array
    /// Of one task, or of a heterogeneous job up to this component: the pool must be able to give the fewest, the
    /// contract to hold the most.
    const GpuIntervals* per_task = nullptr;
    bool may_borrow = true;  ///< R6
    Eligibility eligibility = Eligibility::now;
    bool within_budget = true;  ///< R5: false, nothing of the contract is guaranteed now
    const PoolLoans* loans = nullptr;  ///< R14: of the pool
};

/// R6: a job that would not survive being preempted does not borrow.
[[nodiscard]] bool may_borrow(const Contract& contract, WorkloadType type, bool requeueable);

/// R5: whether anything could keep the job from borrowing once it is eligible, when Slurm starts it without asking.
[[nodiscard]] bool may_be_stopped(const ClassifyInput& input);

struct Classification {
    Verdict verdict = Verdict::rejected;
    JobClass cls = JobClass::queued;
    Reason reason = Reason::none;  ///< impossible when rejected
    std::string type;              ///< the GPU type that the reason is about
};

/// The class of a job that the ladder lets in, or `impossible`.
[[nodiscard]] Classification classify(const ClassifyInput& input);

/// R5, R11: the first type of `ask` that does not fit the headroom; empty when all do.
[[nodiscard]] std::optional<std::string> beyond_headroom(const Contract& contract, const ContractClaims& claims,
                                                         const GpuVector& ask);
/// R14: the first type of which `ask` more would bring the excess beyond the borrow limit.
[[nodiscard]] std::optional<std::string> beyond_borrow_limit(const Contract& contract, const ContractClaims& claims,
                                                             const GpuVector& ask);

/// GPUs of all types that the member's jobs claim in the contract.
[[nodiscard]] Gpus claimed_by(const ContractClaims& claims, std::uint32_t uid);
/// Whether `ask` more would bring the member's claims beyond `max_gpus_per_user`.
[[nodiscard]] bool beyond_member_limit(const Contract& contract, const ContractClaims& claims, std::uint32_t uid,
                                       const GpuVector& ask);

/// R11, R14: whether `claims`, with the member's claim of `claim` in class `cls` among them, are more than the contract
/// gives of a type in `claim`, or to the member.
[[nodiscard]] bool beyond_contract(const Contract& contract, const ContractClaims& claims, std::uint32_t uid, JobClass cls,
                                   const GpuVector& claim);

/// The most GPUs of a type that the contract could ever hold: guarantee plus borrow limit, or what the others lend at most,
/// within the pool; with `may_borrow` false the guarantee alone.
[[nodiscard]] Gpus most_ever(const Contract& contract, const PoolConfig& pool, const std::string& type,
                             bool may_borrow, const PoolLoans* loans = nullptr);

/// R16, without Slurm's offset: of a job of `cls` that claims `ask` beside `claims`. Excess and guarantee are sums over
/// the contract's types.
[[nodiscard]] std::int64_t site_factor(const Config& config, const Contract& contract, JobClass cls,
                                       const ContractClaims& claims, const GpuVector& ask);

/// R7: the most tasks, of `per_task` GPUs each, that the contract could ever hold at once. gpus_max where a task takes no
/// GPU.
[[nodiscard]] std::int64_t most_tasks(const Contract& contract, const PoolConfig& pool, const GpuIntervals& per_task,
                                      bool may_borrow, const PoolLoans* loans = nullptr);

}  // namespace accord
