// SPDX-License-Identifier: GPL-2.0-or-later
// Which mounts make a contract's view of the file system, and in which order. Pure: no file is looked at.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "policy/contract.hpp"
#include "policy/error.hpp"

namespace accord {

enum class MountKind {
    hidden,       ///< covered by an empty read-only folder
    private_dir,  ///< replaced by a fresh folder of the job's user
    ro,           ///< shown, with all below it, read-only
    rw,           ///< shown as it is
    keep,         ///< shown as it is because Slurm needs it, where a hidden or private folder would cover it
};

struct PlannedMount {
    MountKind kind = MountKind::hidden;
    std::string path;
    std::string root;  ///< the scope root that it lies under; of `keep` empty
    /// The hidden or private mount of the plan in which this one first needs a place; nothing: it has one already.
    std::optional<std::size_t> inside;
    bool operator==(const PlannedMount&) const = default;
};

/// In the order in which they are made: what encloses comes before what it encloses.
using MountPlan = std::vector<PlannedMount>;

/// Fails ("scope", naming the path) where a path is no absolute normalised one, lies outside `scope_roots` or in a tree
/// of the system's, or is named twice. `keep` are absolute normalised paths from anywhere.
[[nodiscard]] Result<MountPlan> plan_mounts(const FilesystemScope& scope, const std::vector<std::string>& scope_roots,
                                            const std::vector<std::string>& keep);

}  // namespace accord
