// SPDX-License-Identifier: GPL-2.0-or-later
// R17: what becomes of a change to a job that is already there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/amend.hpp"
#include "policy/decision.hpp"
#include "policy/job.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"

namespace accord {

/// What `scontrol hold`, `uhold`, `release` and `update Priority=` come to.
enum class PriorityChange { none, hold, release, set };

/// The fields that one update would change; what is absent or empty stays as it is.
struct Change {
    PriorityChange priority = PriorityChange::none;
    std::optional<std::string> partition, account;
    std::optional<std::string> admin_comment;
    std::optional<std::string> work_dir, std_out, std_err, std_in;
    bool begin = false;  ///< StartTime
    /// Of an array the new throttle, 0 for none; in `asks`, too. In force before it is judged (_update_job, 22.05).
    std::optional<std::int64_t> array_limit;
    std::optional<std::int64_t> time_limit_min, end_s;
    std::optional<bool> requeue;
    AskChange gpus;  ///< what it sets of what decides GPUs
    bool node_list_malformed = false;  ///< the nodes of ReqNodeList could not be counted
    UpdateSemantics semantics = UpdateSemantics::replace;  ///< of the slurmctld that asks
    /// scontrol's names of the changed fields that say what the job asks for: GPUs (Gres, TresPer...), nodes, tasks,
    /// CPUs, memory, sharing, TimeLimit, EndTime, ArrayTaskThrottle, Requeue. What asks for nothing (Comment, JobName,
    /// Nice, Dependency, StartTime, Features, ...) is not listed.
    std::vector<std::string> asks;

    [[nodiscard]] bool names_path() const { return work_dir || std_out || std_err || std_in; }
};

struct Modification {
    std::optional<JobView> job;  ///< as slurmctld has it at this moment; unset: it could not be read
    std::string job_name;        ///< as the caller named it ("17", "9_2"), for the message
    std::uint32_t caller_uid = 0;
    bool by_operator = false;  ///< root, SlurmUser or a Slurm operator
    Change change;
};

/// Judges a modification. Empty: let it pass without a record. Otherwise the decision is recorded, applied to the
/// ledger under the same lock (apply_to_ledger), and refused unless `allows()`. A caller with an ActionMark in
/// `admin_comment` who is an operator is accordd: the job is counted anew, judged by its contract's headroom or limits
/// for the class named, and refused as `stale` where these no longer hold. Where it changes an array's throttle and
/// nothing else it puts back what a user was refused, and passes.
///
/// What a user's change widens is judged as a new request would be, the job's own claim given back first, and must fit
/// the class that the job has; what narrows or leaves alone passes. `claim` is what the change adds to the job's claim:
/// both count until a snapshot shows the change, so that none is missing whatever slurmctld makes of it.
[[nodiscard]] std::optional<Decision> decide_modification(const Policy& policy, const Ledger& ledger,
                                                          const Modification& modification, std::int64_t now_s);

}  // namespace accord
