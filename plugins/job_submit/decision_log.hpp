// SPDX-License-Identifier: GPL-2.0-or-later
// Rulings on their way into slurmctld's log. Writing a line takes about as long as deciding, and a hook holds slurmctld's
// locks: so the plugin's thread writes them.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "arbiter.hpp"

namespace accord {

/// Hooks add, the plugin's thread writes. What is lost with a killed slurmctld is in the journal.
class DecisionLog {
public:
    /// Rulings that may wait. A hook that finds more writes them itself.
    static constexpr std::size_t most_waiting = 1000;

    /// Takes a ruling to be logged at the thread's next look. One that is not on record, or on whose way something
    /// failed, is written before this returns: the log may be all that tells of it.
    void add(Ruling ruling);
    /// Writes what waits, in the order in which it was added.
    void write();

private:
    std::mutex mutex_;  ///< of waiting_
    std::vector<Ruling> waiting_;
    std::mutex writing_;  ///< taken before mutex_; keeps the lines in their order
};

}  // namespace accord
