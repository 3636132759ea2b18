// SPDX-License-Identifier: GPL-2.0-or-later
// Escapes byte by byte.
#include "sys/text.hpp"

#include <fmt/format.h>

namespace accord {

std::string sanitised(std::string_view text, std::size_t most) {
    std::string clean;
    for (const unsigned char c : text) {
        if (clean.size() >= most) return clean + "...";
        if (c == '\\')
            clean += "\\\\";
        else if (c >= 0x20 && c < 0x7f)
            clean += static_cast<char>(c);
        else
            clean += fmt::format("\\x{:02x}", c);
    }
    return clean;
}

}  // namespace accord
