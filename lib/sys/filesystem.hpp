// SPDX-License-Identifier: GPL-2.0-or-later
// On what kind of file system a path lies: locks and shared memory of databases hold on local ones only.
#pragma once

#include <cstdint>
#include <string>

#include "policy/error.hpp"

namespace accord {

/// The name of a network or FUSE file system by its statfs(2) type ("nfs", "cifs", "fuse"); null for a local one.
[[nodiscard]] const char* network_filesystem_name(std::uint64_t magic);

/// The same for where `path` lies, empty when that is local. Fails ("io") when the path cannot be looked at.
[[nodiscard]] Result<std::string> network_filesystem(const std::string& path);

/// Fails ("network_filesystem", naming `path` and the kind) when `path` lies on one.
[[nodiscard]] Result<void> require_local_filesystem(const std::string& path);

/// Fails ("io") when `path` is there and is no regular file: opening a pipe waits for whoever writes to it.
[[nodiscard]] Result<void> require_regular_or_absent(const std::string& path);

}  // namespace accord
