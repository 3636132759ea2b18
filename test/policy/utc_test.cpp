// SPDX-License-Identifier: GPL-2.0-or-later
// Points in time and spans, written and read.
#include "policy/utc.hpp"

#include "catch.hpp"

using namespace accord;

TEST_CASE("a time is written in UTC and read back") {
    CHECK(utc_text(0) == "1970-01-01T00:00:00Z");
    CHECK(utc_text(1767225600) == "2026-01-01T00:00:00Z");
    CHECK(utc_text(951782399) == "2000-02-28T23:59:59Z");
    for (const std::int64_t seconds : {0L, 951782400L, 1767225600L, 4102444799L})
        CHECK(utc_from(utc_text(seconds)) == seconds);
}

TEST_CASE("a time in any other form or of a day that does not exist is not read") {
    for (const auto* text : {"", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z", "2026-02-29T00:00:00Z",
                             "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
                             "2026-01-01T00:00:60Z", "+026-01-01T00:00:00Z", "2026-01-01T00:00:00ZZ"}) {
        INFO(text);
        CHECK_FALSE(utc_from(text));
    }
}

TEST_CASE("a span back is read in seconds, minutes, hours and days") {
    CHECK(time_or_span_back("90s", 1000) == 910);
    CHECK(time_or_span_back("2m", 1000) == 880);
    CHECK(time_or_span_back("1h", 10000) == 6400);
    CHECK(time_or_span_back("7d", 1000000) == 1000000 - 7 * 86400);
    CHECK(time_or_span_back("2026-01-01T00:00:00Z", 5) == 1767225600);
    for (const auto* text : {"", "7", "d", "-1d", "+1d", "7 d", "7w", "1.5h", "99999999999999999999d",
                             "9223372036854775807d"}) {
        INFO(text);
        CHECK_FALSE(time_or_span_back(text, 1000));
    }
}

TEST_CASE("a time limit is told as Slurm does") {
    CHECK(time_limit_text(0) == "00:00:00");
    CHECK(time_limit_text(90) == "01:30:00");
    CHECK(time_limit_text(2880) == "2-00:00:00");
    CHECK(time_limit_text(2941) == "2-01:01:00");
    CHECK(time_limit_text(0xffffffff) == "UNLIMITED");
}

TEST_CASE("a span is told in its two largest units") {
    CHECK(span_text(0) == "0 s");
    CHECK(span_text(-5) == "0 s");
    CHECK(span_text(45) == "45 s");
    CHECK(span_text(200) == "3 min 20 s");
    CHECK(span_text(7200) == "2 h");
    CHECK(span_text(2 * 86400 + 4 * 3600 + 59) == "2 d 4 h");
}
