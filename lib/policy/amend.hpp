// SPDX-License-Identifier: GPL-2.0-or-later
// What a change makes of a job's ask, as slurmctld would apply it (_update_job).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "policy/request.hpp"

namespace accord {

/// How a release of Slurm changes what a pending job asks for.
enum class UpdateSemantics {
    merge,    ///< 22.05: a TRES string is laid over the old list of GRES; what it does not name stays
    replace,  ///< 23.02 and later: a TRES string replaces the field, and tasks follow nodes
};

/// A change as a GpuAsk: what is unset stays, "" and 0 clear a field, and `whole_node` can only be set.
using AskChange = GpuAsk;

/// The most parts of an ask that one change may touch.
inline constexpr std::size_t most_parts = 4;

/// How many parts of an ask the change touches: node counts, a list of them, features that count them, tasks, CPUs, memory, the node list, layout
/// of tasks, sharing, and all TRES strings together.
[[nodiscard]] std::size_t parts_of(const AskChange& change);

/// `before` with the whole change applied.
[[nodiscard]] GpuAsk amended(const GpuAsk& before, const AskChange& change, UpdateSemantics how);

/// Every ask that the change can leave behind, the whole change first. slurmctld applies part after part and stops at
/// the first that it refuses, without undoing the others. Of more than `most_parts` parts only the whole change.
[[nodiscard]] std::vector<GpuAsk> outcomes(const GpuAsk& before, const AskChange& change, UpdateSemantics how);

/// The TRES strings of a change, and nothing else, as they must be written so that the job's record says what slurmctld
/// really holds.
[[nodiscard]] AskChange held_texts(const GpuAsk& before, const AskChange& change, UpdateSemantics how);

/// Why slurmctld would not do what the change says, while the job's record would show it as done; empty where it does.
[[nodiscard]] std::optional<std::string> kept_in_spite(const GpuAsk& before, const AskChange& change,
                                                       UpdateSemantics how);

}  // namespace accord
