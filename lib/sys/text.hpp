// SPDX-License-Identifier: GPL-2.0-or-later
// Foreign text made fit for a log line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace accord {

/// `text` with every byte outside printable ASCII as "\xNN" and backslashes doubled, cut to `most` bytes with "..." at
/// the end. What users choose cannot break a line, move a terminal's cursor or flood a log.
[[nodiscard]] std::string sanitised(std::string_view text, std::size_t most = 256);

}  // namespace accord
