// SPDX-License-Identifier: GPL-2.0-or-later
// For tests that only root can run: skipped for others, and told so, unless ACCORD_MUST_WORK=1 says that nothing may be
// skipped.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "catch.hpp"

/// Why the test that runs was skipped, empty when it was not; the program's listener reports and clears it.
inline std::string& skip_reason() {
    static std::string reason;
    return reason;
}

inline bool is_root() {
    if (geteuid() == 0) return true;
    const char* must = std::getenv("ACCORD_MUST_WORK");
    if (must != nullptr && std::strcmp(must, "1") == 0) FAIL("this test needs root");
    WARN("skipped: needs root");
    skip_reason() = "needs root";
    return false;
}
