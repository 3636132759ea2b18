// SPDX-License-Identifier: GPL-2.0-or-later
// Carries decisions from the plugin's journal to decisions.db, and keeps those that the database cannot take yet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "log.hpp"
#include "store/decisions_db.hpp"
#include "store/journal.hpp"

namespace accord {

class JournalFeed {
public:
    /// Opens or makes decisions.db. Reads on from the last record that it holds, or from `resolved_through` where that
    /// is earlier, so that both the database and the ledger get what they lack.
    static Result<JournalFeed> open(const std::string& store_dir, std::uint32_t controller,
                                    std::uint64_t resolved_through);

    /// Hands out the journal's new records and puts them into the database. False where the journal could not be read or
    /// the database does not have them all yet; nothing is lost, the next call goes on from there.
    bool advance(Troubles& troubles, const std::function<void(const JournalRecord&)>& use);

    [[nodiscard]] DecisionsDb& decisions() { return decisions_; }

private:
    JournalFeed(DecisionsDb decisions, JournalReader reader, std::uint64_t after);
    bool read(Troubles& troubles, const std::function<void(const JournalRecord&)>& use);
    bool store(Troubles& troubles);

    DecisionsDb decisions_;
    JournalReader reader_;
    std::uint64_t after_;
    std::vector<JournalRecord> kept_;  ///< read, and not in the database yet
};

}  // namespace accord
