// SPDX-License-Identifier: GPL-2.0-or-later
// The file "ledger": accordd's snapshot of all claims and of the cluster's shape, replaced by rename.
#pragma once

#include <string>

#include "policy/error.hpp"
#include "policy/ledger.hpp"

namespace accord {

/// JSON with a version and a BLAKE2b checksum; a file that fails either is refused ("invalid").
[[nodiscard]] Result<LedgerBase> read_ledger(const std::string& path);
/// Writes beside it, syncs, renames. Mode 0640.
[[nodiscard]] Result<void> write_ledger(const std::string& path, const LedgerBase& base);

}  // namespace accord
