// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/control.hpp"

#include <map>
#include <tuple>

namespace accord {

const char* to_string(ControlState state) {
    switch (state) {
        case ControlState::ok: return "ok";
        case ControlState::warning: return "warning";
        case ControlState::missing: return "missing";
        case ControlState::mismatch: return "mismatch";
    }
    return "";
}

Controls grouped_by_node(const Controls& controls) {
    Controls groups;
    std::map<std::tuple<bool, std::string, std::string, std::string>, std::size_t> places;
    for (const auto& one : controls) {
        const auto [place, fresh] = places.try_emplace({one.node.empty(), one.control, one.found, one.line}, groups.size());
        if (fresh || one.node.empty())
            groups.push_back(one);
        else
            groups[place->second].node += "," + one.node;
    }
    return groups;
}

void check(Controls& controls, std::string control, bool right, ControlState state, std::string found, Advice advice) {
    if (right)
        controls.push_back({std::move(control), ControlState::ok, std::move(found), {}, {}, {}});
    else
        controls.push_back({std::move(control), state, std::move(found), std::move(advice.why), std::move(advice.line), {}});
}

}  // namespace accord
