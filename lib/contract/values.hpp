// SPDX-License-Identifier: GPL-2.0-or-later
// The kinds of value that keys hold: what each expects, how it checks, where it puts the result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contract/schema.hpp"

namespace accord {

/// Finds the place that a value goes to when it is set; the place of an element of a list is not known before.
template <typename T>
using Place = std::function<T&()>;

/// Always the same place.
template <typename T>
[[nodiscard]] Place<T> at(T& place) {
    return [&place]() -> T& { return place; };
}

/// Checks a text; returns what is wrong with it or an empty string.
using TextCheck = std::function<std::string(const std::string& text)>;

/// A string that is not empty, and that `check` accepts.
[[nodiscard]] Value text_value(Place<std::string> to, std::string expected = "a string", TextCheck check = {});
/// One of the words. `set` gets its index.
[[nodiscard]] Value word_value(std::vector<std::string> words, std::function<void(std::size_t)> set);
/// A list of such strings, none of them twice.
[[nodiscard]] Value list_value(Place<std::vector<std::string>> to, std::string expected, TextCheck check = {});
[[nodiscard]] Value bool_value(Place<bool> to);
/// A whole number from `least` to `most`, both within.
[[nodiscard]] Value integer_value(std::function<void(std::int64_t)> set, std::int64_t least, std::int64_t most);
[[nodiscard]] Value integer_value(Place<std::int64_t> to, std::int64_t least, std::int64_t most);
[[nodiscard]] Value integer_value(Place<std::optional<std::int64_t>> to, std::int64_t least, std::int64_t most);
/// A span such as "10m", at least `least_ms`, handed over in milliseconds.
[[nodiscard]] Value duration_value(std::function<void(std::int64_t ms)> set, std::int64_t least_ms = 0);

/// A string's value, or the message that says that it is none.
[[nodiscard]] std::string mismatch(const TomlNode& found, const std::string& expected, const std::string& right = {});

/// A check of texts that several files share; that of paths is in policy/path.hpp.
[[nodiscard]] std::string check_name(const std::string& text);  ///< account, user, group, partition, type

}  // namespace accord
