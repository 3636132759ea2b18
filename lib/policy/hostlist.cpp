// SPDX-License-Identifier: GPL-2.0-or-later
#include "policy/hostlist.hpp"

#include <algorithm>
#include <charconv>

namespace accord {
namespace {

/// Above any cluster: what is larger is a mistake.
constexpr std::int64_t most_hosts = 1'000'000;

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

/// hostlist_create's own separators (src/common/hostlist.c), all of them alike.
constexpr std::string_view separators = ", \t\n";

/// Takes what stands before the next `separator`, and the separator.
std::string_view take_until(std::string_view& text, char separator) {
    const auto at = text.find(separator);
    const std::string_view head = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return head;
}

/// Numbers of hosts, the first of them written with `width` digits at least.
struct Range {
    std::int64_t first = 0, last = 0;
    std::size_t width = 1;
};

/// Takes the next of "1-4,07", numbers and ranges between brackets.
std::optional<Range> take_range(std::string_view& ranges) {
    std::string_view range = take_until(ranges, ',');
    const bool is_range = range.find('-') != std::string_view::npos;
    const auto first_text = take_until(range, '-');
    const auto first = number_in(first_text);
    const auto last = is_range ? number_in(range) : first;
    if (!first || !last || *last < *first) return std::nullopt;
    return Range{*first, *last, first_text.size()};
}

std::optional<std::int64_t> count_ranges(std::string_view ranges) {
    std::int64_t hosts = 0;
    do {
        const auto range = take_range(ranges);
        if (!range) return std::nullopt;
        hosts += range->last - range->first + 1;
        if (hosts > most_hosts) return std::nullopt;
    } while (!ranges.empty());
    return hosts;
}

bool ranges_name(std::string_view ranges, std::string_view digits) {
    const auto number = number_in(digits);
    while (number && !ranges.empty()) {
        const auto range = take_range(ranges);
        if (!range) return false;
        const bool as_wide = digits.size() == range->width || (digits.size() > range->width && digits.front() != '0');
        if (as_wide && *number >= range->first && *number <= range->last) return true;
    }
    return false;
}

/// One name, with any number of bracket pairs, which multiply.
std::optional<std::int64_t> count_name(std::string_view name) {
    std::int64_t hosts = 1;
    for (auto open = name.find('['); open != std::string_view::npos; open = name.find('[')) {
        const auto close = name.find(']', open);
        if (close == std::string_view::npos) return std::nullopt;
        const auto in_brackets = count_ranges(name.substr(open + 1, close - open - 1));
        if (!in_brackets || hosts * *in_brackets > most_hosts) return std::nullopt;
        hosts *= *in_brackets;
        name.remove_prefix(close + 1);
    }
    if (name.find(']') != std::string_view::npos) return std::nullopt;
    return hosts;
}

/// One name, against a host.
bool name_matches(std::string_view name, std::string_view host) {
    for (auto open = name.find('['); open != std::string_view::npos; open = name.find('[')) {
        const auto close = name.find(']', open);
        if (close == std::string_view::npos || !host.starts_with(name.substr(0, open))) return false;
        host.remove_prefix(open);
        const auto digits = std::min(host.find_first_not_of("0123456789"), host.size());
        if (!ranges_name(name.substr(open + 1, close - open - 1), host.substr(0, digits))) return false;
        host.remove_prefix(digits);
        name.remove_prefix(close + 1);
    }
    return name == host;
}

/// Where the first name of the list ends: at a separator outside of brackets.
std::size_t name_end(std::string_view list) {
    bool in_brackets = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] == '[') in_brackets = true;
        if (list[i] == ']') in_brackets = false;
        if (!in_brackets && separators.find(list[i]) != std::string_view::npos) return i;
    }
    return list.size();
}

/// Takes the next name of the list; empty between two separators.
std::string_view take_name(std::string_view& list) {
    const auto end = name_end(list);
    const std::string_view name = list.substr(0, end);
    list.remove_prefix(end < list.size() ? end + 1 : end);
    return name;
}

}  // namespace

std::optional<std::int64_t> count_hosts(std::string_view list) {
    if (list.find('/') != std::string_view::npos) return std::nullopt;
    std::int64_t hosts = 0;
    while (!list.empty()) {
        const auto name = take_name(list);
        if (name.empty()) continue;
        const auto named = count_name(name);
        if (!named) return std::nullopt;
        hosts += *named;
    }
    if (hosts == 0) return std::nullopt;
    return hosts;
}

bool names_host(std::string_view list, std::string_view host) {
    while (!list.empty())
        if (const auto name = take_name(list); !name.empty() && name_matches(name, host)) return true;
    return false;
}

}  // namespace accord
