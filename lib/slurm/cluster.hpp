// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld as accordd and the command line speak with it: what they ask, and what accordd changes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/error.hpp"
#include "policy/job.hpp"
#include "policy/shape.hpp"

namespace accord {

/// What slurmctld says of its own configuration.
struct ClusterSettings {
    std::string slurm_user;
    std::uint32_t slurm_user_uid = 0;
    std::vector<std::string> controllers;  ///< host names, in the order of slurm.conf's SlurmctldHost
    bool prolog_at_allocation = false;     ///< PrologFlags has Alloc (or a flag that implies it)
};

/// What becomes of a pending job's hold where an update changes it.
enum class HoldChange {
    release,  ///< priority=INFINITE, which also gives the job its computed priority again
    user,     ///< held as if by its user
    admin,    ///< held so that its user cannot release it
};

/// One update of one record of the job list. Of an array's pending rest all tasks that are still pending then. What is
/// unset stays as it is.
struct JobUpdate {
    std::uint32_t job_id = 0;
    std::optional<std::uint32_t> array_task;  ///< of the pending rest `job_id` this task alone: it gets a record of its own
    std::optional<std::string> partition;
    std::optional<std::int64_t> site_factor;  ///< without Slurm's offset
    std::string admin_comment;
    std::optional<HoldChange> hold;
    std::optional<std::int64_t> begin_s;      ///< the earliest start, seconds since the epoch
    std::optional<std::int64_t> array_limit;  ///< the array's throttle, 0 for none; `job_id` is the array's own
};

/// Every call waits for slurmctld's answer. One that it does not answer within MessageTimeout fails ("unavailable"), one
/// that finds no controller at all does so at once.
class Cluster {
public:
    virtual ~Cluster() = default;
    [[nodiscard]] virtual Result<ClusterSettings> settings() = 0;
    [[nodiscard]] virtual Result<ClusterShape> shape() = 0;
    /// All jobs that slurmctld knows, ended ones too. False: nothing has changed since the last call that did not fail,
    /// and `list` is left as it is. It is after a failure as well.
    [[nodiscard]] virtual Result<bool> jobs(std::vector<JobView>& list) = 0;
    /// The next list is a whole one: slurmctld does not take all that it does for a change, such as a throttle that it
    /// sets before it refuses it (_update_job, 22.05).
    virtual void expect_change() = 0;
    /// What slurmctld refuses fails with "refused"; it may have applied a part.
    [[nodiscard]] virtual Result<void> update(const JobUpdate& update) = 0;
    /// Ends one record of the job list, of an array the pending rest alone; asks no plugin. Fails as `update` does.
    [[nodiscard]] virtual Result<void> cancel(std::uint32_t job_id) = 0;
};

/// The cluster of SLURM_CONF, else of Slurm's own default. Reads slurm.conf; a bad one ends the process, as in every
/// program of Slurm's. One for each process.
[[nodiscard]] std::unique_ptr<Cluster> connect_slurm();

}  // namespace accord
