// SPDX-License-Identifier: GPL-2.0-or-later
// Evidence: whether the records are still what was written, and the heads by which later readers can tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/error.hpp"
#include "store/chain_fault.hpp"
#include "store/store_paths.hpp"

namespace accord {

/// The last record of a chain. A journal that two processes wrote at once has several.
struct ChainHead {
    std::string chain;  ///< "journal-0" (by controller), "action", "contract_event"
    std::uint64_t number = 0;
    std::string hash;
    bool operator==(const ChainHead&) const = default;
};

/// The heads as they are now; a chain without a record has none.
[[nodiscard]] Result<std::vector<ChainHead>> chain_heads(const StorePaths& paths);
/// All on one line: "accord-heads 2026-01-01T00:00:00Z journal-0=17:HASH action=3:HASH".
[[nodiscard]] std::string heads_line(const std::vector<ChainHead>& heads, std::int64_t now_s);
/// Reads such a line, with whatever a log has put before or behind it. Fails ("invalid") when it names no head.
[[nodiscard]] Result<std::vector<ChainHead>> heads_from(const std::string& line);

struct ChainReport {
    std::string chain;  ///< as in ChainHead, and "decisions-0" for decisions.db's copy of the journal
    std::uint64_t records = 0;
    std::string first, last;  ///< ids; empty when there are no records
    std::optional<ChainFault> fault;
    std::vector<std::string> notes;  ///< what is no fault but should be known
};

/// Recomputes every chain, compares decisions.db with the journal, and the chains with the heads given. A store that
/// does not exist yet has no records. Fails ("io", "unavailable") when one cannot be read.
[[nodiscard]] Result<std::vector<ChainReport>> verify_chains(const StorePaths& paths, const std::vector<ChainHead>& heads);

}  // namespace accord
