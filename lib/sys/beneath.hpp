// SPDX-License-Identifier: GPL-2.0-or-later
// Opening a path so that nobody who can write along it leads it elsewhere.
#pragma once

#include <string>

#include "policy/error.hpp"
#include "sys/fd.hpp"

namespace accord {

/// Opens `path` (absolute, normalised, `root` or under it) as an O_PATH descriptor, with the process's present rights.
/// Links on the way to `root` are the administrator's and followed. A link below it may only lead to what lies beneath
/// the folder that holds it: who can make such a link could as well have put there what it leads to. Every component
/// is opened from the one before, so a change on the way cannot be used. Automounts are triggered.
///
/// Fails with the path first: "not_found" where a component does not exist, "denied" where the process may not go on,
/// "link" for a link that leaves its folder, "io" for the rest.
[[nodiscard]] Result<Fd> open_beneath(const std::string& root, const std::string& path);

}  // namespace accord
