// SPDX-License-Identifier: GPL-2.0-or-later
// The contract files that a command was given, judged for this cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/contract_set.hpp"
#include "policy/config.hpp"

namespace accord {

struct ContractInput {
    std::optional<Config> config;  ///< nothing: there is no accord.toml, and pools were not checked
    std::string config_path;
    std::vector<JudgedContract> files;
    std::vector<Error> errors;    ///< of accord.toml
    std::vector<Error> warnings;  ///< of accord.toml

    /// Prints all warnings, then all errors, to stderr. True when there is no error.
    [[nodiscard]] bool report() const;
};

/// Reads the files. accord.toml is the one among `paths`, else config_path().
[[nodiscard]] ContractInput read_contracts(const std::vector<std::string>& paths);

/// What the files mean on this machine, beside what they say: administrators named as members are errors (R3); people,
/// groups and accounts that do not exist, dates that are over and a scope too large for a grant are found.
void judge_on_this_machine(std::vector<JudgedContract>& files, const Config& config, std::int64_t now_s);

}  // namespace accord
