// SPDX-License-Identifier: GPL-2.0-or-later
#include "policy/utc.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

namespace accord {
namespace {

std::optional<std::int64_t> digits(std::string_view text) {
    std::int64_t value = 0;
    if (text.empty() || text.front() < '0' || text.front() > '9') return {};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

}  // namespace

std::string utc_text(std::int64_t seconds) {
    using namespace std::chrono;
    const sys_seconds instant{std::chrono::seconds{seconds}};
    const auto day = floor<days>(instant);
    const year_month_day date{day};
    const hh_mm_ss time{instant - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()), unsigned(date.month()),
                       unsigned(date.day()), time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::optional<std::int64_t> utc_from(const std::string& text) {
    using namespace std::chrono;
    constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
    if (text.size() != form.size()) return {};
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return {};
    const auto part = [&](std::size_t at, std::size_t length) {
        return int(*digits(std::string_view(text).substr(at, length)));
    };
    const year_month_day date{year(part(0, 4)), month(unsigned(part(5, 2))), day(unsigned(part(8, 2)))};
    if (!date.ok() || part(11, 2) > 23 || part(14, 2) > 59 || part(17, 2) > 59) return {};
    const sys_seconds instant = sys_days(date) + hours(part(11, 2)) + minutes(part(14, 2)) + seconds(part(17, 2));
    return instant.time_since_epoch().count();
}

std::optional<std::int64_t> span_from(const std::string& text) {
    if (text.size() < 2) return {};
    const auto count = digits(std::string_view(text).substr(0, text.size() - 1));
    std::int64_t unit = 0;
    switch (text.back()) {
        case 's': unit = 1; break;
        case 'm': unit = 60; break;
        case 'h': unit = 3600; break;
        case 'd': unit = 86400; break;
        default: return {};
    }
    std::int64_t seconds = 0;
    if (!count || __builtin_mul_overflow(*count, unit, &seconds)) return {};
    return seconds;
}

std::optional<std::int64_t> time_or_span_back(const std::string& text, std::int64_t now_s) {
    if (const auto instant = utc_from(text)) return instant;
    if (const auto span = span_from(text)) return now_s - *span;
    return {};
}

std::string time_limit_text(std::int64_t minutes) {
    constexpr std::int64_t day = 24 * 60, infinite = 0xffffffff;
    if (minutes >= infinite) return "UNLIMITED";
    const auto clock = fmt::format("{:02}:{:02}:00", minutes % day / 60, minutes % 60);
    return minutes < day ? clock : fmt::format("{}-{}", minutes / day, clock);
}

std::string span_text(std::int64_t seconds) {
    if (seconds < 0) seconds = 0;
    struct Unit {
        std::int64_t seconds;
        const char* name;
    };
    constexpr std::array units{Unit{86400, "d"}, Unit{3600, "h"}, Unit{60, "min"}, Unit{1, "s"}};
    for (std::size_t i = 0; i + 1 < units.size(); ++i) {
        const auto [large, name] = units[i];
        if (seconds < large) continue;
        const auto [small, small_name] = units[i + 1];
        const auto rest = seconds % large / small;
        if (rest == 0) return fmt::format("{} {}", seconds / large, name);
        return fmt::format("{} {} {} {}", seconds / large, name, rest, small_name);
    }
    return fmt::format("{} s", seconds);
}

}  // namespace accord
