// SPDX-License-Identifier: GPL-2.0-or-later
// Root works on the stores as SlurmUser, who owns them.
#pragma once

#include <string>

#include "policy/config.hpp"
#include "policy/error.hpp"
#include "store/contracts_db.hpp"
#include "store/store_paths.hpp"

namespace accord {

/// SlurmUser's name: the owner of `[store] dir`, which the installation makes for him. Fails ("unavailable") when the
/// folder is not there.
[[nodiscard]] Result<std::string> store_owner(const Config& config);

/// As root, becomes the stores' owner for good: read input files before. Does nothing for anyone else.
[[nodiscard]] Result<void> become_store_owner(const Config& config);

/// For commands that read: becomes the owner and gives the stores' places. Fails ("refused", saying whom to ask) for who
/// may not read them.
[[nodiscard]] Result<StorePaths> store_to_read(const Config& config);

/// Who runs this program, as it was started: ask before become_store_owner().
[[nodiscard]] Actor current_actor();

}  // namespace accord
