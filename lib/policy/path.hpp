// SPDX-License-Identifier: GPL-2.0-or-later
// Paths as text, compared by whole components: which tree one lies in, and which trees no scope may touch.
#pragma once

#include <string>

namespace accord {

/// True when `path` is `tree` or lies below it. Both absolute and normalised.
[[nodiscard]] bool is_under(const std::string& path, const std::string& tree);

/// Empty for an absolute path without "..", ".", "//", control characters and a slash at its end, at most 1,024 bytes
/// long; otherwise what was found and what would be right.
[[nodiscard]] std::string check_absolute_path(const std::string& text);

/// The system's own tree that `path` is, contains or lies in ("/etc", "/usr", "/proc", "/" …), which no scope may
/// change; empty when there is none.
[[nodiscard]] std::string system_tree(const std::string& path);

}  // namespace accord
