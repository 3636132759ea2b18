// SPDX-License-Identifier: GPL-2.0-or-later
#include "decision_line.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "store/json_text.hpp"
#include "sys/text.hpp"

namespace accord {
namespace {

bool is_word(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_-./:@+,").find(static_cast<char>(c)) != std::string_view::npos;
    });
}

void add(fmt::memory_buffer& line, std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(line), " {}=", key);
    if (is_word(value)) line.append(value);
    else append_json_string(line, sanitised(value, 1000));
}

}  // namespace

std::string decision_line(const Ruling& ruling) {
    const Decision& decision = ruling.decision;
    fmt::memory_buffer line;
    line.append(std::string_view("decision="));
    line.append(ruling.id ? to_string(*ruling.id) : std::string("none"));
    add(line, "kind", to_string(decision.kind));
    if (decision.mode == Mode::observe) add(line, "mode", to_string(decision.mode));
    if (decision.job_id) add(line, "job", fmt::format_int(*decision.job_id).c_str());
    add(line, "user", decision.user);
    add(line, "uid", fmt::format_int(decision.uid).c_str());
    add(line, "account", decision.account);
    add(line, "partition", decision.partition);
    add(line, "verdict", to_string(decision.verdict));
    if (decision.cls) add(line, "class", to_string(*decision.cls));
    if (decision.reason != Reason::none) add(line, "reason", to_string(decision.reason));
    for (const auto& [type, count] : decision.claim)
        add(line, "claim", fmt::format("{}:{}", type.empty() ? "gpu" : type, count));
    if (decision.verdict == Verdict::rejected) add(line, "message", decision.message);
    if (!ruling.trouble.empty()) add(line, "trouble", ruling.trouble);
    return fmt::to_string(line);
}

}  // namespace accord
