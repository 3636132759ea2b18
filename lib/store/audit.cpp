// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/audit.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "policy/utc.hpp"
#include "store/audit_decisions.hpp"
#include "store/contracts_db.hpp"
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

Result<void> add_last_action(const StorePaths& paths, std::vector<ChainHead>& heads) {
    const auto db = open_if_there<UsageDb>(paths.usage_db);
    if (!db) return tl::unexpected(db.error());
    if (!*db) return {};
    const auto last = (*db)->last_action();
    if (!last) return tl::unexpected(last.error());
    if (*last) heads.push_back({"action", (*last)->id, (*last)->hash});
    return {};
}

Result<void> add_last_event(const StorePaths& paths, std::vector<ChainHead>& heads) {
    const auto db = open_if_there<ContractsDb>(paths.contracts_db);
    if (!db) return tl::unexpected(db.error());
    if (!*db) return {};
    const auto events = (*db)->events();
    if (!events) return tl::unexpected(events.error());
    if (!events->empty())
        heads.push_back({"contract_event", static_cast<std::uint64_t>(events->back().id), events->back().hash});
    return {};
}

/// A chain whose records are numbered from 1 without a gap; `noun` is what a record is called.
template <typename Record>
ChainReport verify_numbered(const std::string& chain, const std::string& noun, const std::vector<Record>& records) {
    ChainReport report{chain, records.size(), {}, {}, {}, {}};
    if (records.empty()) return report;
    report.first = std::to_string(records.front().id);
    report.last = std::to_string(records.back().id);
    std::uint64_t number = 0;
    std::string hash{no_hash};
    for (const auto& record : records) {
        const auto id = std::to_string(record.id), expected = std::to_string(++number);
        if (id != expected) {
            report.fault = {FaultKind::missing, expected, fmt::format("{} {} is not there", noun, expected)};
        } else if (hash_of(record) != record.hash) {
            report.fault = {FaultKind::altered, id, fmt::format("{} {} does not have the hash that it names", noun, id)};
        } else if (record.prev_hash != hash) {
            report.fault = {FaultKind::altered, id, fmt::format("{} {} does not follow the one before it", noun, id)};
        }
        if (report.fault) return report;
        hash = record.hash;
    }
    return report;
}

Result<void> verify_actions(const StorePaths& paths, std::vector<ChainReport>& reports) {
    const auto db = open_if_there<UsageDb>(paths.usage_db);
    if (!db) return tl::unexpected(db.error());
    if (!*db) return {};
    const auto actions = (*db)->actions();
    if (!actions) return tl::unexpected(actions.error());
    reports.push_back(verify_numbered("action", "action", *actions));
    return {};
}

/// Whether each event's contract still has the text whose hash the event names (R20).
Result<void> check_texts(const ContractsDb& db, const std::vector<ContractEvent>& events, ChainReport& report) {
    std::map<std::pair<std::string, std::uint32_t>, std::string> hashes;
    for (const auto& event : events) {
        const auto version = std::pair(event.contract, event.version);
        if (!hashes.contains(version)) {
            const auto text = db.text(event.contract, event.version);
            if (!text) return tl::unexpected(text.error());
            hashes[version] = *text ? blake2b_hex(**text) : "";
        }
        if (report.fault || event.contract_hash.empty() || hashes[version] == event.contract_hash) continue;
        report.fault = {FaultKind::altered, std::to_string(event.id),
                        fmt::format("the text of {} version {} is not the one that event {} names", event.contract,
                                    event.version, event.id)};
    }
    return {};
}

Result<void> verify_contract_events(const StorePaths& paths, std::vector<ChainReport>& reports) {
    const auto db = open_if_there<ContractsDb>(paths.contracts_db);
    if (!db) return tl::unexpected(db.error());
    if (!*db) return {};
    const auto events = (*db)->events();
    if (!events) return tl::unexpected(events.error());
    reports.push_back(verify_numbered("contract_event", "event", *events));
    return check_texts(**db, *events, reports.back());
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

/// The hash of the record `number` among those of a numbered chain; empty when it is not there.
template <typename Record>
std::string hash_among(const std::vector<Record>& records, std::uint64_t number) {
    for (const auto& record : records)
        if (static_cast<std::uint64_t>(record.id) == number) return record.hash;
    return {};
}

/// The same for a decision, in the journal or else in decisions.db.
Result<std::string> decision_hash(const StorePaths& paths, const DecisionId& id) {
    auto lines = JournalLines::open(paths.journal, id.controller);
    if (!lines) return tl::unexpected(lines.error());
    JournalLine line;
    auto more = lines->next(line);
    for (; more && *more; more = lines->next(line))
        if (id_of_line(line.text) == id) return std::string(hash_in_line(line.text));
    if (!more) return tl::unexpected(more.error());
    const auto db = open_if_there<DecisionsDb>(paths.decisions_db);
    if (!db) return tl::unexpected(db.error());
    if (!*db) return std::string();
    const auto rows = (*db)->query({.id = id});
    if (!rows) return tl::unexpected(rows.error());
    return rows->empty() ? std::string() : rows->front().hash;
}

/// The hash of the record that a head names, as it is now; empty when it is not there.
Result<std::string> hash_at(const StorePaths& paths, const ChainHead& head) {
    if (head.chain == "action") {
        const auto db = open_if_there<UsageDb>(paths.usage_db);
        if (!db) return tl::unexpected(db.error());
        const auto actions = *db ? (*db)->actions() : std::vector<ActionRecord>{};
        if (!actions) return tl::unexpected(actions.error());
        return hash_among(*actions, head.number);
    }
    if (head.chain == "contract_event") {
        const auto db = open_if_there<ContractsDb>(paths.contracts_db);
        if (!db) return tl::unexpected(db.error());
        const auto events = *db ? (*db)->events() : std::vector<ContractEvent>{};
        if (!events) return tl::unexpected(events.error());
        return hash_among(*events, head.number);
    }
    const auto id = decision_id_from(fmt::format("{}-{}", head.chain.substr(head.chain.find('-') + 1), head.number));
    if (!head.chain.starts_with("journal-") || !id) return fail("invalid", fmt::format("{}: there is no such chain", head.chain));
    return decision_hash(paths, *id);
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
    if (const auto added = add_last_action(paths, heads); !added) return tl::unexpected(added.error());
    if (const auto added = add_last_event(paths, heads); !added) return tl::unexpected(added.error());
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
    if (const auto done = verify_actions(paths, reports); !done) return tl::unexpected(done.error());
    if (const auto done = verify_contract_events(paths, reports); !done) return tl::unexpected(done.error());
    for (const auto& head : heads)
        if (const auto checked = check_head(paths, head, reports); !checked) return tl::unexpected(checked.error());
    return reports;
}

}  // namespace accord
