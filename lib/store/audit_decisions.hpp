// SPDX-License-Identifier: GPL-2.0-or-later
// The decisions' part of verification: the journal's files, decisions.db, and the two against each other.
#pragma once

#include <cstdint>
#include <string>

#include "policy/error.hpp"
#include "store/audit.hpp"
#include "store/decisions_db.hpp"

namespace accord {

[[nodiscard]] Result<ChainReport> verify_journal(const std::string& dir, std::uint32_t controller);

/// The lines' chain, and that every row says what its line says.
[[nodiscard]] Result<ChainReport> verify_decisions_db(const DecisionsDb& db, std::uint32_t controller);

/// For two chains without a fault of their own: notes in one or the other report where they do not tell the same.
/// Records that the journal no longer holds (its oldest files were taken away) are judged by decisions.db alone; those
/// that are not loaded yet are none of its faults.
[[nodiscard]] Result<void> compare_decisions(const std::string& dir, const DecisionsDb& db, std::uint32_t controller,
                                             ChainReport& journal, ChainReport& database);

}  // namespace accord
