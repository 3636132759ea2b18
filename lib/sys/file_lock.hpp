// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a file is locked, without touching the lock.
#pragma once

#include <string>

#include "policy/error.hpp"

namespace accord {

/// True while any process of this host holds a lock of any kind (flock(2), fcntl(2)) on the file or a part of it, as
/// /proc/locks tells. A file that is not there is not locked.
[[nodiscard]] Result<bool> is_locked(const std::string& path);

}  // namespace accord
