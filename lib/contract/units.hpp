// SPDX-License-Identifier: GPL-2.0-or-later
// Spans of time, times of day and sizes as files write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "contract/toml_tree.hpp"

namespace accord {

/// "500ms", "15s", "10m", "4h", "90d", "2w" in milliseconds; nothing when it is not one.
[[nodiscard]] std::optional<std::int64_t> parse_duration_ms(const std::string& text);

/// Slurm's time limits, as --time takes them: "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours",
/// "days-hours:minutes", "days-hours:minutes:seconds". In minutes, rounded down.
[[nodiscard]] std::optional<std::int64_t> parse_slurm_time_min(const std::string& text);

/// "64G", "512M", "1T" in mebibytes.
[[nodiscard]] std::optional<std::int64_t> parse_size_mb(const std::string& text);

/// True where the zone is known to this machine's time zone database.
[[nodiscard]] bool is_timezone(const std::string& name);

/// Seconds since the epoch of a wall-clock time in the zone (an IANA name; empty: this machine's). Sets the process's
/// zone for the moment it takes: for programs of one thread. The offset in `when` is not looked at.
[[nodiscard]] std::int64_t local_to_epoch_s(const CivilTime& when, const std::string& timezone);

/// Seconds since the epoch of a time with an offset.
[[nodiscard]] std::int64_t offset_to_epoch_s(const CivilTime& when);

}  // namespace accord
