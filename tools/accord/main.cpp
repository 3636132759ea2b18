// SPDX-License-Identifier: GPL-2.0-or-later
// accord: the command line for administrators, auditors and researchers. One file per subcommand.
#include <array>
#include <exception>

#include "command.hpp"
#include "config.h"

namespace {

using namespace accord;

constexpr std::array commands{add_validate, add_apply,     add_contract, add_status,
                              add_why,      add_decisions, add_audit,    add_count_gpus,
                              add_doctor};

int run(int argc, char** argv) {
    CLI::App app{"Govern a Slurm GPU cluster by contract.", "accord"};
    app.set_version_flag("--version", "accord " PACKAGE_VERSION);
    app.require_subcommand(1);
    app.footer(
        "Exit codes: 0 done or true, 1 refused, invalid or false, 2 wrong usage.\n"
        "ACCORD_CONF names another accord.toml than the installed one.");
    Run chosen;
    for (const auto add : commands) add(app, chosen);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
        // A misspelt subcommand is left over where one is missing.
        const auto left = app.remaining(true);
        const bool misspelt = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) && !left.empty();
        complain(misspelt ? left.front() + ": no such subcommand or option (see --help)" : error.what());
        return wrong_usage;
    }
    return chosen();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        return complain(error.what());
    }
}
