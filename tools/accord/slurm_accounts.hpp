// SPDX-License-Identifier: GPL-2.0-or-later
// The accounts that Slurm's accounting knows.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace accord {

/// In lower case, as sacctmgr lists them; nothing where it is not there or this cluster keeps no accounts.
[[nodiscard]] std::optional<std::set<std::string>> slurm_accounts();

}  // namespace accord
