// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/units.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

namespace accord {

namespace {

/// Digits only, and small enough that any unit times it fits.
std::optional<std::int64_t> number(std::string_view text) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / (7LL * 86400 * 1000);
    std::int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, value);
    if (text.empty() || failed != std::errc() || stop != end || value < 0 || value > most) return {};
    return value;
}

struct Unit {
    std::string_view suffix;
    std::int64_t factor;
};

template <std::size_t N>
std::optional<std::int64_t> with_unit(std::string_view text, const std::array<Unit, N>& units) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == std::string_view::npos) return {};
    const auto value = number(text.substr(0, digits));
    for (const auto& unit : units)
        if (value && text.substr(digits) == unit.suffix) return *value * unit.factor;
    return {};
}

std::optional<std::vector<std::int64_t>> numbers(std::string_view text) {
    std::vector<std::int64_t> found;
    for (;;) {
        const auto colon = text.find(':');
        const auto value = number(text.substr(0, colon));
        if (!value) return {};
        found.push_back(*value);
        if (colon == std::string_view::npos) return found;
        text.remove_prefix(colon + 1);
    }
}

/// The process's time zone, for as long as this lives.
class ScopedTimezone {
public:
    explicit ScopedTimezone(const std::string& name) {
        if (const char* old = std::getenv("TZ")) before_ = old;
        had_ = std::getenv("TZ") != nullptr;
        if (!name.empty()) setenv("TZ", (":" + name).c_str(), 1);
        tzset();
    }
    ~ScopedTimezone() {
        if (had_) setenv("TZ", before_.c_str(), 1);
        else unsetenv("TZ");
        tzset();
    }
    ScopedTimezone(const ScopedTimezone&) = delete;
    ScopedTimezone& operator=(const ScopedTimezone&) = delete;

private:
    std::string before_;
    bool had_ = false;
};

std::tm broken_down(const CivilTime& when) {
    std::tm tm{};
    tm.tm_year = when.year - 1900;
    tm.tm_mon = when.month - 1;
    tm.tm_mday = when.day;
    tm.tm_hour = when.hour;
    tm.tm_min = when.minute;
    tm.tm_sec = when.second;
    tm.tm_isdst = -1;
    return tm;
}

}  // namespace

std::optional<std::int64_t> parse_duration_ms(const std::string& text) {
    static constexpr std::array<Unit, 6> units{
        {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}, {"w", 7 * 86'400'000LL}}};
    return with_unit(text, units);
}

std::optional<std::int64_t> parse_slurm_time_min(const std::string& text) {
    const auto dash = text.find('-');
    if (dash == std::string::npos) {
        const auto part = numbers(text);
        if (!part || part->size() > 3) return {};
        if (part->size() == 3) return (*part)[0] * 60 + (*part)[1] + (*part)[2] / 60;
        return (*part)[0] + (part->size() == 2 ? (*part)[1] / 60 : 0);
    }
    const auto days = number(std::string_view(text).substr(0, dash));
    const auto part = numbers(std::string_view(text).substr(dash + 1));
    if (!days || !part || part->size() > 3) return {};
    std::int64_t seconds = 0;
    constexpr std::array<std::int64_t, 3> weight{3600, 60, 1};
    for (std::size_t i = 0; i < part->size(); ++i) seconds += (*part)[i] * weight[i];
    return *days * 1440 + seconds / 60;
}

std::optional<std::int64_t> parse_size_mb(const std::string& text) {
    static constexpr std::array<Unit, 3> units{{{"M", 1}, {"G", 1024}, {"T", 1024 * 1024}}};
    return with_unit(text, units);
}

bool is_timezone(const std::string& name) {
    if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos) return false;
    std::error_code ignored;
    return name == "UTC" || std::filesystem::is_regular_file("/usr/share/zoneinfo/" + name, ignored);
}

std::int64_t local_to_epoch_s(const CivilTime& when, const std::string& timezone) {
    const ScopedTimezone zone(timezone);
    auto tm = broken_down(when);
    return std::mktime(&tm);
}

std::int64_t offset_to_epoch_s(const CivilTime& when) {
    auto tm = broken_down(when);
    return timegm(&tm) - when.offset_min * 60;
}

}  // namespace accord
