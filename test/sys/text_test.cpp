// SPDX-License-Identifier: GPL-2.0-or-later
// What a log line shows of foreign text.
#include "sys/text.hpp"

#include "catch.hpp"

using accord::sanitised;

TEST_CASE("Plain text is shown as it is") { CHECK(sanitised("vision-lab/gpu 3") == "vision-lab/gpu 3"); }

TEST_CASE("Bytes that could forge a line or move a cursor are shown in digits") {
    CHECK(sanitised("a\nerror: b") == "a\\x0aerror: b");
    CHECK(sanitised("\x1b[2J\xff") == "\\x1b[2J\\xff");
    CHECK(sanitised("\\x0a") == "\\\\x0a");
    CHECK(sanitised(std::string_view("\0", 1)) == "\\x00");
}

TEST_CASE("Long text is cut") {
    CHECK(sanitised("abcdef", 3) == "abc...");
    CHECK(sanitised("abc", 3) == "abc");
}
