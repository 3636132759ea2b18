// SPDX-License-Identifier: GPL-2.0-or-later
// Whether slurmctld's plugin works on the store, and what it decides by.
#pragma once

#include <cstdint>

#include "store/store_paths.hpp"

namespace accord {

/// True while slurmctld on this host has the plugin loaded and it can keep its record.
[[nodiscard]] bool plugin_holds_journal(const StorePaths& paths);

/// Waits, for two seconds at most, until the plugin decides by this state of contracts.db (ContractsDb::data_version()) or
/// a later one. True at once where no plugin holds the journal here: there is nothing to wait for.
[[nodiscard]] bool wait_until_served(const StorePaths& paths, std::int64_t generation);

}  // namespace accord
