// SPDX-License-Identifier: GPL-2.0-or-later
// A job's own folders in the place of shared ones such as /tmp.
//
// On a tmpfs (/dev/shm) the fresh folder is a tmpfs of the same size: it goes with the namespace, whatever happens to
// the node, and its pages are charged to the job that fills them. Elsewhere it is a folder on the same file system, so
// that a job finds the space and speed that it knows: PLACE/.accord:CLUSTER:NODE:JOB.RESTART, root's alone, with the
// user's folder in it. The name says whose it is, so that what a crash left is found without any other record.
#pragma once

#include <functional>
#include <string>

#include "policy/error.hpp"
#include "sys/fd.hpp"
#include "sys/identity.hpp"

namespace accord {

/// Whose private folders they are: one start of one job on one node of one cluster.
struct PrivateOwner {
    std::string cluster, node;
    std::string start;  ///< "JOB.RESTART"
};

/// A fresh folder of `user`, 0700, for `place` (O_PATH), as a detached mount: nosuid, nodev.
[[nodiscard]] Result<Fd> make_private_dir(int place, const PrivateOwner& owner, const User& user);

/// Removes from `path` the owner's folder, and those that a crash left of the node's other starts: all for which
/// `is_alive(start)` is false. A `path` that is not there holds none.
[[nodiscard]] Result<void> remove_private_dirs(const std::string& path, const PrivateOwner& owner,
                                               const std::function<bool(const std::string& start)>& is_alive);

}  // namespace accord
