// SPDX-License-Identifier: GPL-2.0-or-later
// One control that Accord rests on, and how it was found.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace accord {

enum class ControlState {
    ok,
    warning,   ///< works, but somebody should know
    missing,   ///< not there
    mismatch,  ///< there, and not as it must be
};
[[nodiscard]] const char* to_string(ControlState state);
/// Missing and mismatch make the exit code 1.
[[nodiscard]] inline bool is_error(ControlState state) { return state == ControlState::missing || state == ControlState::mismatch; }

struct Control {
    std::string control;  ///< "slurm.conf PrologFlags", "pool gpu: nodes"
    ControlState state = ControlState::ok;
    std::string found;
    std::string why;   ///< why it matters; empty when it is ok
    std::string line;  ///< what to change, and where; empty when it is ok
    std::string node;  ///< whose it is, where a compute node was asked; empty: this host's or the cluster's
};
using Controls = std::vector<Control>;

/// What a control that is not ok tells.
struct Advice {
    std::string why, line;
};

/// Those that several nodes have in common as one, "n1,n2".
[[nodiscard]] Controls grouped_by_node(const Controls& controls);

/// Adds a control that is ok where `right` is true, and else has `state` and the advice.
void check(Controls& controls, std::string control, bool right, ControlState state, std::string found, Advice advice);

}  // namespace accord
