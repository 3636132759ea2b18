// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/control.hpp"

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

void check(Controls& controls, std::string control, bool right, ControlState state, std::string found, Advice advice) {
    if (right)
        controls.push_back({std::move(control), ControlState::ok, std::move(found), {}, {}});
    else
        controls.push_back({std::move(control), state, std::move(found), std::move(advice.why), std::move(advice.line)});
}

}  // namespace accord
