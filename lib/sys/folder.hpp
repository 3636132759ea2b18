// SPDX-License-Identifier: GPL-2.0-or-later
// Folders by descriptor: opening one, listing one.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "policy/error.hpp"
#include "sys/fd.hpp"

namespace accord {

/// Opens the folder `name` in `folder` for reading, never through a link. "." opens `folder` itself anew.
[[nodiscard]] Result<Fd> open_folder_at(int folder, const std::string& name);

/// The names in `folder` (any descriptor of it), without "." and "..", in no order, at most `most` of them.
[[nodiscard]] Result<std::vector<std::string>> names_in(int folder,
                                                        std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace accord
