// SPDX-License-Identifier: GPL-2.0-or-later
// A mount namespace of a process's own.
#pragma once

#include "policy/error.hpp"

namespace accord {

/// Gives the process, which has one thread, a mount namespace that takes mounts from outside and gives none back. Its
/// root is the process's root, a chroot's too, so that whoever joins the namespace comes to the same place. For root.
[[nodiscard]] Result<void> enter_new_namespace();

}  // namespace accord
