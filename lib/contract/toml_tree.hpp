// SPDX-License-Identifier: GPL-2.0-or-later
// A parsed TOML file as a plain tree that knows the line of every key; the only door to toml++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/error.hpp"

namespace accord {

/// A date and time as written. Without a time the hour and the rest are 0.
struct CivilTime {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    int offset_min = 0;  ///< east of UTC, for a time with an offset
};

struct TomlEntry;

/// One value, table or array.
struct TomlNode {
    enum class Kind { table, array, string, integer, real, boolean, date, time, local_datetime, offset_datetime };
    Kind kind = Kind::table;
    int line = 1;      ///< where the value (of a table: its header) starts
    std::string raw;   ///< a scalar's spelling in the file
    std::string text;  ///< of a string
    std::int64_t integer = 0;
    bool boolean = false;
    CivilTime when;
    std::vector<TomlNode> items;     ///< of an array
    std::vector<TomlEntry> entries;  ///< of a table, in the order of the file

    /// "the string \"8\"", "the float 8.0", "a table": for messages.
    [[nodiscard]] std::string describe() const;
};

struct TomlEntry {
    std::string key;
    int line = 1;
    TomlNode value;
};

/// Parses `text`; on failure ("invalid") `where` is "path:line".
[[nodiscard]] Result<TomlNode> parse_toml(std::string_view text, const std::string& path);

}  // namespace accord
