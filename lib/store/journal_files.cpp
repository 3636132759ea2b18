// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/journal_files.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace accord {
namespace {

constexpr std::string_view ending = ".jsonl";

/// The first number in a name of one of the controller's files.
std::optional<std::uint64_t> first_in_name(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix) || !name.ends_with(ending)) return std::nullopt;
    name.remove_prefix(prefix.size());
    std::uint64_t first = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), first);
    if (error != std::errc{} || end == name.data() + name.size() || *end != '-') return std::nullopt;
    return first;
}

}  // namespace

Result<std::vector<JournalFile>> journal_files(const std::string& dir, std::uint32_t controller) {
    const std::string prefix = fmt::format("{}-", controller);
    std::vector<JournalFile> files;
    std::error_code error, unknown_kind;
    std::filesystem::directory_iterator entry(dir, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const auto first = first_in_name(entry->path().filename().native(), prefix);
        if (first && entry->is_regular_file(unknown_kind)) files.push_back({entry->path().native(), *first});
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return fail("io", fmt::format("{}: cannot list the journal: {}", dir, error.message()));
    std::sort(files.begin(), files.end(), [](const JournalFile& a, const JournalFile& b) {
        return a.first != b.first ? a.first < b.first : a.path < b.path;
    });
    return files;
}

std::string journal_file_name(std::uint32_t controller, std::uint64_t first, std::int64_t time_s) {
    const std::chrono::year_month_day day{std::chrono::sys_days{std::chrono::days{day_of(time_s)}}};
    return fmt::format("{}-{:020}-{:04}{:02}{:02}{}", controller, first, static_cast<int>(day.year()),
                       static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()), ending);
}

std::int64_t day_of(std::int64_t time_s) {
    return std::chrono::floor<std::chrono::days>(std::chrono::seconds{time_s}).count();
}

}  // namespace accord
