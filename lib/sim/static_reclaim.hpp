// SPDX-License-Identifier: GPL-2.0-or-later
// R13, static: whom Slurm preempts by itself.
#pragma once

#include "policy/reclaim.hpp"

namespace accord::sim {

/// Each owner takes the first nodes, in their order, on which it has room once borrowed jobs are gone, and there the jobs
/// of the lowest priority, the youngest of them first, until it has. What one owner's victims free beyond its need helps
/// no other owner of the same moment: Slurm counts it only once the victims have ended. `priorities` are by loan.
[[nodiscard]] ReclaimPlan choose_victims_as_slurm(const LentNodes& lent, std::span<const Owner> owners,
                                                  std::span<const std::int64_t> priorities);

}  // namespace accord::sim
