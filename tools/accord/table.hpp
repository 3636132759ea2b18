// SPDX-License-Identifier: GPL-2.0-or-later
// A listing: a table for people, an array of flat objects for programs.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace accord {

/// A string, a number, a boolean or null.
using Cell = nlohmann::ordered_json;

/// Null for an empty text.
[[nodiscard]] inline Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }
template <typename T>
[[nodiscard]] Cell value_or_null(const std::optional<T>& value) {
    return value ? Cell(*value) : Cell();
}

/// Rows over named columns.
class Table {
public:
    /// The columns' names are the members' names in JSON; people see them in capitals, with spaces for underscores.
    explicit Table(std::vector<std::string> columns);

    /// As many cells as there are columns.
    void add(std::vector<Cell> cells);
    [[nodiscard]] std::size_t size() const { return rows_.size(); }

    /// Numbers to the right, null as "-".
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string json() const;
    void print(bool as_json, std::FILE* to = stdout) const;

private:
    std::vector<std::string> columns_;
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace accord
