// SPDX-License-Identifier: GPL-2.0-or-later
// How often jobs were preempted, by what usage.db has of their runs. Slurm does not say: a requeue counts a restart,
// whoever asked for it, and clears the time of a preemption (_job_requeue_op, 22.05).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "policy/job.hpp"
#include "roster.hpp"
#include "store/usage_db.hpp"

namespace accord {

class Preemptions {
public:
    struct Count {
        std::int64_t times = 0;
        std::int64_t last_s = 0;  ///< the end of the run that was preempted last
    };

    /// Of a job that waits again. usage.db is asked once for each, and again after a run that was noted.
    [[nodiscard]] Result<Count> of(const JobView& job, const UsageDb& usage);
    /// Runs that were written to usage.db. Whether one of them was preempted.
    bool note(const std::vector<UsageInterval>& written);
    /// Forgets jobs that the list does not show any more.
    void forget_unlisted(const Roster& roster);

private:
    std::map<std::uint32_t, Count> known_;  ///< by job
};

}  // namespace accord
