// SPDX-License-Identifier: GPL-2.0-or-later
// accord validate: judges contract files, together, without touching any store.
#include <ctime>
#include <memory>

#include <fmt/format.h>

#include "command.hpp"
#include "contract_input.hpp"
#include "contract_text.hpp"

namespace accord {

namespace {

int validate(const std::vector<std::string>& paths) {
    auto input = read_contracts(paths);
    if (input.config) judge_on_this_machine(input.files, *input.config, std::time(nullptr));
    judge_together(input.files, input.config ? &*input.config : nullptr, {});
    if (!input.report()) return refused;
    if (input.files.empty()) fmt::print("{}: valid\n", input.config_path);
    for (const auto& judged : input.files)
        fmt::print("{}: {}: valid, {}\n", judged.report.path, judged.contract->key(), summary_of(*judged.contract));
    return done;
}

}  // namespace

void add_validate(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("validate", "Judge contract files, together");
    const auto paths = std::make_shared<std::vector<std::string>>();
    command->add_option("PATH", *paths, "A contract file, or a folder with such files (*.toml)")->required();
    command->footer(
        "accord.toml is taken from among the paths, else from ACCORD_CONF or the installed place; without one,\n"
        "pools are not checked. Each error and warning is one line: file:line: key: what was found, what is right.");
    command->callback([paths, &run] { run = [paths] { return validate(*paths); }; });
}

}  // namespace accord
