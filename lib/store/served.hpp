// SPDX-License-Identifier: GPL-2.0-or-later
// The file "served": which state of contracts.db slurmctld's plugin decides by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "policy/error.hpp"

namespace accord {

/// `generation` is ContractsDb::data_version(). Mode 0640; not synced, since it means nothing after a crash.
[[nodiscard]] Result<void> write_served(const std::string& path, std::int64_t generation);
/// Nothing while there is none, or it is being written.
[[nodiscard]] std::optional<std::int64_t> read_served(const std::string& path);

}  // namespace accord
