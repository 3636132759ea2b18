// SPDX-License-Identifier: GPL-2.0-or-later
// Points in time as Accord writes and reads them: UTC, to the second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace accord {

/// "2026-01-01T00:00:00Z" for seconds since the epoch.
[[nodiscard]] std::string utc_text(std::int64_t seconds);
/// The seconds of exactly that form, for a date that exists; nothing for any other text.
[[nodiscard]] std::optional<std::int64_t> utc_from(const std::string& text);
/// Seconds of a span such as "90s", "15m", "4h", "7d"; nothing for any other text.
[[nodiscard]] std::optional<std::int64_t> span_from(const std::string& text);
/// What a command's option may say: a time as above, or a span back from `now_s`.
[[nodiscard]] std::optional<std::int64_t> time_or_span_back(const std::string& text, std::int64_t now_s);
/// Minutes as Slurm writes a time limit: "01:30:00", "2-00:00:00"; "UNLIMITED" from its INFINITE (32 bits) on.
[[nodiscard]] std::string time_limit_text(std::int64_t minutes);
/// A span for people, in its two largest units: "45 s", "3 min 20 s", "2 d 4 h".
[[nodiscard]] std::string span_text(std::int64_t seconds);

}  // namespace accord
