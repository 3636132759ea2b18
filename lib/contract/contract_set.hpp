// SPDX-License-Identifier: GPL-2.0-or-later
// Contracts that are judged together: each key once, and no more guaranteed than there is.
#pragma once

#include <string>
#include <vector>

#include "contract/contract_toml.hpp"
#include "policy/policy.hpp"

namespace accord {

/// Opens each path once (a folder: its "*.toml" files, sorted by name, but accord.toml; links are not followed) and
/// judges it by itself. What cannot be read is an error of its file.
[[nodiscard]] std::vector<JudgedContract> judge_files(const std::vector<std::string>& paths, const Config* config);

/// Adds to the reports what is wrong between the contracts: a key that two files have, and, where `config` is given,
/// guarantees beyond the pool's capacity (R10) together with those of `standing`, the contracts that stay in force
/// beside the files. A contract of the files replaces a standing one of the same key.
void judge_together(std::vector<JudgedContract>& files, const Config* config,
                    const std::vector<PolicyContract>& standing);

/// All errors, in the order of the files.
[[nodiscard]] std::vector<Error> errors_of(const std::vector<JudgedContract>& files);
[[nodiscard]] std::vector<Error> warnings_of(const std::vector<JudgedContract>& files);

}  // namespace accord
