// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's pass as a pure function: from the world as it is to what must be done about it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/decision.hpp"
#include "policy/job.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"

namespace accord {

enum class ActionKind { promote, release, hold, park, demote, cancel, throttle };

/// What accordd is to do with one pending job, or with the throttle of one array.
struct Action {
    ActionKind kind = ActionKind::promote;
    std::uint32_t job_id = 0;
    std::optional<std::uint32_t> task;  ///< R7: of the array's pending rest `job_id` this task alone, which so gets a record of its own
    std::string contract;
    JobClass from = JobClass::queued;
    JobClass to = JobClass::guaranteed;
    GpuVector gpus;  ///< the claim that goes with it
    std::string partition;                     ///< where the job goes, or is
    std::optional<std::int64_t> site_factor;   ///< R16, without Slurm's offset
    std::optional<std::int64_t> begin_s;  ///< of a job that is parked, or is to be
    bool user_hold = false;  ///< leave a hold that the user asked for while it was queued
    std::int64_t throttle = 0;  ///< what the array's is put back to; 0: none
    /// Where there is room now, of a demotion where there is none any more (a limit: a released job that does not start
    /// gives way to another, R14); `queued` of what is only kept queued, `not_active` of what R19 stops, `immutable` for a
    /// throttle.
    Reason reason = Reason::headroom;

    /// R5: kept from starting by its begin time, not by a hold.
    [[nodiscard]] bool parks() const { return to == JobClass::queued && begin_s.has_value(); }
};
[[nodiscard]] const char* to_string(ActionKind kind);

/// What the record knows of a job beyond the job list.
struct JobFacts {
    DecisionId decision;
    std::int64_t decided_s = 0;
    JobClass cls = JobClass::borrowed;  ///< after the latest decision or modification on record
    bool user_wants_hold = false;
    std::optional<std::int64_t> throttle;  ///< R7: of an array, the latest on record; 0: none. Unset: the record is silent
    std::optional<std::int64_t> max_nodes;  ///< R4: the most nodes that it was ever judged for; unset: no limit
    bool not_eligible = false;  ///< R5: it was not eligible when it was judged last: it claims once it is
    std::int64_t released_s = 0;        ///< when it was released last to borrow; 0: it never was
    std::int64_t sent_back_s = 0;       ///< R14: when it was queued again, since it had not started; 0: it never was
    std::int64_t preemptions = 0;       ///< a user's own requeues do not count
    std::int64_t last_preempted_s = 0;  ///< the end of the last run that was preempted

    /// What a decision about the job says that names a class. One that leaves it queued leaves its eligibility, too. A
    /// release leaves the hold that was wished for to Slurm, and to the user: he may lift it, and nobody is asked.
    void classify(JobClass to, Reason why, std::int64_t at_s) {
        if (cls == JobClass::queued && to == JobClass::borrowed) released_s = at_s;
        cls = to;
        if (to != JobClass::queued) user_wants_hold = false;
        not_eligible = why == Reason::not_eligible || (not_eligible && to == JobClass::queued);
    }
};

/// A job that Accord counts: the list's record, the contract it counts for, its class and its claim.
struct GovernedJob {
    const JobView* job = nullptr;
    std::string contract;  ///< account/partition, whether or not such a contract exists
    JobClass cls = JobClass::borrowed;
    GpuVector claim;        ///< empty for a queued job; of an array, this record's part of what all claim together
    GpuVector would_claim;  ///< what it claims when it is promoted or released
    std::int64_t at_once = 1;  ///< R7: tasks that `would_claim` is for
    std::optional<JobFacts> facts;  ///< none: it never passed the plugin, or the record is not loaded yet
    bool at_rest = false;           ///< it counts, and is left alone

    /// R7: its array's throttle is another than the one on record: Slurm applies a change of it before it asks the
    /// plugin, which refuses it in vain (_update_job, 22.05).
    [[nodiscard]] bool throttle_is_off() const;
};

/// Class from the partition, contract from account and partition, GPUs from the job's own request (section "ledger").
/// Jobs of ungoverned partitions and ended jobs are left out. A held job of the lend partition counts as queued only
/// where the record says so or where the hold is an administrator's and the record is silent.
///
/// R7: the records of one array in one class, its pending rest and the tasks split off, claim together what may run at
/// once: as many tasks as the throttle allows, at least those that hold resources. Tasks of it in the other class claim
/// for themselves. Where the throttle in force is another than the one on record the wider of them counts, so that no
/// claim grows when it is put back.
[[nodiscard]] std::vector<GovernedJob> governed_jobs(
    const Policy& policy, const ClusterShape& shape, const std::vector<JobView>& jobs, std::int64_t now_s,
    const std::function<std::optional<JobFacts>(const JobView&)>& facts);

/// The sums of the jobs' claims by contract.
[[nodiscard]] std::unordered_map<std::string, ContractClaims> claims_of(const std::vector<GovernedJob>& jobs);

/// accordd's pass: one action for each array whose throttle is off, whatever its contract's state; its jobs are left alone
/// otherwise until it is put back. Then what a contract that is not in force any more loses (R19): its pending jobs are
/// held in the lend partition, and cancelled if it is revoked. Then promotions of borrowed jobs and releases of queued ones
/// that the headroom and the limits allow, in R16's order; administrators' holds for queued jobs that only a user hold
/// keeps. An array of which only some tasks fit is split (R7). Last, pending jobs go back whose claims are not their
/// contract's to give any more: beyond a guarantee that shrank, or made pending again after their end; those that were
/// preempted as often as their contract allows; and one that was released a minute ago, has not started and keeps another
/// from what is idle (R14).
///
/// `claims` starts as what the ledger counts, tail included, and each promotion and release claims from it, so that the
/// actions hold together; what is taken back is given anew after the next list. Nothing to change gives an empty list.
/// Nothing is promoted or released for a contract that is not active, in a pool whose shape is not known, or in observe
/// mode (R18); jobs without GPUs stay borrowed (R8), exempt ones stay where they are, and a pending borrowed job is
/// promoted only once it is eligible. While a contract's budget is reached (R5), nothing of it becomes guaranteed, and
/// where `on_exhausted` says reject nothing that asks for GPUs is released.
[[nodiscard]] std::vector<Action> plan(const Policy& policy, const ClusterShape& shape,
                                       const std::vector<GovernedJob>& jobs,
                                       std::unordered_map<std::string, ContractClaims> claims,
                                       const BudgetUses& budgets, std::int64_t now_s);

}  // namespace accord
