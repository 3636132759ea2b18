// SPDX-License-Identifier: GPL-2.0-or-later
// The periods of budgets, by the calendar of the cluster's time zone.
#include "contract/calendar.hpp"

#include <algorithm>
#include <chrono>

#include "contract/units.hpp"

namespace accord {

namespace {

constexpr int years_before = 2, years_after = 30;

std::size_t months_in(const std::string& length) { return length == "year" ? 12 : length == "quarter" ? 3 : 1; }

}  // namespace

Calendar::Calendar(const std::string& zone, std::int64_t around_s) {
    using namespace std::chrono;
    const year_month_day today{floor<days>(sys_seconds{seconds{around_s}})};
    for (int year = int(today.year()) - years_before; year <= int(today.year()) + years_after; ++year)
        for (int month = 1; month <= 12; ++month)
            months_.push_back(local_to_epoch_s({.year = year, .month = month, .day = 1}, zone));
}

std::optional<Period> Calendar::period_at(const std::string& length, std::int64_t when_s) const {
    const auto next = std::upper_bound(months_.begin(), months_.end(), when_s);
    if (next == months_.begin() || next == months_.end()) return std::nullopt;
    const auto month = static_cast<std::size_t>(next - months_.begin()) - 1;
    const auto first = month - month % months_in(length), after = first + months_in(length);
    if (after >= months_.size()) return std::nullopt;
    return Period{months_[first], months_[after]};
}

}  // namespace accord
