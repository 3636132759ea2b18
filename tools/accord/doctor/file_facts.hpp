// SPDX-License-Identifier: GPL-2.0-or-later
// A file or folder as a check finds it.
#pragma once

#include <string>

namespace accord {

struct FileFacts {
    std::string path;
    bool there = false;
    std::string owner, group;  ///< names, or numbers where there are none
    unsigned mode = 0;
    std::string trouble;  ///< why it cannot be used; empty when it can
};

/// Links are followed: what counts is what is used.
[[nodiscard]] FileFacts look_at_file(const std::string& path);

}  // namespace accord
