// SPDX-License-Identifier: GPL-2.0-or-later
// The journal's files: "CONTROLLER-FIRSTNUMBER-DAY.jsonl", in the order of their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/error.hpp"

namespace accord {

struct JournalFile {
    std::string path;
    std::uint64_t first = 0;  ///< no record in it has a lower number
};

/// A controller's files, oldest first. A folder that is not there has none.
[[nodiscard]] Result<std::vector<JournalFile>> journal_files(const std::string& dir, std::uint32_t controller);

/// The name of the file whose first record is `first`, made on the day (UTC) of `time_s`.
[[nodiscard]] std::string journal_file_name(std::uint32_t controller, std::uint64_t first, std::int64_t time_s);

/// Days since the epoch, rounded down.
[[nodiscard]] std::int64_t day_of(std::int64_t time_s);

}  // namespace accord
