// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of names, for enumerations that records and files spell out.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace accord {

template <typename E>
struct Named {
    E value;
    const char* name;
};

/// The name of `value`, or "unknown".
template <typename E, std::size_t N>
[[nodiscard]] const char* name_of(const Named<E> (&table)[N], E value) {
    for (const auto& row : table)
        if (row.value == value) return row.name;
    return "unknown";
}

template <typename E, std::size_t N>
[[nodiscard]] std::optional<E> value_of(const Named<E> (&table)[N], std::string_view name) {
    for (const auto& row : table)
        if (row.name == name) return row.value;
    return std::nullopt;
}

}  // namespace accord
