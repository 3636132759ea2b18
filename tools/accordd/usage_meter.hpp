// SPDX-License-Identifier: GPL-2.0-or-later
// Turns successive job lists into stretches of use: who held what, in which class, how it ended and for whom.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "policy/config.hpp"
#include "policy/job.hpp"
#include "store/usage_db.hpp"

namespace accord {

/// Slurm does not say for whom it preempts a job. A borrowed job that is requeued counts as preempted for the first
/// guaranteed job of its pool that starts on one of its nodes within `beneficiary_window_s` after its end; without one
/// it was requeued. A job that a list never shows running is metered when it has ended, with the GPUs that it asked for.
class UsageMeter {
public:
    static constexpr std::int64_t beneficiary_window_s = 60;
    using OnRecord = std::function<bool(std::uint32_t job_id, std::uint32_t restart)>;

    /// Goes on with the stretches that were open when accordd ended, and known to be so up to `seen_s`.
    explicit UsageMeter(const std::vector<UsageInterval>& open, std::int64_t seen_s = 0);

    /// The stretches that began, ended or found their beneficiary since the list before. `taken_s` is the time before the
    /// list was asked for: a job that it shows running ran then. When the clock has stepped back, no stretch ends before
    /// it was last seen. `on_record` says whether a stretch that has ended, by job and restart, was written before.
    [[nodiscard]] std::vector<UsageInterval> update(const Config& config, const ClusterShape& shape,
                                                    const std::vector<JobView>& jobs, std::int64_t taken_s,
                                                    const OnRecord& on_record);

    /// The stretches that are open, and up to when a list has shown their jobs running.
    void each_running(const std::function<void(const UsageInterval& interval, std::int64_t seen_s)>& use) const;

private:
    using NodeRanges = std::vector<std::pair<std::int32_t, std::int32_t>>;
    struct Stretch {
        UsageInterval interval;
        std::string pool;
        NodeRanges nodes;
        std::int64_t seen_s = 0;
        std::uint64_t seen_in = 0;  ///< the list that showed it last
    };

    void see(const Config& config, const ClusterShape& shape, const JobView& job, std::vector<UsageInterval>& changed,
             const OnRecord& on_record);
    bool goes_on(const JobView& job, const std::string& pool);
    void see_ended(const JobView& job, Stretch now, std::vector<UsageInterval>& changed,
                   const OnRecord& on_record);
    void finish(Stretch stretch, std::int64_t end_s, const char* how, std::vector<UsageInterval>& changed);
    void finish_running(std::uint32_t job_id, std::int64_t end_s, const char* how,
                        std::vector<UsageInterval>& changed);
    void finish_vanished(std::vector<UsageInterval>& changed);
    void find_beneficiaries(const Config& config, const std::vector<JobView>& jobs,
                            std::vector<UsageInterval>& changed);

    std::int64_t taken_s_ = 0;  ///< of the list at hand
    std::uint64_t list_ = 0;    ///< counts them
    std::map<std::uint32_t, Stretch> running_;  ///< by job id
    std::vector<Stretch> lost_;                 ///< borrowed ones that may still find a beneficiary
    std::set<std::pair<std::uint32_t, std::uint32_t>> ended_;  ///< job and restart, while the list shows them
};

}  // namespace accord
