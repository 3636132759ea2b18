// SPDX-License-Identifier: GPL-2.0-or-later
// What one pass of planning looks at and has given away so far: shared by the steps of plan.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/plan.hpp"

namespace accord {

struct Planning {
    const Policy& policy;
    const ClusterShape& shape;
    const std::vector<GovernedJob>& jobs;
    const BudgetUses& budgets;
    std::int64_t now_s = 0;
    std::unordered_map<std::string, ContractClaims> claims;
    std::vector<Action> actions;
    std::unordered_map<std::uint32_t, JobClass> acted_on;  ///< by job, the class that an action brings it to
    std::map<std::string, GpuVector> idle;       ///< by pool, as far as it was asked for
    std::map<std::string, PoolLoans> loans;      ///< by pool, as far as they were asked for
    /// By array, the tasks with records of their own that have not ended; unset: not counted yet.
    std::optional<std::unordered_map<std::uint32_t, std::int64_t>> tasks_alive;
    /// The contract that was asked for last: each job is asked about several times in a row.
    mutable std::string last_contract{};
    mutable const Contract* last_in_force = nullptr;

    /// An action on a job itself, not on its array's throttle.
    void add(Action action);

    /// Of available nodes what no job holds, and none that is about to start as guaranteed claims.
    [[nodiscard]] GpuVector& idle_in(const PoolConfig& pool);
    /// R14, by `claims`.
    [[nodiscard]] const PoolLoans& loans_of(const PoolConfig& pool);
    /// The contract's `claims` have changed.
    void note_claims(const std::string& contract);

    [[nodiscard]] const PoolConfig& pool_of(const GovernedJob& governed) const;
    /// The contract that a pending job may be promoted or released for; null where there is none.
    [[nodiscard]] const Contract* contract_in_force(const GovernedJob& governed) const;
    /// R5.
    [[nodiscard]] bool within_budget(const Contract& contract, const GovernedJob& governed, JobClass to) const;
};

/// R14 of a pool, by all contracts' claims.
[[nodiscard]] PoolLoans loans_by(const Policy& policy, const PoolConfig& pool, const ClusterShape& shape, std::int64_t now_s,
                                 const std::unordered_map<std::string, ContractClaims>& claims);

/// Whether accordd may change the job: it is pending, nobody's exempt one, no scrontab job (R6), not at rest, and its
/// array's throttle is as it should be.
[[nodiscard]] bool is_movable(const GovernedJob& governed);

/// Whether it is eligible (R5: no date, dependency or hold of its user's from before is ahead of it) and its contract in force.
[[nodiscard]] bool may_move(const Planning& planning, const GovernedJob& governed);

/// Whether `claims` of its contract and the pool's loans leave room for the job in the class, and nothing else is in the way.
[[nodiscard]] bool may_be_given(const Planning& planning, const ContractClaims& claims, const PoolLoans& loans,
                                const GovernedJob& governed, JobClass to);
[[nodiscard]] bool may_be_given(Planning& planning, const GovernedJob& governed, JobClass to);
/// The better class that a job alone can have now; none: it stays as it is.
[[nodiscard]] std::optional<JobClass> class_for(Planning& planning, const GovernedJob& governed);
/// Promotes or releases it, or of an array one task.
void give(Planning& planning, const GovernedJob& governed, JobClass to, std::optional<std::uint32_t> task = {});

/// A borrowed job that was preempted as often as its contract allows waits for guaranteed GPUs; one that could never fit the
/// guarantee borrows again after a pause, which doubles with every further preemption, up to a day.
/// `borrows_again_s`: from when on it may; the greatest time for one that waits for guaranteed GPUs, 0 for one that does not
/// rest.
[[nodiscard]] std::int64_t borrows_again_s(const Contract& contract, const GovernedJob& governed);
[[nodiscard]] bool rests_from_borrowing(const Contract& contract, const GovernedJob& governed, std::int64_t now_s);

/// Moves a job's claim, in the contract's sums, to another class; queued: it has none any more.
void move_claim(ContractClaims& claims, const GovernedJob& governed, JobClass to);

/// Holds a pending job in the lend partition, or parks it where it depends on others: a held job's dependencies are not
/// tested (job_independent, 22.05).
[[nodiscard]] Action queueing_of(const Planning& planning, const GovernedJob& governed, ActionKind kind, Reason why);

/// Jobs that must go back to the queue, or be cancelled, since their contract is not in force any more (R19). None of them
/// is a candidate for anything else.
void stop_jobs(Planning& planning);

/// R7: an array's pending rest that does not fit as a whole: as many single tasks as do.
void split_array(Planning& planning, const GovernedJob& rest);

/// R14: a released job that has not started within a minute gives way to one that could; one at a time.
void send_back(Planning& planning);

/// Pending jobs whose claims are no longer their contract's to give (R5, R11, R14), and those that were preempted too
/// often: to be called when all is promoted and released that can be.
void take_back(Planning& planning);

}  // namespace accord
