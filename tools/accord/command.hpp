// SPDX-License-Identifier: GPL-2.0-or-later
// What every subcommand of accord has in common.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

#include "policy/config.hpp"
#include "policy/error.hpp"

namespace accord {

/// Exit codes.
inline constexpr int done = 0;     ///< done, or true
inline constexpr int refused = 1;  ///< refused, invalid, or false
inline constexpr int wrong_usage = 2;

/// What the chosen subcommand does; gives the exit code.
using Run = std::function<int()>;

/// Adds a subcommand to `app`, with its options and help; where it is chosen, `run` is set.
using AddCommand = void (*)(CLI::App& app, Run& run);

void add_validate(CLI::App& app, Run& run);
void add_apply(CLI::App& app, Run& run);
void add_contract(CLI::App& app, Run& run);
void add_status(CLI::App& app, Run& run);
void add_why(CLI::App& app, Run& run);
void add_decisions(CLI::App& app, Run& run);
void add_audit(CLI::App& app, Run& run);
void add_count_gpus(CLI::App& app, Run& run);
void add_doctor(CLI::App& app, Run& run);
void add_simulate(CLI::App& app, Run& run);

/// One line on stderr, "accord: what"; of an error in an input file "file:line: what". Gives `refused`.
int complain(const Error& error);
int complain(const std::string& what);
/// "file:line: warning: what", on stderr.
void warn(const Error& warning);

/// The settings of config_path().
[[nodiscard]] Result<Config> site_config();

}  // namespace accord
