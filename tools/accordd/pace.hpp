// SPDX-License-Identifier: GPL-2.0-or-later
// How often slurmctld may be asked for everything it knows.
#pragma once

#include <algorithm>

#include "resolver.hpp"

namespace accord {

/// At most one part in twenty of the time goes into lists: the next one begins no sooner than twenty times the last
/// one's duration after its end, and no sooner than one interval after its beginning.
class Pace {
public:
    [[nodiscard]] Clock::time_point next() const { return next_; }
    [[nodiscard]] bool due(Clock::time_point now) const { return now >= next_; }

    void took(Clock::time_point began, Clock::time_point ended, Clock::duration interval) {
        next_ = std::max(began + interval, ended + 20 * (ended - began));
    }

private:
    Clock::time_point next_{};
};

}  // namespace accord
