// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/toml_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace {
/// A text that breaks what toml++ takes for granted, such as "[\u00e9]" in its release 3.3.
struct ParserFault : std::logic_error {
    using std::logic_error::logic_error;
};
}  // namespace

// toml++ must neither end the process nor go on blindly: slurmctld reads files with it.
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : throw ParserFault(#expr))
// Debian 12's shared toml++ lacks the parser that does not throw.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wterminate"  // where toml++ promises not to throw, its own check would have ended us too
#include <toml++/toml.h>
#pragma GCC diagnostic pop

namespace accord {

namespace {

using Kind = TomlNode::Kind;

/// Lines of the text, to show values as they were spelt.
class Source {
public:
    explicit Source(std::string_view text) {
        while (!text.empty()) {
            const auto end = text.find('\n');
            lines_.push_back(text.substr(0, end));
            text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        }
    }

    /// The text of the region, or nothing when it spans lines. Columns count code points, so a line with others than
    /// ASCII is left alone.
    [[nodiscard]] std::string slice(const toml::source_region& region) const {
        const auto line = region.begin.line;
        if (line == 0 || line > lines_.size() || region.end.line != line || region.end.column <= region.begin.column)
            return {};
        const auto text = lines_[line - 1];
        const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
        if (region.begin.column > text.size() || !std::all_of(text.begin(), text.end(), ascii)) return {};
        return std::string(text.substr(region.begin.column - 1, region.end.column - region.begin.column));
    }

private:
    std::vector<std::string_view> lines_;
};

CivilTime civil(const toml::date& date) { return {date.year, date.month, date.day}; }

void set_datetime(TomlNode& node, const toml::date_time& value) {
    node.when = civil(value.date);
    node.when.hour = value.time.hour;
    node.when.minute = value.time.minute;
    node.when.second = value.time.second;
    node.kind = value.offset ? Kind::offset_datetime : Kind::local_datetime;
    if (value.offset) node.when.offset_min = value.offset->minutes;
}

TomlNode convert(const toml::node& from, const Source& source);

TomlNode convert_table(const toml::table& table, const Source& source) {
    TomlNode node;
    std::vector<std::pair<toml::source_position, TomlEntry>> found;
    for (const auto& [key, value] : table) {
        const auto at = key.source().begin;
        TomlEntry entry{std::string(key.str()), static_cast<int>(at.line), convert(value, source)};
        found.emplace_back(at, std::move(entry));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [at, entry] : found) node.entries.push_back(std::move(entry));
    return node;
}

void set_scalar(TomlNode& node, const toml::node& from) {
    if (const auto* text = from.as_string()) {
        node.kind = Kind::string;
        node.text = text->get();
    } else if (const auto* integer = from.as_integer()) {
        node.kind = Kind::integer;
        node.integer = integer->get();
    } else if (from.is_floating_point()) {
        node.kind = Kind::real;
    } else if (const auto* boolean = from.as_boolean()) {
        node.kind = Kind::boolean;
        node.boolean = boolean->get();
    } else if (const auto* date = from.as_date()) {
        node.kind = Kind::date;
        node.when = civil(date->get());
    } else if (const auto* datetime = from.as_date_time()) {
        set_datetime(node, datetime->get());
    } else {
        node.kind = Kind::time;
    }
}

TomlNode convert(const toml::node& from, const Source& source) {
    TomlNode node;
    if (const auto* table = from.as_table()) {
        node = convert_table(*table, source);
    } else if (const auto* array = from.as_array()) {
        node.kind = Kind::array;
        for (const auto& item : *array) node.items.push_back(convert(item, source));
    } else {
        set_scalar(node, from);
        node.raw = source.slice(from.source());
    }
    node.line = std::max(1, static_cast<int>(from.source().begin.line));
    return node;
}

std::string trimmed(std::string text) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.resize(text.find_last_not_of(" \t\r") + 1);
    return text;
}

/// A date with a zone, over which the parser stumbles: what people mean by it. Empty for any other line.
std::string date_problem(const std::string& line) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) return {};
    const auto value = trimmed(line.substr(equals + 1));
    const auto digit = [&](std::size_t i) { return i < value.size() && value[i] >= '0' && value[i] <= '9'; };
    const bool date = digit(0) && digit(3) && value.size() > 10 && value[4] == '-' && value[7] == '-' && digit(9);
    if (!date || (value[10] != 'Z' && value[10] != '+' && value[10] != '-')) return {};
    return fmt::format(
        "{}: found {}, and a date has no zone: write {} for that day in the cluster's time zone, or a time "
        "such as {}T23:59:59Z",
        trimmed(line.substr(0, equals)), value, value.substr(0, 10), value.substr(0, 10));
}

/// For messages of one line: no control characters, and not all of a long text.
std::string shown(std::string text) {
    for (auto& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    constexpr std::size_t most = 60;
    return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::string line_at(std::string_view text, std::size_t number) {
    for (; number > 1; --number) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::string TomlNode::describe() const {
    const auto with_raw = [this](const char* what) {
        return raw.empty() ? std::string("a ") + what : fmt::format("the {} {}", what, shown(raw));
    };
    switch (kind) {
        case Kind::table: return "a table";
        case Kind::array: return "a list";
        case Kind::string: return fmt::format("the string \"{}\"", shown(text));
        case Kind::integer: return fmt::format("the integer {}", integer);
        case Kind::real: return with_raw("float");
        case Kind::boolean: return boolean ? "the boolean true" : "the boolean false";
        case Kind::date: return with_raw("date");
        case Kind::time: return with_raw("time");
        case Kind::local_datetime:
        case Kind::offset_datetime: return with_raw("date-time");
    }
    return "a value";
}

namespace {

bool breaks_parser(std::string_view text) {
    try {
        static_cast<void>(toml::parse(text));
    } catch (const ParserFault&) {
        return true;
    }
    return false;
}

/// The first line with which the text breaks the parser.
std::size_t breaking_line(std::string_view text) {
    std::size_t line = 1;
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1), ++line)
        if (breaks_parser(text.substr(0, end + 1))) break;
    return line;
}

}  // namespace

Result<TomlNode> parse_toml(std::string_view text, const std::string& path) try {
    const auto parsed = toml::parse(text, path);
    if (parsed) return convert_table(parsed.table(), Source(text));
    const auto& error = parsed.error();
    const auto line = std::max<std::size_t>(1, error.source().begin.line);
    auto what = date_problem(shown(line_at(text, line)));
    if (what.empty()) what = fmt::format("this is not TOML: {}", error.description());
    return fail("invalid", std::move(what), fmt::format("{}:{}", path, line));
} catch (const ParserFault&) {
    return fail("invalid", "this is not TOML: a key or value begins with what cannot begin one",
                fmt::format("{}:{}", path, breaking_line(text)));
}

}  // namespace accord
