// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/audit.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "policy/utc.hpp"
#include "store/audit_decisions.hpp"
#include "store/decisions_db.hpp"
#include "store/hash.hpp"
#include "store/journal_lines.hpp"
#include "store/usage_db.hpp"

namespace accord {
namespace {

bool there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// A database that may not exist yet.
template <typename Db>
Result<std::optional<Db>> open_if_there(const std::string& path) {
    if (!there(path)) return std::nullopt;
    auto db = Db::open(path, Db::Open::read_only);
    if (!db) return tl::unexpected(db.error());
    return std::optional<Db>(std::move(*db));
}

/// A file's last record is a head unless another file goes on from it.
Result<void> add_journal_heads(const std::string& dir, std::uint32_t controller, std::vector<ChainHead>& heads) {
    const auto files = journal_files(dir, controller);
    if (!files) return tl::unexpected(files.error());
    std::vector<ChainHead> ends;
    std::set<std::string> followed;
    for (const auto& file : *files) {
        const auto lines = journal_ends(file.path);
        if (!lines) return tl::unexpected(lines.error());
        if (lines->first.empty()) continue;
        const auto first = decode_record(lines->first), last = decode_record(lines->last);
        if (!first || !last)
            return fail("invalid", fmt::format("{}: cannot tell the journal's head: a line is no record", file.path));
        followed.insert(first->prev_hash);
        ends.push_back({fmt::format("journal-{}", controller), last->id.number, last->hash});
    }
    for (auto& end : ends)
        if (!followed.contains(end.hash)) heads.push_back(std::move(end));
    return {};
}

Result<ChainReport> verify_actions(const UsageDb& db) {
    const auto actions = db.actions();
    if (!actions) return tl::unexpected(actions.error());
    ChainReport report{"action", actions->size(), {}, {}, {}, {}};
    if (actions->empty()) return report;
    report.first = std::to_string(actions->front().id);
    report.last = std::to_string(actions->back().id);
    std::uint64_t number = 0;
    std::string hash{no_hash};
    for (const auto& action : *actions) {
        const auto id = std::to_string(action.id);
        if (action.id != number + 1) {
            const auto missing = std::to_string(number + 1);
            report.fault = {FaultKind::missing, missing, fmt::format("action {} is not there", missing)};
        } else if (hash_of(action) != action.hash) {
            report.fault = {FaultKind::altered, id, fmt::format("action {} does not have the hash that it names", id)};
        } else if (action.prev_hash != hash) {
            report.fault = {FaultKind::altered, id, fmt::format("action {} does not follow the one before it", id)};
        }
        if (report.fault) return report;
        number = action.id;
        hash = action.hash;
    }
    return report;
}

/// The decisions' chains of all controllers, journal and database side by side.
Result<void> verify_decisions(const StorePaths& paths, std::vector<ChainReport>& reports) {
    const auto db = open_if_there<DecisionsDb>(paths.decisions_db);
    if (!db) return tl::unexpected(db.error());
    const auto in_journal = journal_controllers(paths.journal);
    if (!in_journal) return tl::unexpected(in_journal.error());
    std::set<std::uint32_t> controllers(in_journal->begin(), in_journal->end());
    if (*db) {
        const auto loaded = (*db)->controllers();
        if (!loaded) return tl::unexpected(loaded.error());
        controllers.insert(loaded->begin(), loaded->end());
    }
    for (const auto controller : controllers) {
        auto journal = verify_journal(paths.journal, controller);
        if (!journal) return tl::unexpected(journal.error());
        if (!*db) {
            reports.push_back(std::move(*journal));
            continue;
        }
        auto database = verify_decisions_db(**db, controller);
        if (!database) return tl::unexpected(database.error());
        if (!journal->fault && !database->fault) {
            const auto compared = compare_decisions(paths.journal, **db, controller, *journal, *database);
            if (!compared) return compared;
        }
        reports.push_back(std::move(*journal));
        reports.push_back(std::move(*database));
    }
    return {};
}

/// The hash of a chain's record by number; empty when it is not there.
Result<std::string> hash_at(const StorePaths& paths, const ChainHead& head) {
    if (head.chain == "action") {
        const auto db = open_if_there<UsageDb>(paths.usage_db);
        if (!db) return tl::unexpected(db.error());
        if (!*db) return std::string();
        const auto action = (*db)->action(head.number);
        if (!action) return tl::unexpected(action.error());
        return *action ? (*action)->hash : std::string();
    }
    const auto controller_text = head.chain.substr(head.chain.find('-') + 1);
    const auto id = decision_id_from(fmt::format("{}-{}", controller_text, head.number));
    if (!head.chain.starts_with("journal-") || !id) return fail("invalid", fmt::format("{}: there is no such chain", head.chain));
    auto lines = JournalLines::open(paths.journal, id->controller);
    if (!lines) return tl::unexpected(lines.error());
    JournalLine line;
    auto more = lines->next(line);
    for (; more && *more; more = lines->next(line))
        if (id_of_line(line.text) == id) return std::string(hash_in_line(line.text));
    if (!more) return tl::unexpected(more.error());
    const auto db = open_if_there<DecisionsDb>(paths.decisions_db);
    if (!db) return tl::unexpected(db.error());
    if (!*db) return std::string();
    const auto rows = (*db)->query({.id = *id});
    if (!rows) return tl::unexpected(rows.error());
    return rows->empty() ? std::string() : rows->front().hash;
}

Result<void> check_head(const StorePaths& paths, const ChainHead& head, std::vector<ChainReport>& reports) {
    const auto hash = hash_at(paths, head);
    if (!hash) return tl::unexpected(hash.error());
    if (*hash == head.hash) return {};
    auto report = std::find_if(reports.begin(), reports.end(), [&](const auto& r) { return r.chain == head.chain; });
    if (report == reports.end()) report = reports.insert(reports.end(), ChainReport{head.chain, 0, {}, {}, {}, {}});
    if (report->fault) return {};
    const auto number = std::to_string(head.number);
    if (hash->empty()) {
        report->fault = {FaultKind::truncated, report->last,
                         report->last.empty() ? fmt::format("there are no records, the head names {}", number)
                                              : fmt::format("it ends at {}, the head names {}", report->last, number)};
    } else {
        report->fault = {FaultKind::altered, number,
                         fmt::format("record {} is not the one that the head names", number)};
    }
    return {};
}

bool is_hash(std::string_view text) {
    return text.size() == no_hash.size() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// "journal-0=17:HASH"; nothing for any other word.
std::optional<ChainHead> head_from(const std::string& word) {
    const auto equals = word.find('='), colon = word.find(':', equals);
    if (equals == std::string::npos || colon == std::string::npos || !is_hash(std::string_view(word).substr(colon + 1)))
        return {};
    ChainHead head{word.substr(0, equals), 0, word.substr(colon + 1)};
    const auto* first = word.data() + equals + 1;
    const auto* last = word.data() + colon;
    const auto [end, error] = std::from_chars(first, last, head.number);
    if (error != std::errc{} || end != last) return {};
    return head;
}

}  // namespace

Result<std::vector<ChainHead>> chain_heads(const StorePaths& paths) {
    std::vector<ChainHead> heads;
    const auto controllers = journal_controllers(paths.journal);
    if (!controllers) return tl::unexpected(controllers.error());
    for (const auto controller : *controllers)
        if (const auto added = add_journal_heads(paths.journal, controller, heads); !added)
            return tl::unexpected(added.error());
    const auto usage = open_if_there<UsageDb>(paths.usage_db);
    if (!usage) return tl::unexpected(usage.error());
    if (*usage) {
        const auto last = (*usage)->last_action();
        if (!last) return tl::unexpected(last.error());
        if (*last) heads.push_back({"action", (*last)->id, (*last)->hash});
    }
    return heads;
}

std::string heads_line(const std::vector<ChainHead>& heads, std::int64_t now_s) {
    auto line = fmt::format("accord-heads {}", utc_text(now_s));
    for (const auto& head : heads) line += fmt::format(" {}={}:{}", head.chain, head.number, head.hash);
    return line;
}

Result<std::vector<ChainHead>> heads_from(const std::string& line) {
    std::vector<ChainHead> heads;
    std::istringstream words(line);
    for (std::string word; words >> word;)
        if (auto head = head_from(word)) heads.push_back(std::move(*head));
    if (heads.empty())
        return fail("invalid", "cannot read the heads: expected words such as journal-0=17:HASH, as \"accord audit head\" "
                               "prints them");
    return heads;
}

Result<std::vector<ChainReport>> verify_chains(const StorePaths& paths, const std::vector<ChainHead>& heads) {
    std::vector<ChainReport> reports;
    if (const auto done = verify_decisions(paths, reports); !done) return tl::unexpected(done.error());
    const auto usage = open_if_there<UsageDb>(paths.usage_db);
    if (!usage) return tl::unexpected(usage.error());
    if (*usage) {
        auto report = verify_actions(**usage);
        if (!report) return tl::unexpected(report.error());
        reports.push_back(std::move(*report));
    }
    for (const auto& head : heads)
        if (const auto checked = check_head(paths, head, reports); !checked) return tl::unexpected(checked.error());
    return reports;
}

}  // namespace accord
