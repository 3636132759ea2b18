// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out what the plan says: on record first, then in slurmctld, then how it came out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "policy/plan.hpp"
#include "roster.hpp"
#include "slurm/cluster.hpp"
#include "store/usage_db.hpp"

namespace accord {

/// The update that an action comes to; `number` is the action's on record (R17).
[[nodiscard]] JobUpdate update_of(const Action& action, std::uint64_t number);

class JobActor {
public:
    enum class Outcome {
        done,
        stale,  ///< overtaken: plan again
        refused,  ///< for another reason; the job is left alone for a while
    };
    /// Why the plugin refused the latest modification of a job, read off the journal; none: it did not.
    using WhyRefused = std::function<std::optional<Reason>(const Action& action)>;

    /// Both must outlive it.
    JobActor(Cluster& cluster, UsageDb& usage) : cluster_(&cluster), usage_(&usage) {}

    /// Fails ("unavailable", "io") where slurmctld or the record is out of reach: no further action makes sense now.
    [[nodiscard]] Result<Outcome> perform(const Action& action, const WhyRefused& why_refused, std::int64_t now_s);

    /// True while a job on which an action failed is left alone: a minute at first, twice as long each time, up to an
    /// hour. Where its array's throttle is off: while putting that back is.
    [[nodiscard]] bool resting(const GovernedJob& governed, std::int64_t now_s) const;
    [[nodiscard]] bool any_resting() const { return !resting_.empty(); }
    /// Whether the latest action on the job itself was a release that did not come about: the journal then says more than is
    /// true.
    [[nodiscard]] bool release_failed(std::uint32_t job_id);
    /// R14: when the job was sent back last since it had not started; 0: it never was.
    [[nodiscard]] std::int64_t sent_back_s(std::uint32_t job_id);
    /// Forgets jobs that the list does not show any more.
    void forget_unlisted(const Roster& roster);

private:
    struct Rest {
        std::int64_t until_s = 0, span_s = 0;
    };
    void rest(const Action& action, std::int64_t now_s);

    Cluster* cluster_;
    UsageDb* usage_;
    std::map<std::pair<std::uint32_t, bool>, Rest> resting_;  ///< by job, or by array for its throttle
    std::map<std::uint32_t, bool> release_failed_;
    std::map<std::uint32_t, std::int64_t> sent_back_s_;
};

}  // namespace accord
