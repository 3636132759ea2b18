// SPDX-License-Identifier: GPL-2.0-or-later
// Comma-separated values, strictly: RFC 4180 without line ends and doubled quotes in quoted fields.
#pragma once

#include <string_view>
#include <vector>

namespace accord::sim {

/// Reads line by line, without a copy.
class CsvLines {
public:
    explicit CsvLines(std::string_view text);

    /// The fields of the next line that is not empty; false at the end, and where `problem()` says why.
    bool next(std::vector<std::string_view>& fields);
    /// The line that `next` read last, from 1.
    [[nodiscard]] std::size_t line() const { return line_; }
    /// What is wrong with that line; empty: nothing.
    [[nodiscard]] std::string_view problem() const { return problem_; }

private:
    bool split(std::string_view line, std::vector<std::string_view>& fields);

    std::string_view rest_;
    std::size_t line_ = 0;
    std::string_view problem_;
};

}  // namespace accord::sim
