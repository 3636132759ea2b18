// SPDX-License-Identifier: GPL-2.0-or-later
// Carries decisions from the plugin's journal to decisions.db, and keeps those that the database cannot take yet.
#include "journal_feed.hpp"

#include <algorithm>

namespace accord {
namespace {

/// Records that a first read collects before it writes them: a whole journal does not fit into memory.
constexpr std::size_t batch = 10'000;

}  // namespace

Result<JournalFeed> JournalFeed::open(const std::string& store_dir, std::uint32_t controller,
                                      std::uint64_t resolved_through) {
    auto decisions = DecisionsDb::open(store_dir + "/decisions.db", DecisionsDb::Open::read_write);
    if (!decisions) return tl::unexpected(decisions.error());
    const auto last = decisions->last_number(controller);
    if (!last) return tl::unexpected(last.error());
    JournalReader reader(store_dir + "/journal", controller);
    return JournalFeed(std::move(*decisions), std::move(reader), std::min(*last, resolved_through));
}

JournalFeed::JournalFeed(DecisionsDb decisions, JournalReader reader, std::uint64_t after)
    : decisions_(std::move(decisions)), reader_(std::move(reader)), after_(after) {}

bool JournalFeed::advance(Troubles& troubles, const std::function<void(const JournalRecord&)>& use) {
    const bool all_read = read(troubles, use);
    return store(troubles) && all_read;
}

bool JournalFeed::read(Troubles& troubles, const std::function<void(const JournalRecord&)>& use) {
    const auto take = [&](const JournalRecord& record) {
        use(record);
        kept_.push_back(record);
        if (kept_.size() % batch == 0) store(troubles);
    };
    auto found = reader_.read_new(after_, take);
    // A damaged line is left behind for good: what follows it is as good as ever.
    while (!found && found.error().code == "invalid") {
        log_line(LogLevel::error, found.error().where + ": " + found.error().what);
        found = reader_.read_new(after_, take);
    }
    if (!found) {
        troubles.begin("journal", found.error());
        return false;
    }
    troubles.end("journal");
    return true;
}

bool JournalFeed::store(Troubles& troubles) {
    if (kept_.empty()) return true;
    const auto done = decisions_.load(kept_);
    if (!done) {
        troubles.begin("decisions.db", done.error());
        return false;
    }
    troubles.end("decisions.db");
    kept_.clear();
    return true;
}

}  // namespace accord
