// SPDX-License-Identifier: GPL-2.0-or-later
// A verdict as lines of text, with a last one that says it is whole.
#include "scope/verdict.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace accord {
namespace {

constexpr std::string_view refused = "refused: ";
constexpr std::string_view view_line = "view";
constexpr std::string_view no_new_privs_line = "no_new_privs";
constexpr std::string_view variable = "env ";
constexpr std::string_view last_line = "end";

std::string one_line(std::string text) {
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return text;
}

std::string_view word_of(Verdict::Kind kind) { return kind == Verdict::Kind::ok ? "ok" : "not governed"; }

bool read_first(std::string_view line, Verdict& verdict) {
    for (const auto kind : {Verdict::Kind::ok, Verdict::Kind::not_governed}) {
        if (line != word_of(kind)) continue;
        verdict.kind = kind;
        return true;
    }
    if (!line.starts_with(refused)) return false;
    verdict.kind = Verdict::Kind::refused;
    verdict.reason = line.substr(refused.size());
    return true;
}

bool read_setting(std::string_view line, Verdict& verdict) {
    if (line == view_line) return verdict.has_view = true;
    if (line == no_new_privs_line) return verdict.no_new_privs = true;
    const std::size_t equals = line.find('=');
    if (!line.starts_with(variable) || equals == std::string_view::npos) return false;
    verdict.context.emplace_back(line.substr(variable.size(), equals - variable.size()), line.substr(equals + 1));
    return true;
}

}  // namespace

std::string to_text(const Verdict& verdict) {
    std::string text = verdict.kind == Verdict::Kind::refused ? fmt::format("{}{}\n", refused, one_line(verdict.reason))
                                                              : fmt::format("{}\n", word_of(verdict.kind));
    if (verdict.has_view) text += fmt::format("{}\n", view_line);
    if (verdict.no_new_privs) text += fmt::format("{}\n", no_new_privs_line);
    for (const auto& [name, value] : verdict.context) text += fmt::format("{}{}={}\n", variable, name, one_line(value));
    return text + fmt::format("{}\n", last_line);
}

std::optional<Verdict> verdict_from_text(std::string_view text) {
    Verdict verdict;
    bool is_first = true;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (!is_first && line == last_line) return text.empty() ? std::optional(verdict) : std::nullopt;
        if (!(is_first ? read_first(line, verdict) : read_setting(line, verdict))) return std::nullopt;
        is_first = false;
    }
    return std::nullopt;
}

}  // namespace accord
