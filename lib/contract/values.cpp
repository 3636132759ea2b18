// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/values.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "contract/suggest.hpp"
#include "contract/units.hpp"

namespace accord {

namespace {

using Kind = TomlNode::Kind;

std::string quoted(const std::string& text) { return fmt::format("\"{}\"", text); }

/// How a value of another type would be written as a whole number, where that is plain.
std::string as_integer(const TomlNode& node) {
    const auto digits = [](std::string_view text) {
        return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (node.kind == Kind::string && digits(node.text)) return node.text;
    const auto dot = node.raw.find('.');
    if (node.kind != Kind::real || dot == std::string::npos || !digits(std::string_view(node.raw).substr(0, dot)))
        return {};
    if (node.raw.find_first_not_of('0', dot + 1) != std::string::npos) return {};
    return node.raw.substr(0, dot);
}

/// How a scalar of another type would be written as a string.
std::string as_string(const TomlNode& node) {
    if (node.kind == Kind::table || node.kind == Kind::array || node.kind == Kind::string || node.raw.empty())
        return {};
    return quoted(node.raw);
}

std::string text_problem(const TomlNode& node, const std::string& expected, const TextCheck& check) {
    if (node.kind != Kind::string) return mismatch(node, expected, as_string(node));
    if (node.text.find_first_not_of(" \t") == std::string::npos)
        return fmt::format("found an empty string, expected {}", expected);
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(node.text.begin(), node.text.end(), control))
        return fmt::format("found a control character in the string, expected {}", expected);
    return check ? check(node.text) : std::string();
}

std::string range_text(std::int64_t least, std::int64_t most) {
    if (most == std::numeric_limits<std::int64_t>::max()) return fmt::format("a whole number from {} on", least);
    return fmt::format("a whole number from {} to {}", least, most);
}

}  // namespace

std::string mismatch(const TomlNode& found, const std::string& expected, const std::string& right) {
    auto text = fmt::format("found {}, expected {}", found.describe(), expected);
    if (!right.empty()) text += fmt::format(": write {}", right);
    return text;
}

Value text_value(Place<std::string> to, std::string expected, TextCheck check) {
    auto set = [to = std::move(to), expected, check = std::move(check)](const TomlNode& node, const std::string&) {
        auto wrong = text_problem(node, expected, check);
        if (wrong.empty()) to() = node.text;
        return wrong;
    };
    return {std::move(expected), std::move(set)};
}

Value word_value(std::vector<std::string> words, std::function<void(std::size_t)> set) {
    std::vector<std::string> shown;
    std::transform(words.begin(), words.end(), std::back_inserter(shown), quoted);
    auto expected = shown.size() == 1 ? shown.front() : fmt::format("one of {}", fmt::join(shown, ", "));
    auto take = [words = std::move(words), set = std::move(set), expected](const TomlNode& node, const std::string&) {
        if (node.kind != Kind::string) return mismatch(node, expected);
        const auto word = std::find(words.begin(), words.end(), node.text);
        if (word == words.end()) return mismatch(node, expected);
        set(static_cast<std::size_t>(word - words.begin()));
        return std::string();
    };
    return {std::move(expected), std::move(take)};
}

Value list_value(Place<std::vector<std::string>> to, std::string expected, TextCheck check) {
    auto set = [to = std::move(to), expected, check = std::move(check)](const TomlNode& node, const std::string&) {
        if (node.kind != Kind::array)
            return mismatch(node, expected,
                            node.kind == Kind::string ? fmt::format("[\"{}\"]", node.text) : std::string());
        std::vector<std::string> found;
        for (const auto& item : node.items) {
            const auto wrong = text_problem(item, "a string", check);
            if (!wrong.empty()) return wrong;
            if (std::find(found.begin(), found.end(), item.text) != found.end())
                return fmt::format("\"{}\" is named twice", item.text);
            found.push_back(item.text);
        }
        to() = std::move(found);
        return std::string();
    };
    return {std::move(expected), std::move(set)};
}

Value bool_value(Place<bool> to) {
    auto set = [to = std::move(to)](const TomlNode& node, const std::string&) {
        if (node.kind != Kind::boolean) return mismatch(node, "true or false");
        to() = node.boolean;
        return std::string();
    };
    return {"true or false", std::move(set)};
}

Value integer_value(std::function<void(std::int64_t)> set, std::int64_t least, std::int64_t most) {
    auto expected = range_text(least, most);
    auto take = [set = std::move(set), expected, least, most](const TomlNode& node, const std::string&) {
        if (node.kind != Kind::integer) return mismatch(node, expected, as_integer(node));
        if (node.integer < least || node.integer > most)
            return fmt::format("found {}, expected {}", node.integer, expected);
        set(node.integer);
        return std::string();
    };
    return {std::move(expected), std::move(take)};
}

Value integer_value(Place<std::int64_t> to, std::int64_t least, std::int64_t most) {
    return integer_value([to = std::move(to)](std::int64_t value) { to() = value; }, least, most);
}

Value integer_value(Place<std::optional<std::int64_t>> to, std::int64_t least, std::int64_t most) {
    return integer_value([to = std::move(to)](std::int64_t value) { to() = value; }, least, most);
}

Value duration_value(std::function<void(std::int64_t)> set, std::int64_t least_ms) {
    const std::string expected = "a span of time such as \"90s\", \"10m\", \"4h\" or \"14d\"";
    auto take = [set = std::move(set), expected, least_ms](const TomlNode& node, const std::string&) {
        const auto span = node.kind == Kind::string ? parse_duration_ms(node.text) : std::nullopt;
        if (!span) return mismatch(node, expected);
        if (*span < least_ms) return fmt::format("found \"{}\", expected at least {} ms", node.text, least_ms);
        set(*span);
        return std::string();
    };
    return {expected, std::move(take)};
}

std::string check_name(const std::string& text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+@$\\";
    const auto odd = text.find_first_not_of(plain);
    if (odd != std::string::npos) return fmt::format("\"{}\" is not a name: it holds '{}'", text, text[odd]);
    constexpr std::size_t longest = 200;
    if (text.size() > longest) return fmt::format("a name has {} characters at most, and this one {}", longest, text.size());
    if (text.front() == '-' || text == "." || text == "..") return fmt::format("\"{}\" is not a name", text);
    return {};
}

}  // namespace accord
