// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/record.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "store/journal_lines.hpp"
#include "store/ledger_file.hpp"

namespace accord {
namespace {

template <typename Db>
Result<void> open_if_there(const std::string& path, std::optional<Db>& to) {
    if (::access(path.c_str(), F_OK) != 0) return {};
    auto db = Db::open(path, Db::Open::read_only);
    if (!db) return tl::unexpected(db.error());
    to = std::move(*db);
    return {};
}

/// Reads all that is there now; what is no record is a warning.
template <typename Use>
Result<void> read_past_damage(const std::string& journal, std::uint32_t controller, std::uint64_t after,
                              std::vector<std::string>& warnings, Use use) {
    JournalReader reader(journal, controller);
    for (;;) {
        const auto read = reader.read_new(after, use);
        if (read) return {};
        if (read.error().code != "invalid") return tl::unexpected(read.error());
        warnings.push_back(read.error().where + ": " + read.error().what);
    }
}

}  // namespace

bool matches(const JournalRecord& record, const DecisionQuery& query) {
    const auto& decision = record.decision;
    const auto reason = decision.reason == Reason::none ? std::string() : std::string(to_string(decision.reason));
    return (!query.account || decision.account == *query.account) &&
           (!query.partition || decision.partition == *query.partition) && (!query.reason || reason == *query.reason) &&
           (!query.since_s || decision.time_s >= *query.since_s) &&
           (!query.job_id || decision.job_id == *query.job_id) && (!query.id || record.id == *query.id) &&
           (!query.about || record.id == *query.about || decision.job_decision == *query.about);
}

Result<Record> Record::open(const StorePaths& paths) {
    Record record;
    if (auto opened = open_if_there(paths.decisions_db, record.decisions_); !opened) return tl::unexpected(opened.error());
    if (auto opened = open_if_there(paths.usage_db, record.usage_); !opened) return tl::unexpected(opened.error());
    const auto controllers = journal_controllers(paths.journal);
    if (!controllers) return tl::unexpected(controllers.error());
    for (const auto controller : *controllers)
        if (auto read = record.read_tail(paths.journal, controller); !read) return tl::unexpected(read.error());
    return record;
}

Result<void> Record::read_tail(const std::string& journal, std::uint32_t controller) {
    std::uint64_t after = 0;
    if (decisions_) {
        const auto last = decisions_->last_number(controller);
        if (!last) return tl::unexpected(last.error());
        after = *last;
    }
    return read_past_damage(journal, controller, after, warnings_,
                            [&](const JournalRecord& found) { not_loaded_.push_back(found); });
}

Result<std::vector<DecisionRow>> Record::decisions(const DecisionQuery& query) const {
    std::vector<DecisionRow> rows;
    if (decisions_) {
        auto loaded = decisions_->query(query);
        if (!loaded) return loaded;
        rows = std::move(*loaded);
    }
    const auto loaded = rows.size();
    for (const auto& record : not_loaded_)
        if (matches(record, query)) rows.push_back(row_of(record));
    std::inplace_merge(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(loaded), rows.end(),
                       [](const auto& left, const auto& right) { return left.time < right.time; });
    return rows;
}

Result<std::optional<JobFacts>> Record::facts(const DecisionId& decision, std::optional<std::uint32_t> job_id) const {
    std::optional<JobFacts> facts;
    if (decisions_) {
        const auto loaded = decisions_->facts(decision, job_id);
        if (!loaded) return loaded;
        facts = *loaded;
    }
    for (const auto& record : not_loaded_) {
        const auto& found = record.decision;
        if (record.id == decision) facts = JobFacts{decision, found.time_s};
        else if (!facts || found.job_decision != decision) continue;
        if (found.throttle) facts->throttle = found.throttle;
        if (record.id != decision && job_id && found.job_id != job_id) continue;
        if (found.cls) facts->classify(*found.cls, found.reason, found.time_s);
        if (found.user_hold) facts->user_wants_hold = *found.user_hold;
    }
    return facts;
}

Result<std::vector<ActionRecord>> Record::actions(std::optional<std::uint32_t> job_id) const {
    return usage_ ? usage_->actions(job_id) : std::vector<ActionRecord>{};
}

Result<std::vector<UsageInterval>> Record::intervals(std::optional<std::uint32_t> job_id) const {
    return usage_ ? usage_->intervals(job_id) : std::vector<UsageInterval>{};
}

Result<std::vector<UsageInterval>> Record::open_intervals() const {
    return usage_ ? usage_->open_intervals() : std::vector<UsageInterval>{};
}

Result<LedgerNow> ledger_now(const StorePaths& paths, std::uint32_t controller) {
    LedgerNow now;
    std::set<std::string> contracts;
    if (::access(paths.ledger.c_str(), F_OK) == 0) {
        auto base = read_ledger(paths.ledger);
        if (!base) return tl::unexpected(base.error());
        for (const auto& [key, claims] : base->contracts) contracts.insert(key);
        now.ledger.rebase(std::make_shared<const LedgerBase>(std::move(*base)));
    }
    const auto read = read_past_damage(paths.journal, controller, now.ledger.base().resolved_through, now.warnings,
                                       [&](const JournalRecord& record) {
                                           if (!record.decision.contract.empty()) contracts.insert(record.decision.contract);
                                           apply_to_ledger(now.ledger, record.id.number, record.decision);
                                       });
    if (!read) return tl::unexpected(read.error());
    now.contracts.assign(contracts.begin(), contracts.end());
    return now;
}

}  // namespace accord
