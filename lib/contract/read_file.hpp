// SPDX-License-Identifier: GPL-2.0-or-later
// Reads an input file whole, opened once.
#pragma once

#include <string>
#include <vector>

#include "policy/error.hpp"

namespace accord {

enum class Links { follow, refuse };

/// The text of a regular file of at most 1 MiB. Fails ("io") with the path in `where`. With Links::refuse a symbolic
/// link as the last component is refused.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, Links links);

/// The paths of the folder's "*.toml" files, sorted; `path` itself when it is no folder.
[[nodiscard]] Result<std::vector<std::string>> toml_files_of(const std::string& path);

}  // namespace accord
