// SPDX-License-Identifier: GPL-2.0-or-later
// How many hosts a Slurm host list names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace accord {

/// Counts the hosts of "n[1-4,07],login1" without naming one. Repeated hosts count as often as they are named. Nothing
/// for a list that Slurm would not take, and for a file name.
[[nodiscard]] std::optional<std::int64_t> count_hosts(std::string_view list);

}  // namespace accord
