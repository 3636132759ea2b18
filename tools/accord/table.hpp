// SPDX-License-Identifier: GPL-2.0-or-later
// A listing: a table for people, an array of flat objects for programs.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace accord {

/// Rows over named columns. A cell is a string, a number, a boolean or null.
class Table {
public:
    /// The columns' names are the members' names in JSON; people see them in capitals, with spaces for underscores.
    explicit Table(std::vector<std::string> columns);

    /// As many cells as there are columns.
    void add(std::vector<nlohmann::ordered_json> cells);
    [[nodiscard]] std::size_t size() const { return rows_.size(); }

    /// Numbers to the right, null as "-".
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string json() const;
    void print(bool as_json, std::FILE* to = stdout) const;

private:
    std::vector<std::string> columns_;
    std::vector<std::vector<nlohmann::ordered_json>> rows_;
};

}  // namespace accord
