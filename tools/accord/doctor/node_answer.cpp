// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/node_answer.hpp"

#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "doctor/node_controls.hpp"

namespace accord {
namespace {

using State = ControlState;
using nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

State state_from(const std::string& word) {
    for (const auto state : {State::ok, State::warning, State::missing})
        if (word == to_string(state)) return state;
    return State::mismatch;
}

/// The listing lies between a line "[" and a line "]"; what a task prolog prints may lie around it.
std::optional<json> listing_in(const std::string& output) {
    std::string text;
    bool within = false;
    for (const auto& line : lines_of(output)) {
        within = within || line == "[" || line == "[]";
        if (within) text += line + "\n";
        if (line == "]" || line == "[]") break;
    }
    auto listing = json::parse(text, nullptr, false);
    if (!listing.is_array()) return std::nullopt;
    return listing;
}

std::string member(const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<Controls> controls_in(const std::string& output) {
    const auto listing = listing_in(output);
    if (!listing) return std::nullopt;
    Controls controls;
    for (const auto& one : *listing)
        if (one.is_object())
            controls.push_back({member(one, "control"), state_from(member(one, "state")), member(one, "found"),
                                member(one, "why"), member(one, "line"), {}});
    return controls;
}

/// The last line that starts so, without that; empty where there is none.
std::string said(const std::string& complaints, std::string_view start) {
    std::string found;
    for (const auto& line : lines_of(complaints))
        if (line.starts_with(start)) found = line.substr(start.size());
    return found;
}

void compare(Control& control, const std::string& reference, const char* what, const char* line) {
    if (reference.empty() || control.state != State::ok || control.found == reference) return;
    control.state = State::mismatch;
    control.found = fmt::format("{}; the controller's is {}", control.found, reference);
    control.why = what;
    control.line = line;
}

/// Why there is no listing.
Control no_answer(const NodeAnswer& answer) {
    constexpr auto why = "what this node has may differ from the others'";
    constexpr auto line = "run accord doctor again once it is free, or accord doctor --node there";
    const auto not_asked = [&](const std::string& reason) {
        return Control{"answer", State::warning, "not asked: " + reason, why, line, {}};
    };
    if (!answer.asked) return not_asked("down or draining");
    if (const auto refusal = said(answer.complaints, "accord: node "); !refusal.empty())
        return {"jobs", State::mismatch, "node " + refusal, "this node ends every task of the pools",
                "restart slurmd there if its plugstack.conf was changed since its start; see its log", {}};
    if (const auto failure = said(answer.complaints, "slurmstepd: error: execve(): "); !failure.empty())
        return {"accord", State::missing, failure, "a node needs its plugin, and accord to look at it",
                "install Accord there, at the same place as here", {}};
    if (answer.out_of_time) return not_asked("no answer in time");
    const auto rejection = said(answer.complaints, "srun: error: accord: ");
    auto reason = rejection.empty() ? said(answer.complaints, "srun: error: ") : rejection;
    constexpr std::string_view common = "Unable to allocate resources: ";
    if (reason.starts_with(common)) reason.erase(0, common.size());
    return not_asked(reason.empty() ? "srun did not say why" : reason);
}

}  // namespace

bool has_answered(const NodeAnswer& answer) { return answer.asked && listing_in(answer.output).has_value(); }

Controls check_node(const NodeAnswer& answer, const NodeReference& reference) {
    auto controls = answer.asked ? controls_in(answer.output) : std::nullopt;
    if (!controls) controls = Controls{no_answer(answer)};
    Controls findings;
    for (auto& control : *controls) {
        if (control.control == config_contents)
            compare(control, reference.config_hash, "the node judges grants and paths by other settings",
                    "copy the controller's accord.toml there");
        if (control.control == plugin_contents)
            compare(control, reference.plugin_hash, "it is of another version or build than the controller's",
                    "install there the Accord that runs here");
        control.node = answer.node;
        if (control.state != State::ok) findings.push_back(std::move(control));
    }
    return findings;
}

}  // namespace accord
