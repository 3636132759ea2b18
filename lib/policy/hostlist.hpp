// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's host lists, such as "n[1-4,07],login1": how many hosts they name, and which.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace accord {

/// Counts the hosts without naming one, with commas or blanks between them. Repeated hosts count as
/// often as they are named. Nothing for a list that Slurm would not take, one of more than a million hosts, and a file's
/// name.
[[nodiscard]] std::optional<std::int64_t> count_hosts(std::string_view list);

/// Whether the list names `host`, which is whole, without brackets. What `count_hosts` does not count names none.
[[nodiscard]] bool names_host(std::string_view list, std::string_view host);

}  // namespace accord
