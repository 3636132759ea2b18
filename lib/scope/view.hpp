// SPDX-License-Identifier: GPL-2.0-or-later
// A job's view of the file system: a mount namespace made by a plan, kept by a file, entered by tasks.
#pragma once

#include <string>

#include "policy/error.hpp"
#include "scope/mount_plan.hpp"
#include "scope/private_dir.hpp"
#include "sys/identity.hpp"

namespace accord {

struct ViewOrder {
    MountPlan plan;
    User user;
    PrivateOwner owner;
};

/// Makes the view in a child process and binds it onto `pin` (a file on a private mount), where it lives until it is
/// unmounted and its last process has ended. For root. What the plan shows is opened with the user's rights; what is
/// hidden or private falls back to root's where the user may not go.
///
/// Fails with the path first when one does not exist, has a link that leaves its folder, is no folder where it must
/// be one, or cannot be mounted; and when it all takes longer than half a minute (a dead file server). Nothing is
/// pinned then; private folders that were made by then are the caller's to remove.
[[nodiscard]] Result<void> make_view(const ViewOrder& order, int pin);

/// Puts the process, which has one thread, into the view `pin` and into its present working directory there, entered
/// with the user's rights. Fails ("io") with the process in any namespace: it must end then.
[[nodiscard]] Result<void> enter_view(int pin, const User& user);

/// Where the file or folder `fd` is, as the process sees it before it enters a view; empty for anything else.
[[nodiscard]] Result<std::string> name_of_file(int fd);

/// Fails ("descriptor") unless the file `fd`, if it has a name at all, is at `name` in the process's view, and may be
/// written there if it was opened for writing. With the user's own rights.
[[nodiscard]] Result<void> check_reachable(int fd, const std::string& name);

}  // namespace accord
