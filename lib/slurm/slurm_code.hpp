// SPDX-License-Identifier: GPL-2.0-or-later
// Which of Slurm's error codes says a reason best, where its text is all that the user gets to see.
#pragma once

#include "policy/decision.hpp"

namespace accord {

/// Never SLURM_SUCCESS. Distinct for `stale`, by which accordd knows that its plan was overtaken.
[[nodiscard]] int slurm_code(Reason reason);

}  // namespace accord
