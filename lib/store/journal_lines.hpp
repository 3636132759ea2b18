// SPDX-License-Identifier: GPL-2.0-or-later
// The journal's lines as they are in its files, good or bad: for verification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "policy/error.hpp"
#include "store/journal_files.hpp"

namespace accord {

struct JournalLine {
    std::string text;
    std::string place;  ///< "FILE:LINE", without the folder
};

/// Reads one controller's files, oldest first. What follows the last newline of a file is no line: a crash may leave
/// half a record there.
class JournalLines {
public:
    static Result<JournalLines> open(const std::string& dir, std::uint32_t controller);

    /// True with the next line, false at the end. Fails ("io") where a file cannot be read.
    [[nodiscard]] Result<bool> next(JournalLine& line);
    /// Files that ended within a line, without the folder.
    [[nodiscard]] const std::vector<std::string>& torn() const { return torn_; }

private:
    explicit JournalLines(std::vector<JournalFile> files) : files_(std::move(files)) {}

    std::vector<JournalFile> files_;
    std::size_t next_file_ = 0;
    std::ifstream file_;
    std::string name_;
    std::size_t line_ = 0;
    std::vector<std::string> torn_;
};

struct JournalEnds {
    std::string first, last;  ///< whole lines; empty where the file has none
};
/// A file's first and last line, without reading what is between them.
[[nodiscard]] Result<JournalEnds> journal_ends(const std::string& path);

/// The controllers that have files in the journal, ascending.
[[nodiscard]] Result<std::vector<std::uint32_t>> journal_controllers(const std::string& dir);

}  // namespace accord
