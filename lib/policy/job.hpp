// SPDX-License-Identifier: GPL-2.0-or-later
// A job as slurmctld lists it, in plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/request.hpp"

namespace accord {

enum class JobState { pending, running, suspended, completing, ended };
enum class Hold { none, user, admin };
/// How an ended job came to its end. Slurm says "preempted" of jobs only that it cannot requeue.
enum class Ending { none, completed, failed, cancelled, preempted };

/// One record of the job list: a job, an array's pending rest, or one array task.
struct JobView {
    std::uint32_t job_id = 0;
    std::uint32_t het_job_id = 0;                ///< 0: not of a heterogeneous job
    std::uint32_t array_job_id = 0;              ///< 0: not of an array
    std::optional<std::uint32_t> array_task_id;  ///< unset for the pending rest of an array
    std::optional<ArraySpec> array;              ///< the pending rest: its indices and throttle
    std::optional<std::int64_t> array_limit;     ///< the throttle, on every record of an array
    std::uint32_t uid = 0;
    std::string account, partition;
    JobState state = JobState::pending;
    Ending ending = Ending::none;
    Hold hold = Hold::none;
    bool dependent = false;  ///< waits for another job
    std::string admin_comment;
    std::int64_t submit_s = 0, begin_s = 0, start_s = 0, end_s = 0;  ///< begin_s: not before
    std::uint32_t priority = 0;
    std::optional<std::int64_t> site_factor;  ///< without Slurm's offset
    std::uint32_t restarts = 0;
    WorkloadType type = WorkloadType::batch;
    bool requeueable = true;
    std::optional<std::int64_t> time_limit_min;
    std::string work_dir, std_out, std_err, std_in;  ///< as submitted; filled where a change is judged, not in lists
    GpuAsk gpus;
    GpuVector allocated;  ///< what it really holds, by type, while running or suspended
    /// The nodes that it holds or held last, as ranges (first, last) of slurmctld's node indices.
    std::vector<std::pair<std::int32_t, std::int32_t>> nodes;

    /// R5: no date of its user's and no dependency is before it. A hold is another matter.
    [[nodiscard]] bool eligible_at(std::int64_t now_s) const { return !dependent && own_begin(begin_s) <= now_s; }
    /// Neither can Slurm start it: it is held or parked.
    [[nodiscard]] bool is_kept() const { return hold != Hold::none || is_parked(begin_s); }
    /// slurmctld lists a job that has run with the nodes that it had then and without its limit of nodes, requeued or not
    /// (_pack_default_job_details, 22.05 and 24.11).
    [[nodiscard]] bool lacks_node_limit() const {
        return !gpus.max_nodes && (state != JobState::pending || restarts != 0);
    }
    [[nodiscard]] bool holds_resources() const {
        return state == JobState::running || state == JobState::suspended || state == JobState::completing;
    }
};

}  // namespace accord
