// SPDX-License-Identifier: GPL-2.0-or-later
// The one line that slurmctld's log has of a decision.
#pragma once

#include <string>

#include "arbiter.hpp"

namespace accord {

/// key=value, what users chose sanitised; the sentence only where the job or change was refused, or something failed.
[[nodiscard]] std::string decision_line(const Ruling& ruling);

}  // namespace accord
