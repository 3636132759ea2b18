// SPDX-License-Identifier: GPL-2.0-or-later
// Removing a folder that a user filled.
#pragma once

#include <string>

#include "policy/error.hpp"

namespace accord {

/// Removes `name` in the folder `folder` with all below it, as root; success when there is no such name. It follows no
/// link, needs the same few descriptors and the same stack however deep the tree is, and stays on one file system.
/// Fails ("io") with what could not be removed.
[[nodiscard]] Result<void> remove_tree(int folder, const std::string& name);

}  // namespace accord
