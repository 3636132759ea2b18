// SPDX-License-Identifier: GPL-2.0-or-later
// Detached mounts: made, restricted and attached by descriptor, never by path. For root. Errors name no path ("io").
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "policy/error.hpp"
#include "sys/fd.hpp"

namespace accord {

enum class Access { read_only, read_write };

/// A copy of what is mounted at and below `place` (O_PATH), in no namespace yet.
[[nodiscard]] Result<Fd> clone_tree(int place);

/// Every mount of the detached `tree` becomes nosuid and nodev. Read-only it takes no mount from outside any more,
/// since a later one would be writable; read-write it goes on taking them, and gives none back.
[[nodiscard]] Result<void> restrict_tree(int tree, Access access);

struct TmpfsOwner {
    uid_t uid = 0;
    gid_t gid = 0;
    mode_t mode = 0755;
};
/// An empty tmpfs, nosuid and nodev, of at most `bytes` (0: the kernel's own limit).
[[nodiscard]] Result<Fd> new_tmpfs(const TmpfsOwner& owner, std::uint64_t bytes);

/// Makes one detached mount read-only, without what may be attached in it later.
[[nodiscard]] Result<void> seal_mount(int mount);

/// Puts a detached tree onto `target` (O_PATH) in the process's namespace.
[[nodiscard]] Result<void> attach_tree(int tree, int target);


}  // namespace accord
