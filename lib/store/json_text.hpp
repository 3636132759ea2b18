// SPDX-License-Identifier: GPL-2.0-or-later
// JSON text written straight into a buffer, for the decisions' hot path.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "policy/gpus.hpp"

namespace accord {

/// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, so that the line is JSON
/// whatever a user's path or name holds.
void append_json_string(fmt::memory_buffer& to, std::string_view text);

/// Appends an integer's digits.
template <std::integral T>
void append_integer(fmt::memory_buffer& to, T value) {
    const fmt::format_int digits(value);
    to.append(digits.data(), digits.data() + digits.size());
}

/// Appends an object of GPU types and counts.
void append_gpus(fmt::memory_buffer& to, const GpuVector& gpus);

/// Appends an object's members and puts the commas between them.
class JsonObject {
public:
    explicit JsonObject(fmt::memory_buffer& to) : to_(to) { to_.push_back('{'); }
    /// Closes the object.
    void end() { to_.push_back('}'); }

    void string(std::string_view key, std::string_view value) {
        name(key);
        append_json_string(to_, value);
    }
    template <std::integral T>
    void value(std::string_view key, T value) {
        name(key);
        if constexpr (std::is_same_v<T, bool>) to_.append(std::string_view(value ? "true" : "false"));
        else append_integer(to_, value);
    }
    /// `json` must be a JSON value already.
    void raw(std::string_view key, std::string_view json) {
        name(key);
        to_.append(json);
    }
    /// Appends the key alone; the caller appends its value.
    void name(std::string_view key);

private:
    fmt::memory_buffer& to_;
    bool first_ = true;
};

}  // namespace accord
