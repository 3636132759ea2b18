// SPDX-License-Identifier: GPL-2.0-or-later
// Arrays as --array names them.
#include "policy/request.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace accord {

namespace {

/// MaxArraySize can be no larger than this (slurm.conf(5)), so no index reaches it.
constexpr std::int64_t index_end = 4'000'001;

struct IndexRange {
    std::int64_t first = 0, last = 0, step = 1;

    [[nodiscard]] std::int64_t size() const { return (last - first) / step + 1; }
};

bool take(std::string_view& text, char what) {
    if (text.empty() || text.front() != what) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// "3", "0-9" or "0-9:3", as slurmctld's _parse_array_tok reads it (22.05), brackets where it allows them.
std::optional<IndexRange> read_range(std::string_view text) {
    take(text, '[');
    const auto first = take_number(text);
    if (!first) return std::nullopt;
    IndexRange range{*first, *first, 1};
    take(text, ']');
    if (take(text, '-')) {
        const auto last = take_number(text);
        if (!last) return std::nullopt;
        range.last = *last;
        take(text, ']');
        if (take(text, ':')) {
            const auto step = take_number(text);
            if (!step || *step == 0) return std::nullopt;
            range.step = *step;
            take(text, ']');
        }
    }
    if (!text.empty() || range.last < range.first || range.last >= index_end) return std::nullopt;
    return range;
}

std::int64_t size_of_union(const std::vector<IndexRange>& ranges) {
    if (ranges.size() == 1) return ranges.front().size();
    std::int64_t end = 0;
    for (const auto& range : ranges) end = std::max(end, range.last + 1);
    std::vector<bool> named(static_cast<std::size_t>(end));
    for (const auto& range : ranges)
        for (auto index = range.first; index <= range.last; index += range.step)
            named[static_cast<std::size_t>(index)] = true;
    return std::count(named.begin(), named.end(), true);
}

/// Indices without their limit. Naming more indices than an array can have, repeats included, is refused: the work
/// would be done under slurmctld's locks.
std::optional<std::int64_t> count_indices(std::string_view text) {
    std::vector<IndexRange> ranges;
    std::int64_t named = 0;
    while (true) {
        const auto comma = text.find(',');
        const auto range = read_range(text.substr(0, comma));
        if (!range) return std::nullopt;
        named += range->size();
        if (named > index_end) return std::nullopt;
        ranges.push_back(*range);
        if (comma == std::string_view::npos) return size_of_union(ranges);
        text.remove_prefix(comma + 1);
    }
}

}  // namespace

std::int64_t ArraySpec::concurrent() const { return limit && *limit > 0 ? std::min(tasks, *limit) : tasks; }

bool ArraySpec::contains(std::int64_t task) const {
    std::string_view text = indices;
    while (true) {
        const auto comma = text.find(',');
        const auto range = read_range(text.substr(0, comma));
        const bool within = range && task >= range->first && task <= range->last;
        if (within && (task - range->first) % range->step == 0) return true;
        if (comma == std::string_view::npos) return false;
        text.remove_prefix(comma + 1);
    }
}

std::vector<std::uint32_t> ArraySpec::first(std::size_t most) const {
    std::vector<std::uint32_t> tasks_found;
    std::string_view text = indices;
    while (tasks_found.size() < most) {
        const auto comma = text.find(',');
        const auto range = read_range(text.substr(0, comma));
        if (!range) break;
        for (auto task = range->first; task <= range->last && tasks_found.size() < most; task += range->step)
            tasks_found.push_back(static_cast<std::uint32_t>(task));
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    return tasks_found;
}

std::optional<ArraySpec> parse_array(const std::string& text) {
    std::string_view rest = text;
    ArraySpec spec;
    const auto percent = rest.find('%');
    spec.indices = std::string(rest.substr(0, percent));
    if (percent != std::string_view::npos) {
        auto limit_text = rest.substr(percent + 1);
        const auto limit = take_number(limit_text);
        take(limit_text, ']');
        if (!limit || !limit_text.empty()) return std::nullopt;
        if (*limit > 0) spec.limit = *limit;
    }
    const auto tasks = count_indices(spec.indices);
    if (!tasks) return std::nullopt;
    spec.tasks = *tasks;
    return spec;
}

}  // namespace accord
