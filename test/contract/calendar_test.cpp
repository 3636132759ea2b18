// SPDX-License-Identifier: GPL-2.0-or-later
// Where budgets' periods begin and end.
#include "contract/calendar.hpp"

#include "catch.hpp"
#include "policy/utc.hpp"

using namespace accord;

namespace {

std::string period_text(const Calendar& calendar, const char* length, const char* when) {
    const auto period = calendar.period_at(length, *utc_from(when));
    return period ? utc_text(period->start_s) + " " + utc_text(period->end_s) : "none";
}

}  // namespace

TEST_CASE("periods are months, quarters and years of the calendar") {
    const Calendar calendar("UTC", *utc_from("2026-08-15T12:00:00Z"));
    const auto* const when = "2026-08-15T12:00:00Z";
    CHECK(period_text(calendar, "month", when) == "2026-08-01T00:00:00Z 2026-09-01T00:00:00Z");
    CHECK(period_text(calendar, "quarter", when) == "2026-07-01T00:00:00Z 2026-10-01T00:00:00Z");
    CHECK(period_text(calendar, "year", when) == "2026-01-01T00:00:00Z 2027-01-01T00:00:00Z");
    CHECK(period_text(calendar, "month", "2026-12-31T23:59:59Z") == "2026-12-01T00:00:00Z 2027-01-01T00:00:00Z");
    CHECK(period_text(calendar, "month", "2027-01-01T00:00:00Z") == "2027-01-01T00:00:00Z 2027-02-01T00:00:00Z");
}

TEST_CASE("a period begins at midnight of the cluster's time zone, in summer and in winter") {
    const Calendar calendar("Europe/Berlin", *utc_from("2026-08-15T12:00:00Z"));
    CHECK(period_text(calendar, "month", "2026-07-31T22:00:00Z") == "2026-07-31T22:00:00Z 2026-08-31T22:00:00Z");
    CHECK(period_text(calendar, "month", "2026-07-31T21:59:59Z") == "2026-06-30T22:00:00Z 2026-07-31T22:00:00Z");
    CHECK(period_text(calendar, "month", "2026-03-15T00:00:00Z") == "2026-02-28T23:00:00Z 2026-03-31T22:00:00Z");
    CHECK(period_text(calendar, "year", "2026-12-31T23:00:00Z") == "2026-12-31T23:00:00Z 2027-12-31T23:00:00Z");
}

TEST_CASE("a calendar knows the past year and a generation to come") {
    const Calendar calendar("UTC", *utc_from("2026-08-15T12:00:00Z"));
    CHECK(period_text(calendar, "year", "2025-01-01T00:00:00Z") == "2025-01-01T00:00:00Z 2026-01-01T00:00:00Z");
    CHECK(period_text(calendar, "year", "2055-06-01T00:00:00Z") == "2055-01-01T00:00:00Z 2056-01-01T00:00:00Z");
    CHECK(period_text(calendar, "year", "2020-06-01T00:00:00Z") == "none");
    CHECK(period_text(calendar, "year", "2060-06-01T00:00:00Z") == "none");
    CHECK(period_text(Calendar(), "month", "2026-06-01T00:00:00Z") == "none");
}
