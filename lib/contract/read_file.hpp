// SPDX-License-Identifier: GPL-2.0-or-later
// Reads an input file whole, opened once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "policy/error.hpp"

namespace accord {

enum class Links { follow, refuse };

/// What a file that people write may have at most.
inline constexpr std::size_t written_by_hand = 1 << 20;

/// The text of a regular file of at most `most_bytes`. Fails ("io") with the path in `where`. With Links::refuse a symbolic
/// link as the last component is refused.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, Links links,
                                                 std::size_t most_bytes = written_by_hand);

/// The paths of the folder's "*.toml" files, sorted; `path` itself when it is no folder.
[[nodiscard]] Result<std::vector<std::string>> toml_files_of(const std::string& path);

}  // namespace accord
