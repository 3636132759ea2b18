// SPDX-License-Identifier: GPL-2.0-or-later
// Which decisions the job list accounts for, and which must still be counted by themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_set>

#include "policy/ledger.hpp"
#include "store/journal.hpp"

namespace accord {

using Clock = std::chrono::steady_clock;

/// Follows one controller's decisions from the journal until a job list settles them: a submission's job is shown, or is
/// missing from a list that was begun `settle` after the decision; a modification's effect is in any list begun after
/// it, since slurmctld runs the hook and the update under one write lock (_slurm_rpc_update_job, 22.05).
/// doc/ledger.md argues why no claim is lost.
class Resolver {
public:
    /// A decision that no list has settled yet. A rejected one never comes here.
    struct Open {
        Decision decision;
        Clock::time_point read;   ///< when its record was read: it was made before
        Clock::time_point since;  ///< when it was made, at the latest
    };

    /// Goes on from the marks of the last snapshot.
    Resolver(std::uint64_t resolved_through, const std::set<std::uint64_t>& counted, Clock::time_point now);

    /// `since` is `read`, or earlier where the record is known to be older. A record that is accounted for is ignored.
    void add(const JournalRecord& record, Clock::time_point read, Clock::time_point since);

    /// Settles what a job list settles. `shown` are the decisions that its jobs carry, of which only the open ones
    /// matter; `began` is from before slurmctld was asked for it.
    void settle(const std::unordered_set<std::uint64_t>& shown, Clock::time_point began, Clock::duration settle);

    [[nodiscard]] std::uint64_t resolved_through() const { return resolved_through_; }
    [[nodiscard]] std::set<std::uint64_t> counted() const;
    [[nodiscard]] const std::map<std::uint64_t, Open>& open() const { return open_; }

private:
    void advance(Clock::time_point settled_before);

    std::uint64_t resolved_through_;
    std::map<std::uint64_t, Clock::time_point> counted_;  ///< above resolved_through_, with when they were read
    std::map<std::uint64_t, Open> open_;
};

}  // namespace accord
