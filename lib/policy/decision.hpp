// SPDX-License-Identifier: GPL-2.0-or-later
// The answer to one submission or modification, and the words it is given in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config.hpp"
#include "policy/gpus.hpp"
#include "policy/request.hpp"

namespace accord {

enum class Verdict { admitted, queued, rejected };
enum class JobClass { guaranteed, borrowed, queued, exempt };
enum class DecisionKind { submission, modification };

/// Why a job was rejected, or why it is not guaranteed. The names are the ones users and records see.
enum class Reason {
    none,
    // the ladder, in its order
    store_unavailable, lend_partition, mixed_partitions, ambiguous_account, no_contract, not_active, not_member,
    workload_type, time_limit, gpu_type, gpus_per_job, gpus_per_user, cpus_per_gpu, scope_path, login_env,
    env_too_large, budget_exhausted, impossible,
    // modifications
    queued, stale, immutable,
    // admitted or queued, but not guaranteed; budget_exhausted as well
    headroom, borrow_limit, lend_limit, not_requeueable, not_eligible, no_gpu, exempt,
};

[[nodiscard]] const char* to_string(Verdict verdict);
[[nodiscard]] const char* to_string(JobClass cls);
[[nodiscard]] const char* to_string(DecisionKind kind);
[[nodiscard]] const char* to_string(Reason reason);
[[nodiscard]] std::optional<JobClass> job_class_from(const std::string& text);
[[nodiscard]] std::optional<Verdict> verdict_from(const std::string& text);
[[nodiscard]] std::optional<DecisionKind> decision_kind_from(const std::string& text);
[[nodiscard]] std::optional<Reason> reason_from(const std::string& text);

/// The record's number within its controller's journal, and the controller's index: "C-N".
struct DecisionId {
    std::uint32_t controller = 0;
    std::uint64_t number = 0;
    auto operator<=>(const DecisionId&) const = default;
};

/// What the plugin must change in the request so that the decision holds.
struct Rewrite {
    std::string account;
    std::string partition;
    bool hold = false;
    std::optional<std::int64_t> begin_s;      ///< R5: parked instead
    std::optional<std::int64_t> site_factor;  ///< R16, without Slurm's offset; unset for a queued job
    std::optional<std::int64_t> time_limit_min;
    std::optional<std::int64_t> array_limit;  ///< R7: a %limit that fits
    std::optional<GpuAsk> gpus;               ///< R9: the request's own TRES strings, with a type for its GPUs;
                                              ///< of an operator's update those that Slurm really holds after it
    /// Modifications by accordd only: the comment of the job's own decision, to be put back in place of the action's.
    std::optional<std::string> admin_comment;
};

struct Decision {
    DecisionKind kind = DecisionKind::submission;
    std::int64_t time_s = 0;
    Mode mode = Mode::enforce;
    std::string user;  ///< the name when known, else the uid in digits
    std::uint32_t uid = 0;  ///< whose job it is; the message of a modification names who asked for it, if another
    std::string account, partition;  ///< as judged (partition: the governed one)
    std::string contract;            ///< key, empty when none was found
    std::uint32_t contract_version = 0;
    Verdict verdict = Verdict::rejected;
    std::optional<JobClass> cls;  ///< unset when rejected
    Reason reason = Reason::none;
    GpuIntervals gpus;  ///< per task for arrays
    GpuVector claim;    ///< what the ledger counts: maxima, times the concurrent tasks; empty for queued and rejected
    std::optional<std::uint32_t> job_id;      ///< modifications only
    std::optional<DecisionId> job_decision;   ///< modifications only: the one named in the job's admin_comment
    /// The owner's wish while the job is queued: true, leave it held when it is released; false, that wish is
    /// withdrawn.
    std::optional<bool> user_hold;
    /// R7: the array's throttle that goes with this decision, 0 for none: as it was counted with, or as an operator has
    /// set it. Unset: says nothing of a throttle.
    std::optional<std::int64_t> throttle;
    std::string message;                  ///< the line for the researcher, with its "accord: " prefix
    Rewrite rewrite;

    /// Whether the submission or modification goes through; in observe mode (R18) everything does.
    [[nodiscard]] bool allows() const { return verdict != Verdict::rejected || mode == Mode::observe; }
};

[[nodiscard]] std::string to_string(const DecisionId& id);
[[nodiscard]] std::optional<DecisionId> decision_id_from(const std::string& text);

/// "accord:v1 decision=0-17": all that a job's admin_comment says.
[[nodiscard]] std::string comment_of(const DecisionId& id);
[[nodiscard]] std::optional<DecisionId> decision_in_comment(const std::string& admin_comment);

/// "accord:v1 action=5 to=guaranteed": how accordd's own updates are known to the plugin (R17).
struct ActionMark {
    std::uint64_t number = 0;
    JobClass to = JobClass::guaranteed;
    bool operator==(const ActionMark&) const = default;
};
[[nodiscard]] std::string comment_of(const ActionMark& mark);
[[nodiscard]] std::optional<ActionMark> action_in_comment(const std::string& admin_comment);

}  // namespace accord
