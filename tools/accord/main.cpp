// SPDX-License-Identifier: GPL-2.0-or-later
// accord: the command line for administrators, auditors and researchers. One file per subcommand.
#include <array>
#include <exception>
#include <string>

#include <fmt/format.h>

#include "command.hpp"
#include "config.h"

namespace {

using namespace accord;

constexpr std::array commands{add_validate, add_apply,     add_contract, add_status,
                              add_why,      add_decisions, add_audit,    add_count_gpus,
                              add_doctor,   add_simulate};

/// The command as far as it was understood, by whose help one goes on: "accord why".
std::string understood(const CLI::App& app) {
    auto name = app.get_name();
    for (const auto* command = &app; !command->get_subcommands().empty();) {
        command = command->get_subcommands().front();
        name += " " + command->get_name();
    }
    return name;
}

int run(int argc, char** argv) {
    CLI::App app{"Govern a Slurm GPU cluster by contract.", "accord"};
    app.set_version_flag("--version", "accord " PACKAGE_VERSION);
    app.require_subcommand(1);
    app.footer(
        "Exit codes: 0 done or true, 1 refused, invalid or false, 2 wrong usage.\n"
        "ACCORD_CONF names another accord.toml than the installed one.\n"
        "Manual: accord(1), and a page for each command, such as accord-status(1).");
    Run chosen;
    for (const auto add : commands) add(app, chosen);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
        // A misspelt subcommand is left over where one is missing.
        const auto left = app.remaining(true);
        const bool misspelt = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) && !left.empty();
        complain(fmt::format("{} (see {} --help)",
                             misspelt ? left.front() + ": no such subcommand or option" : std::string(error.what()),
                             understood(app)));
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
