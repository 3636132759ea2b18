// SPDX-License-Identifier: GPL-2.0-or-later
// The accounts that Slurm's accounting knows.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

namespace accord {

/// In lower case, as sacctmgr lists them; nothing where it is not there or this cluster keeps no accounts.
[[nodiscard]] std::optional<std::set<std::string>> slurm_accounts();

/// The account above each account that has one, in lower case; empty where the accounts are not known.
[[nodiscard]] std::map<std::string, std::string> slurm_account_parents();

}  // namespace accord
