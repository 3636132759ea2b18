// SPDX-License-Identifier: GPL-2.0-or-later
// One modification of a job that could be read, with what it is judged by: shared by modify.cpp and modify_user.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/decision.hpp"
#include "policy/governed.hpp"
#include "policy/ledger.hpp"
#include "policy/modify.hpp"
#include "policy/policy.hpp"

namespace accord {

struct Judgement {
    const Policy& policy;
    const Ledger& ledger;
    const Modification& modification;
    const JobView& job;
    Place place;
    std::int64_t now_s;

    [[nodiscard]] const Change& change() const { return modification.change; }
    /// Null without one, and outside of the pools.
    [[nodiscard]] const PolicyContract* contract() const;
    [[nodiscard]] const PoolLoans& loans() const { return ledger.loans(policy, *place.pool, now_s); }
    [[nodiscard]] std::string whom() const;
    [[nodiscard]] std::string job_text() const;  ///< "job 17", as the caller named it
};

/// A decision about the job that says nothing yet.
[[nodiscard]] Decision blank(const Judgement& judgement);
/// "accord: BODY [REASON]".
[[nodiscard]] Decision rejected(const Judgement& judgement, Reason reason, std::string_view body);

/// Whether the job's user asks. Slurm lets the coordinators of its account change it as well, and 22.05 asks the plugin
/// before it looks who it is that asks (_update_job): of anybody else's change nothing may count, nor be kept as a wish.
[[nodiscard]] bool is_owners(const Judgement& judgement);

/// A queued job is kept in the lend partition, and the record says so; where that is silent, an administrator's hold there
/// is accordd's.
[[nodiscard]] bool is_queued(const Judgement& judgement);
/// The class that the job has now; unset outside of the pools.
[[nodiscard]] std::optional<JobClass> class_now(const Judgement& judgement);

/// R5: whether the ledger may have no claim of a job of the class, since its user holds it or a date or dependency is
/// before it. It has one if it came to that only after it was admitted.
[[nodiscard]] bool may_be_uncounted(const Judgement& judgement, JobClass cls);

/// What one record of the job list claims: `gpus` for each of its tasks that may run at once.
[[nodiscard]] GpuVector record_claim(const JobView& job, const GpuIntervals& gpus, const PoolConfig& pool);

/// What a change does to the claim of one record of the job list.
struct ClaimChange {
    GpuIntervals gpus;   ///< R4 per task for arrays; at most what the change, or a part of it, asks for
    GpuVector before;    ///< what the record's tasks may hold now
    GpuVector after;     ///< what `gpus` let them hold
    GpuVector more;      ///< by how much `after` is beyond `before`
};
/// The job must be in a pool; `gpus` of the change are all that it looks at.
[[nodiscard]] ClaimChange claim_change(const Judgement& judgement);

}  // namespace accord
