// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/decisions_db.hpp"

#include <array>

#include <fmt/format.h>

#include "policy/utc.hpp"
#include "store/sqlite.hpp"

namespace accord {
namespace {

// Rows lie in the order of account and time, so that what an auditor asks for is one stretch of the file; the journal's
// lines, which only verification reads, lie apart. A BEFORE INSERT trigger keeps REPLACE from being an UPDATE by another
// name.
constexpr const char* version_1 = R"sql(
CREATE TABLE decision_record (
    account TEXT NOT NULL, time TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL,
    kind TEXT NOT NULL, mode TEXT NOT NULL, user TEXT NOT NULL, uid INTEGER NOT NULL, partition TEXT NOT NULL,
    contract TEXT NOT NULL, contract_version INTEGER NOT NULL, verdict TEXT NOT NULL, class TEXT NOT NULL,
    reason TEXT NOT NULL, gpu_type TEXT NOT NULL, gpus_min INTEGER NOT NULL, gpus_max INTEGER NOT NULL,
    message TEXT NOT NULL, job_decision TEXT, user_hold INTEGER, prev_hash TEXT NOT NULL, hash TEXT NOT NULL,
    PRIMARY KEY (account, time, id)) WITHOUT ROWID;
CREATE UNIQUE INDEX decision_record_id ON decision_record (id);
CREATE INDEX decision_record_time ON decision_record (time);
CREATE INDEX decision_record_job_decision ON decision_record (job_decision) WHERE job_decision IS NOT NULL;

CREATE TABLE decision_line (
    controller INTEGER NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, line TEXT NOT NULL,
    PRIMARY KEY (controller, number));

CREATE TABLE decision_job (id TEXT NOT NULL PRIMARY KEY, job_id INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX decision_job_job ON decision_job (job_id);

CREATE TRIGGER decision_record_insert BEFORE INSERT ON decision_record
    WHEN EXISTS (SELECT 1 FROM decision_record WHERE id = new.id) BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER decision_record_update BEFORE UPDATE ON decision_record
    BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decision_record_delete BEFORE DELETE ON decision_record
    BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decision_line_insert BEFORE INSERT ON decision_line
    WHEN EXISTS (SELECT 1 FROM decision_line WHERE controller = new.controller AND number = new.number)
    BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER decision_line_update BEFORE UPDATE ON decision_line
    BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decision_line_delete BEFORE DELETE ON decision_line
    BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decision_job_insert BEFORE INSERT ON decision_job
    WHEN EXISTS (SELECT 1 FROM decision_job WHERE id = new.id) BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER decision_job_update BEFORE UPDATE ON decision_job
    BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decision_job_delete BEFORE DELETE ON decision_job
    BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;

CREATE VIEW decision AS SELECT
    id, kind, time, mode, user, uid, account, partition, contract, contract_version, verdict, class, reason, gpu_type,
    gpus_min, gpus_max, decision_job.job_id AS job_id, message, prev_hash, hash
    FROM decision_record LEFT JOIN decision_job USING (id);
)sql";
/// Of the rows that are there already no throttle is known.
constexpr const char* version_2 = "ALTER TABLE decision_record ADD COLUMN throttle INTEGER";
constexpr std::array migrations{version_1, version_2};
constexpr DbSchema schema{migrations, true};

constexpr const char* row_columns =
    "id, kind, time, mode, user, uid, account, partition, contract, contract_version, verdict, class, reason, gpu_type, "
    "gpus_min, gpus_max, job_id, message, prev_hash, hash";

DecisionRow read_row(SQLite::Statement& from, int at = 0) {
    const auto text = [&](int column) { return from.getColumn(at + column).getString(); };
    const auto number = [&](int column) { return from.getColumn(at + column).getInt64(); };
    DecisionRow row;
    row.id = text(0), row.kind = text(1), row.time = text(2), row.mode = text(3), row.user = text(4), row.uid = number(5);
    row.account = text(6), row.partition = text(7), row.contract = text(8), row.contract_version = number(9);
    row.verdict = text(10), row.cls = text(11), row.reason = text(12), row.gpu_type = text(13);
    row.gpus_min = number(14), row.gpus_max = number(15);
    if (!from.isColumnNull(at + 16)) row.job_id = static_cast<std::uint32_t>(number(16));
    row.message = text(17), row.prev_hash = text(18), row.hash = text(19);
    return row;
}

/// The WHERE clause of a query and what its question marks stand for.
struct Filter {
    std::string where;
    std::vector<std::string> texts;
    std::optional<std::uint32_t> job_id;

    void equal(const char* column, const std::optional<std::string>& value) {
        if (value) add(fmt::format("{} = ?", column), {*value});
    }
    void add(const std::string& condition, std::initializer_list<std::string> values) {
        where += (where.empty() ? " WHERE " : " AND ") + condition;
        texts.insert(texts.end(), values);
    }
};

Filter filter_of(const DecisionQuery& query) {
    Filter filter;
    filter.equal("account", query.account);
    filter.equal("partition", query.partition);
    filter.equal("reason", query.reason);
    if (query.since_s) filter.add("time >= ?", {utc_text(*query.since_s)});
    if (query.id) filter.add("id = ?", {to_string(*query.id)});
    if (query.about) {
        const auto id = to_string(*query.about);
        filter.add("id IN (SELECT id FROM decision_record WHERE id = ? OR job_decision = ?)", {id, id});
    }
    if (query.job_id) filter.add(fmt::format("job_id = {}", *query.job_id), {});
    return filter;
}

}  // namespace

/// A file of version 1 that is only read has no throttles yet.
std::string throttle_column(SQLite::Database& db) {
    return db.execAndGet("PRAGMA user_version").getInt() < 2 ? "NULL" : "throttle";
}

/// A number that a row's line has among its inputs, or NULL.
std::string input_of_row(std::string_view name) {
    return fmt::format("(SELECT json_extract(line, '$.inputs.{}') FROM decision_line WHERE controller = CAST("
                       "decision_record.id AS INTEGER) AND decision_line.number = decision_record.number)",
                       name);
}

struct DecisionsDb::State {
    std::string path;
    SQLite::Database db;
    SQLite::Statement submission{db, fmt::format("SELECT class, user_hold, {}, job_id, reason, unixepoch(time), {} "
                                                 "FROM decision_record LEFT JOIN decision_job USING (id) WHERE id = ?",
                                                 throttle_column(db), input_of_row("max_nodes"))};
    SQLite::Statement modifications{db, fmt::format("SELECT class, user_hold, {}, job_id, reason, unixepoch(time), {}, verdict FROM "
                                                    "decision_record JOIN decision_job USING (id) WHERE "
                                                    "job_decision = ? ORDER BY time, number",
                                                    throttle_column(db), input_of_row("new_ask.max_nodes"))};

    std::optional<JobFacts> at_submission(const DecisionId& decision);
    void follow_modifications(JobFacts& facts, std::optional<std::uint32_t> job_id);
};

namespace {

/// Takes over what a decision's row says, in its columns `class`, `user_hold` and, from the fifth, `reason` and the time.
void take_over(JobFacts& facts, SQLite::Statement& row) {
    if (const auto known = job_class_from(row.getColumn(0).getString()))
        facts.classify(*known, reason_from(row.getColumn(4).getString()).value_or(Reason::none), row.getColumn(5).getInt64());
    if (!row.isColumnNull(1)) facts.user_wants_hold = row.getColumn(1).getInt() != 0;
}

/// An array has one throttle, whichever of its records a row is about; in the row's third column.
void take_over_throttle(JobFacts& facts, SQLite::Statement& row) {
    if (!row.isColumnNull(2)) facts.throttle = row.getColumn(2).getInt64();
}

/// Slurm may have refused the change, so that the widest limit holds; in the row's last columns, the verdict behind it.
void take_over_nodes(JobFacts& facts, SQLite::Statement& row) {
    if (!facts.max_nodes || row.isColumnNull(6) || row.getColumn(7).getString() == to_string(Verdict::rejected)) return;
    const auto limit = row.getColumn(6).getInt64();
    facts.max_nodes = limit == 0 ? std::nullopt : std::optional(std::max<std::int64_t>(*facts.max_nodes, limit));
}

}  // namespace

std::optional<JobFacts> DecisionsDb::State::at_submission(const DecisionId& decision) {
    submission.reset();
    bind_all(submission, to_string(decision));
    if (!submission.executeStep()) return {};
    JobFacts facts{decision, submission.getColumn(5).getInt64()};
    take_over(facts, submission);
    take_over_throttle(facts, submission);
    if (!submission.isColumnNull(6)) facts.max_nodes = submission.getColumn(6).getInt64();
    return facts;
}

void DecisionsDb::State::follow_modifications(JobFacts& facts, std::optional<std::uint32_t> job_id) {
    const std::uint32_t array = submission.getColumn(3).getUInt();  // 0 for NULL: not linked yet
    JobFacts of_task = facts;
    bool task_has_own = false;
    modifications.reset();
    bind_all(modifications, to_string(facts.decision));
    while (modifications.executeStep()) {
        take_over_throttle(facts, modifications);
        take_over_nodes(facts, modifications);
        const auto named = modifications.getColumn(3).getUInt();
        if (job_id && named == *job_id) {
            task_has_own = true;
            take_over(of_task, modifications);
        }
        if (!job_id || array == 0 || named == array) take_over(facts, modifications);
    }
    modifications.reset();
    submission.reset();
    of_task.throttle = facts.throttle;
    of_task.max_nodes = facts.max_nodes;
    if (task_has_own) facts = of_task;
}

DecisionsDb::DecisionsDb(std::unique_ptr<State> state) : state_(std::move(state)) {}
DecisionsDb::DecisionsDb(DecisionsDb&&) noexcept = default;
DecisionsDb& DecisionsDb::operator=(DecisionsDb&&) noexcept = default;
DecisionsDb::~DecisionsDb() = default;

Result<DecisionsDb> DecisionsDb::open(const std::string& path, Open how) {
    auto db = open_database(path, how == Open::read_write ? DbOpen::read_write : DbOpen::read_only, schema);
    if (!db) return tl::unexpected(db.error());
    return database_guard(path, [&]() -> Result<DecisionsDb> {
        return DecisionsDb(std::unique_ptr<State>(new State{path, std::move(*db)}));
    });
}

DecisionRow row_of(const JournalRecord& record) {
    const auto& decision = record.decision;
    DecisionRow row;
    row.id = to_string(record.id);
    row.kind = to_string(decision.kind);
    row.time = utc_text(decision.time_s);
    row.mode = to_string(decision.mode);
    row.user = decision.user;
    row.uid = decision.uid;
    row.account = decision.account;
    row.partition = decision.partition;
    row.contract = decision.contract;
    row.contract_version = decision.contract_version;
    row.verdict = to_string(decision.verdict);
    if (decision.cls) row.cls = to_string(*decision.cls);
    if (decision.reason != Reason::none) row.reason = to_string(decision.reason);
    for (const auto& [type, interval] : decision.gpus) {
        if (!row.gpu_type.empty()) row.gpu_type += ",";
        row.gpu_type += type;
        row.gpus_min += interval.min;
        row.gpus_max += interval.max;
    }
    row.job_id = decision.job_id;
    row.message = decision.message;
    row.prev_hash = record.prev_hash;
    row.hash = record.hash;
    return row;
}

Result<std::uint64_t> DecisionsDb::last_number(std::uint32_t controller) const {
    return database_guard(state_->path, [&]() -> Result<std::uint64_t> {
        SQLite::Statement last(state_->db, "SELECT max(number) FROM decision_line WHERE controller = ?");
        bind_all(last, controller);
        last.executeStep();
        return last.isColumnNull(0) ? 0 : static_cast<std::uint64_t>(last.getColumn(0).getInt64());
    });
}

namespace {

/// The three inserts that make a decision, prepared once per load.
class Loader {
public:
    explicit Loader(SQLite::Database& db)
        : line_(db, "INSERT INTO decision_line (controller, number, id, line) VALUES (?, ?, ?, ?)"),
          record_(db, "INSERT INTO decision_record (account, time, id, number, kind, mode, user, uid, partition, contract, "
                      "contract_version, verdict, class, reason, gpu_type, gpus_min, gpus_max, message, job_decision, "
                      "user_hold, prev_hash, hash, throttle) VALUES "
                      "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
          job_(db, "INSERT INTO decision_job (id, job_id) VALUES (?, ?)") {}

    void add(const JournalRecord& record, const std::string& line) {
        const auto row = row_of(record);
        const auto& decision = record.decision;
        std::optional<std::string> job_decision;
        if (decision.job_decision) job_decision = to_string(*decision.job_decision);
        run(line_, record.id.controller, record.id.number, row.id, line);
        run(record_, row.account, row.time, row.id, record.id.number, row.kind, row.mode, row.user, row.uid, row.partition,
            row.contract, row.contract_version, row.verdict, row.cls, row.reason, row.gpu_type, row.gpus_min,
            row.gpus_max, row.message, job_decision, decision.user_hold, row.prev_hash, row.hash, decision.throttle);
        if (row.job_id) link(row.id, *row.job_id);
    }
    void link(const std::string& id, std::uint32_t job_id) { run(job_, id, job_id); }

private:
    SQLite::Statement line_, record_, job_;
};

}  // namespace

Result<void> DecisionsDb::load(const std::vector<JournalRecord>& records) {
    if (records.empty()) return {};
    return in_transaction(state_->db, state_->path, [&]() -> Result<void> {
        Loader loader(state_->db);
        for (const auto& record : records) {
            auto copy = record;
            const auto line = encode(copy);
            if (copy.hash != record.hash)
                return fail("invalid", fmt::format("decision {}: cannot load: its line's hash is {}, it says {}",
                                                   to_string(record.id), copy.hash, record.hash));
            loader.add(record, line);
        }
        return {};
    });
}

Result<void> DecisionsDb::link(const std::vector<std::pair<DecisionId, std::uint32_t>>& jobs) {
    if (jobs.empty()) return {};
    return in_transaction(state_->db, state_->path, [&]() -> Result<void> {
        Loader loader(state_->db);
        for (const auto& [decision, job_id] : jobs) loader.link(to_string(decision), job_id);
        return {};
    });
}

Result<std::optional<JobFacts>> DecisionsDb::facts(const DecisionId& decision, std::optional<std::uint32_t> job_id) const {
    return database_guard(state_->path, [&]() -> Result<std::optional<JobFacts>> {
        auto facts = state_->at_submission(decision);
        if (facts) state_->follow_modifications(*facts, job_id);
        return facts;
    });
}

Result<std::vector<DecisionRow>> DecisionsDb::query(const DecisionQuery& query) const {
    return database_guard(state_->path, [&]() -> Result<std::vector<DecisionRow>> {
        const auto filter = filter_of(query);
        SQLite::Statement select(state_->db,
                                 fmt::format("SELECT {} FROM decision{} ORDER BY time, length(id), id", row_columns,
                                             filter.where));
        for (std::size_t i = 0; i < filter.texts.size(); ++i) select.bind(int(i) + 1, filter.texts[i]);
        std::vector<DecisionRow> rows;
        while (select.executeStep()) rows.push_back(read_row(select));
        return rows;
    });
}

Result<std::vector<std::uint32_t>> DecisionsDb::controllers() const {
    return database_guard(state_->path, [&]() -> Result<std::vector<std::uint32_t>> {
        SQLite::Statement select(state_->db, "SELECT DISTINCT controller FROM decision_line ORDER BY controller");
        std::vector<std::uint32_t> found;
        while (select.executeStep()) found.push_back(select.getColumn(0).getUInt());
        return found;
    });
}

Result<std::vector<std::string>> DecisionsDb::rows_without_line(std::uint32_t controller) const {
    return database_guard(state_->path, [&]() -> Result<std::vector<std::string>> {
        // an id as an integer is what stands before its dash
        SQLite::Statement select(state_->db, "SELECT id FROM decision_record AS row WHERE CAST(id AS INTEGER) = ? AND NOT "
                                             "EXISTS (SELECT 1 FROM decision_line AS line WHERE line.controller = "
                                             "CAST(row.id AS INTEGER) AND line.number = row.number AND line.id = row.id) "
                                             "ORDER BY number");
        bind_all(select, controller);
        std::vector<std::string> found;
        while (select.executeStep()) found.push_back(select.getColumn(0).getString());
        return found;
    });
}

Result<void> DecisionsDb::each(std::uint32_t controller,
                               const std::function<void(const LoadedDecision&)>& use) const {
    return database_guard(state_->path, [&]() -> Result<void> {
        SQLite::Statement select(state_->db, fmt::format("SELECT number, line, decision.id IS NOT NULL, decision.{} "
                                                         "FROM decision_line LEFT JOIN decision ON decision.id = "
                                                         "decision_line.id WHERE controller = ? ORDER BY number",
                                                         row_columns));
        bind_all(select, controller);
        while (select.executeStep()) {
            LoadedDecision loaded{{controller, static_cast<std::uint64_t>(select.getColumn(0).getInt64())},
                                  select.getColumn(1).getString(), {}};
            if (select.getColumn(2).getInt() != 0) loaded.row = read_row(select, 3);
            use(loaded);
        }
        return {};
    });
}

}  // namespace accord
