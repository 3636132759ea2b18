// SPDX-License-Identifier: GPL-2.0-or-later
// How many hosts a Slurm host list names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace accord {

/// Counts the hosts of "n[1-4,07],login1" without naming one, with commas or blanks between them. Repeated hosts count as
/// often as they are named. Nothing for a list that Slurm would not take, one of more than a million hosts, and a file's
/// name.
[[nodiscard]] std::optional<std::int64_t> count_hosts(std::string_view list);

}  // namespace accord
