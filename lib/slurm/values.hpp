// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's ways of saying "unset", turned into optionals.
#pragma once

#include <slurm/slurm.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace accord {

/// NO_VAL and INFINITE of the field's width count as unset.
[[nodiscard]] inline bool is_set(std::uint8_t value) { return value != NO_VAL8 && value != INFINITE8; }
[[nodiscard]] inline bool is_set(std::uint16_t value) { return value != NO_VAL16 && value != INFINITE16; }
[[nodiscard]] inline bool is_set(std::uint32_t value) { return value != NO_VAL && value != INFINITE; }
[[nodiscard]] inline bool is_set(std::uint64_t value) { return value != NO_VAL64 && value != INFINITE64; }

/// A count: 0 is unset, too.
template <typename Unsigned>
[[nodiscard]] std::optional<std::int64_t> count_of(Unsigned value) {
    if (!is_set(value) || value == 0) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

/// Minutes; no limit (INFINITE) is what the number says, some 8,000 years, and so above every limit.
[[nodiscard]] inline std::optional<std::int64_t> minutes_of(std::uint32_t value) {
    if (value == NO_VAL) return std::nullopt;
    return value;
}

/// NULL and "" are one.
[[nodiscard]] inline std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }
[[nodiscard]] inline std::optional<std::string> words_of(const char* text) {
    if (text == nullptr || *text == '\0') return std::nullopt;
    return std::string(text);
}

/// Required and preferred node features that count nodes ("[fast*2&slow*1]"); others say nothing of how many.
[[nodiscard]] inline std::optional<std::string> counting_features(const char* required, const char* preferred) {
    std::string counting;
    for (const auto& text : {text_of(required), text_of(preferred)})
        if (text.find('*') != std::string::npos) counting.append(counting.empty() ? "" : ",").append(text);
    return counting.empty() ? std::nullopt : std::optional(std::move(counting));
}

}  // namespace accord
