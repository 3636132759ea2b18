// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/audit_decisions.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/decision_chain.hpp"
#include "store/decisions_db.hpp"
#include "store/journal.hpp"
#include "store/journal_lines.hpp"

namespace accord {
namespace {

ChainReport report_of(const std::string& chain, std::uint32_t controller, const DecisionChain& walk) {
    ChainReport report{chain, walk.records(), {}, {}, walk.fault(), {}};
    if (walk.last() == 0) return report;
    report.first = to_string(DecisionId{controller, walk.first()});
    report.last = to_string(DecisionId{controller, walk.last()});
    if (walk.first() != 1)
        report.notes.push_back(fmt::format("begins at {}: what was before is not here", report.first));
    return report;
}

/// Whether the journal's files hold a record of this hash.
bool journal_holds(const std::string& dir, std::uint32_t controller, const std::string& hash) {
    auto lines = JournalLines::open(dir, controller);
    JournalLine line;
    for (auto more = lines ? lines->next(line) : false; more && *more; more = lines->next(line))
        if (hash_in_line(line.text) == hash) return true;
    return false;
}

bool database_holds(const DecisionsDb& db, std::uint32_t controller, const std::string& hash) {
    bool found = false;
    const auto read = db.each(controller, [&](const LoadedDecision& loaded) {
        found = found || hash_in_line(loaded.line) == hash;
    });
    return read && found;
}

/// What a row says, by column; the job of a submission is learnt later and is in no line.
std::vector<std::pair<const char*, std::string>> columns_of(const DecisionRow& row) {
    const bool modification = row.kind == "modification";
    return {{"kind", row.kind}, {"time", row.time}, {"mode", row.mode}, {"user", row.user},
            {"uid", std::to_string(row.uid)}, {"account", row.account}, {"partition", row.partition},
            {"contract", row.contract}, {"contract_version", std::to_string(row.contract_version)},
            {"verdict", row.verdict}, {"class", row.cls}, {"reason", row.reason}, {"gpu_type", row.gpu_type},
            {"gpus_min", std::to_string(row.gpus_min)}, {"gpus_max", std::to_string(row.gpus_max)},
            {"job_id", modification && row.job_id ? std::to_string(*row.job_id) : ""}, {"message", row.message},
            {"prev_hash", row.prev_hash}, {"hash", row.hash}};
}

/// The first column in which a row is not what its line says; empty when it is.
std::string differing_column(const DecisionRow& row, const DecisionRow& line) {
    const auto found = columns_of(row), recorded = columns_of(line);
    for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i].second != recorded[i].second) return found[i].first;
    return {};
}

void check_row(DecisionChain& walk, const LoadedDecision& loaded, const JournalRecord& record) {
    const auto id = to_string(loaded.id);
    if (record.id != loaded.id) {
        walk.note(FaultKind::altered, id, fmt::format("{} holds the line of {}", id, to_string(record.id)));
    } else if (!loaded.row) {
        walk.note(FaultKind::missing, id, fmt::format("{} is not there to be queried: only its line is", id));
    } else if (const auto column = differing_column(*loaded.row, row_of(record)); !column.empty()) {
        walk.note(FaultKind::altered, id, fmt::format("{} has another \"{}\" than was recorded", id, column));
    }
}

/// Both chains are sound in themselves: whether they tell the same.
class Comparison {
public:
    Comparison(JournalLines lines, ChainReport& journal, ChainReport& database)
        : lines_(std::move(lines)), journal_(journal), database_(database) {}

    Result<void> start() {
        auto moved = advance();
        first_ = number_;
        return moved;
    }
    Result<void> take(const LoadedDecision& loaded) {
        while (more_ && number_ < loaded.id.number) {
            missing_from_database();
            if (auto moved = advance(); !moved) return moved;
        }
        const auto id = to_string(loaded.id);
        if (more_ && number_ == loaded.id.number) {
            if (line_.text != loaded.line)
                note(database_, FaultKind::altered, id,
                     fmt::format("{} is not what the journal says at {}", id, line_.place));
            return advance();
        }
        if (loaded.id.number < first_) return {};
        if (more_) note(database_, FaultKind::inserted, id, fmt::format("{} is not in the journal", id));
        else if (!journal_.last.empty())
            note(journal_, FaultKind::truncated, journal_.last,
                 fmt::format("the journal ends at {}, decisions.db holds {}", journal_.last, id));
        return {};
    }
    /// What is left is not loaded yet.
    Result<void> finish() {
        std::uint64_t waiting = 0;
        for (; more_; ++waiting)
            if (auto moved = advance(); !moved) return moved;
        if (waiting > 0) database_.notes.push_back(fmt::format("{} of the journal's records not loaded yet", waiting));
        return {};
    }

private:
    static void note(ChainReport& report, FaultKind kind, const std::string& record, const std::string& what) {
        if (!report.fault) report.fault = ChainFault{kind, record, what};
    }
    void missing_from_database() {
        const auto id = id_of_line(line_.text);
        note(database_, FaultKind::missing, id ? to_string(*id) : line_.place,
             fmt::format("{} is in the journal at {}, but not here", id ? to_string(*id) : "a record", line_.place));
    }
    Result<void> advance() {
        auto more = lines_.next(line_);
        if (!more) return tl::unexpected(more.error());
        more_ = *more;
        const auto id = more_ ? id_of_line(line_.text) : std::nullopt;
        number_ = id ? id->number : 0;
        return {};
    }

    JournalLines lines_;
    ChainReport& journal_;
    ChainReport& database_;
    JournalLine line_;
    bool more_ = false;
    std::uint64_t number_ = 0, first_ = 0;
};

}  // namespace

Result<ChainReport> verify_journal(const std::string& dir, std::uint32_t controller) {
    auto lines = JournalLines::open(dir, controller);
    if (!lines) return tl::unexpected(lines.error());
    DecisionChain walk(controller, [&](const std::string& hash) { return journal_holds(dir, controller, hash); });
    JournalLine line;
    auto more = lines->next(line);
    for (; more && *more; more = lines->next(line)) walk.take(line.text, line.place);
    if (!more) return tl::unexpected(more.error());
    auto report = report_of(fmt::format("journal-{}", controller), controller, walk);
    for (const auto& file : lines->torn()) report.notes.push_back(fmt::format("{} ends within a record", file));
    return report;
}

Result<ChainReport> verify_decisions_db(const DecisionsDb& db, std::uint32_t controller) {
    DecisionChain walk(controller, [&](const std::string& hash) { return database_holds(db, controller, hash); });
    const auto read = db.each(controller, [&](const LoadedDecision& loaded) {
        if (const auto record = walk.take(loaded.line, fmt::format("decisions.db:{}", to_string(loaded.id))))
            check_row(walk, loaded, *record);
    });
    if (!read) return tl::unexpected(read.error());
    const auto extra = db.rows_without_line(controller);
    if (!extra) return tl::unexpected(extra.error());
    for (const auto& id : *extra) walk.note(FaultKind::inserted, id, fmt::format("{} was put in: it has no line", id));
    return report_of(fmt::format("decisions-{}", controller), controller, walk);
}

Result<void> compare_decisions(const std::string& dir, const DecisionsDb& db, std::uint32_t controller,
                               ChainReport& journal, ChainReport& database) {
    auto lines = JournalLines::open(dir, controller);
    if (!lines) return tl::unexpected(lines.error());
    if (journal.records == 0 && database.records > 0)
        journal.notes.push_back("has no files: decisions.db is judged alone");
    Comparison comparison(std::move(*lines), journal, database);
    Result<void> state = comparison.start();
    const auto read = db.each(controller, [&](const LoadedDecision& loaded) {
        if (state) state = comparison.take(loaded);
    });
    if (!read) return read;
    return state ? comparison.finish() : state;
}

}  // namespace accord
