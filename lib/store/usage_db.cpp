// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/usage_db.hpp"

#include <array>

#include <fmt/format.h>

#include "policy/utc.hpp"
#include "store/hash.hpp"
#include "store/json_text.hpp"
#include "store/sqlite.hpp"

namespace accord {
namespace {

constexpr const char* version_1 = R"sql(
CREATE TABLE action_record (
    id INTEGER PRIMARY KEY, time TEXT NOT NULL, job_id INTEGER NOT NULL, gpus INTEGER NOT NULL, contract TEXT NOT NULL,
    action TEXT NOT NULL, from_class TEXT NOT NULL, to_class TEXT NOT NULL, reason TEXT NOT NULL,
    beneficiary_job INTEGER, prev_hash TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX action_record_job ON action_record (job_id);
CREATE INDEX action_record_contract ON action_record (contract, time);

CREATE TABLE action_outcome (id INTEGER PRIMARY KEY, outcome TEXT NOT NULL);

CREATE TABLE job_interval (
    job_id INTEGER NOT NULL, restart INTEGER NOT NULL, start_s INTEGER NOT NULL, contract TEXT NOT NULL,
    uid INTEGER NOT NULL, class TEXT NOT NULL, end_s INTEGER, ended TEXT NOT NULL, beneficiary_job INTEGER,
    PRIMARY KEY (job_id, restart, start_s)) WITHOUT ROWID;
CREATE INDEX job_interval_open ON job_interval (job_id) WHERE end_s IS NULL;
CREATE INDEX job_interval_contract ON job_interval (contract, start_s);
CREATE TABLE job_interval_gpu (
    job_id INTEGER NOT NULL, restart INTEGER NOT NULL, start_s INTEGER NOT NULL, gpu_type TEXT NOT NULL,
    gpus INTEGER NOT NULL, PRIMARY KEY (job_id, restart, start_s, gpu_type)) WITHOUT ROWID;

CREATE TRIGGER action_record_insert BEFORE INSERT ON action_record
    WHEN EXISTS (SELECT 1 FROM action_record WHERE id = new.id) BEGIN SELECT RAISE(ABORT, 'actions are append-only'); END;
CREATE TRIGGER action_record_update BEFORE UPDATE ON action_record
    BEGIN SELECT RAISE(ABORT, 'actions are append-only'); END;
CREATE TRIGGER action_record_delete BEFORE DELETE ON action_record
    BEGIN SELECT RAISE(ABORT, 'actions are append-only'); END;
CREATE TRIGGER action_outcome_insert BEFORE INSERT ON action_outcome
    WHEN EXISTS (SELECT 1 FROM action_outcome WHERE id = new.id) BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER action_outcome_update BEFORE UPDATE ON action_outcome
    BEGIN SELECT RAISE(ABORT, 'actions are append-only'); END;
CREATE TRIGGER action_outcome_delete BEFORE DELETE ON action_outcome
    BEGIN SELECT RAISE(ABORT, 'actions are append-only'); END;

CREATE VIEW action AS SELECT
    id, time, job_id, gpus, contract, action, from_class, to_class, reason, beneficiary_job, prev_hash, hash
    FROM action_record;
CREATE VIEW usage_interval AS SELECT
    job_id, restart, contract, uid, class, coalesce(gpu_type, '') AS gpu_type, coalesce(gpus, 0) AS gpus,
    strftime('%Y-%m-%dT%H:%M:%SZ', start_s, 'unixepoch') AS start_time,
    strftime('%Y-%m-%dT%H:%M:%SZ', end_s, 'unixepoch') AS end_time, ended, beneficiary_job
    FROM job_interval LEFT JOIN job_interval_gpu USING (job_id, restart, start_s);
)sql";
constexpr std::array migrations{version_1};
constexpr DbSchema schema{migrations, true};

std::string class_text(const std::optional<JobClass>& cls) { return cls ? to_string(*cls) : ""; }

std::optional<std::uint32_t> optional_job(const SQLite::Column& column) {
    return column.isNull() ? std::nullopt : std::optional(column.getUInt());
}

ActionRecord read_action(SQLite::Statement& from) {
    ActionRecord record;
    record.id = static_cast<std::uint64_t>(from.getColumn(0).getInt64());
    record.time_s = utc_from(from.getColumn(1).getString()).value_or(0);
    record.job_id = static_cast<std::uint32_t>(from.getColumn(2).getInt64());
    record.gpus = from.getColumn(3).getInt64();
    record.contract = from.getColumn(4).getString();
    record.action = from.getColumn(5).getString();
    record.from_class = job_class_from(from.getColumn(6).getString());
    record.to_class = job_class_from(from.getColumn(7).getString());
    record.reason = from.getColumn(8).getString();
    record.beneficiary_job = optional_job(from.getColumn(9));
    record.prev_hash = from.getColumn(10).getString();
    record.hash = from.getColumn(11).getString();
    record.outcome = from.getColumn(12).getString();
    return record;
}

std::vector<ActionRecord> read_actions(SQLite::Database& db, const std::string& rest) {
    SQLite::Statement select(db, "SELECT id, time, job_id, gpus, contract, action, from_class, to_class, reason, "
                                 "beneficiary_job, prev_hash, hash, coalesce(outcome, '') FROM action_record LEFT JOIN "
                                 "action_outcome USING (id)" + rest);
    std::vector<ActionRecord> records;
    while (select.executeStep()) records.push_back(read_action(select));
    return records;
}

void insert_action(SQLite::Database& db, const ActionRecord& record) {
    SQLite::Statement insert(db, "INSERT INTO action_record (id, time, job_id, gpus, contract, action, from_class, "
                                 "to_class, reason, beneficiary_job, prev_hash, hash) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    run(insert, record.id, utc_text(record.time_s), record.job_id, record.gpus, record.contract, record.action,
        class_text(record.from_class), class_text(record.to_class), record.reason, record.beneficiary_job,
        record.prev_hash, record.hash);
}

/// Sets the place in the chain: number and hash of the one before.
void chain_on(SQLite::Database& db, ActionRecord& record) {
    SQLite::Statement last(db, "SELECT id, hash FROM action_record ORDER BY id DESC LIMIT 1");
    const bool first = !last.executeStep();
    record.id = first ? 1 : static_cast<std::uint64_t>(last.getColumn(0).getInt64()) + 1;
    record.prev_hash = first ? std::string(no_hash) : last.getColumn(1).getString();
    record.hash = hash_of(record);
}

/// The statements that write an interval and its GPUs, prepared once per call.
class IntervalWriter {
public:
    explicit IntervalWriter(SQLite::Database& db)
        : interval_(db, "INSERT OR REPLACE INTO job_interval (job_id, restart, start_s, contract, uid, class, end_s, "
                        "ended, beneficiary_job) VALUES (?,?,?,?,?,?,?,?,?)"),
          no_gpu_(db, "DELETE FROM job_interval_gpu WHERE job_id = ? AND restart = ? AND start_s = ?"),
          gpu_(db, "INSERT INTO job_interval_gpu (job_id, restart, start_s, gpu_type, gpus) VALUES (?,?,?,?,?)") {}

    void put(const UsageInterval& interval) {
        run(interval_, interval.job_id, interval.restart, interval.start_s, interval.contract, interval.uid,
            std::string(to_string(interval.cls)), interval.end_s, interval.ended, interval.beneficiary_job);
        run(no_gpu_, interval.job_id, interval.restart, interval.start_s);
        for (const auto& [type, count] : interval.gpus)
            run(gpu_, interval.job_id, interval.restart, interval.start_s, type, count);
    }

private:
    SQLite::Statement interval_, no_gpu_, gpu_;
};

/// Rows come one per GPU type, those of an interval one after the other.
std::vector<UsageInterval> read_intervals(SQLite::Database& db, const std::string& where) {
    SQLite::Statement select(db, "SELECT job_id, restart, start_s, contract, uid, class, end_s, ended, beneficiary_job, "
                                 "gpu_type, gpus FROM job_interval LEFT JOIN job_interval_gpu USING (job_id, restart, "
                                 "start_s)" + where + " ORDER BY start_s, job_id, restart, gpu_type");
    std::vector<UsageInterval> intervals;
    while (select.executeStep()) {
        UsageInterval next;
        next.job_id = static_cast<std::uint32_t>(select.getColumn(0).getInt64());
        next.restart = static_cast<std::uint32_t>(select.getColumn(1).getInt64());
        next.start_s = select.getColumn(2).getInt64();
        const bool same = !intervals.empty() && intervals.back().job_id == next.job_id &&
                          intervals.back().restart == next.restart && intervals.back().start_s == next.start_s;
        if (!same) {
            next.contract = select.getColumn(3).getString();
            next.uid = static_cast<std::uint32_t>(select.getColumn(4).getInt64());
            next.cls = job_class_from(select.getColumn(5).getString()).value_or(JobClass::borrowed);
            if (!select.isColumnNull(6)) next.end_s = select.getColumn(6).getInt64();
            next.ended = select.getColumn(7).getString();
            next.beneficiary_job = optional_job(select.getColumn(8));
            intervals.push_back(std::move(next));
        }
        if (!select.isColumnNull(9))
            intervals.back().gpus[select.getColumn(9).getString()] = select.getColumn(10).getInt64();
    }
    return intervals;
}

}  // namespace

struct UsageDb::State {
    std::string path;
    SQLite::Database db;
};

UsageDb::UsageDb(std::unique_ptr<State> state) : state_(std::move(state)) {}
UsageDb::UsageDb(UsageDb&&) noexcept = default;
UsageDb& UsageDb::operator=(UsageDb&&) noexcept = default;
UsageDb::~UsageDb() = default;

std::string hash_of(const ActionRecord& record) {
    fmt::memory_buffer text;
    JsonObject object(text);
    object.value("v", 1);
    object.value("id", record.id);
    object.string("time", utc_text(record.time_s));
    object.value("job_id", record.job_id);
    object.value("gpus", record.gpus);
    object.string("contract", record.contract);
    object.string("action", record.action);
    object.string("from_class", class_text(record.from_class));
    object.string("to_class", class_text(record.to_class));
    object.string("reason", record.reason);
    if (record.beneficiary_job) object.value("beneficiary_job", *record.beneficiary_job);
    object.string("prev_hash", record.prev_hash);
    object.end();
    return blake2b_hex({text.data(), text.size()});
}

Result<UsageDb> UsageDb::open(const std::string& path, Open how) {
    auto db = open_database(path, how == Open::read_write ? DbOpen::read_write : DbOpen::read_only, schema);
    if (!db) return tl::unexpected(db.error());
    return UsageDb(std::unique_ptr<State>(new State{path, std::move(*db)}));
}

Result<std::uint64_t> UsageDb::begin_action(const Action& action, std::int64_t now_s) {
    ActionRecord record;
    record.time_s = now_s;
    record.job_id = action.job_id;
    record.gpus = total(action.gpus);
    record.contract = action.contract;
    record.action = to_string(action.kind);
    record.from_class = action.from;
    record.to_class = action.to;
    record.reason = action.reason == Reason::none ? "" : to_string(action.reason);
    const auto done = in_transaction(state_->db, state_->path, [&]() -> Result<void> {
        chain_on(state_->db, record);
        insert_action(state_->db, record);
        return {};
    });
    if (!done) return tl::unexpected(done.error());
    return record.id;
}

Result<void> UsageDb::set_outcome(std::uint64_t action, const std::string& outcome) {
    return in_transaction(state_->db, state_->path, [&]() -> Result<void> {
        SQLite::Statement insert(state_->db, "INSERT INTO action_outcome (id, outcome) VALUES (?, ?)");
        run(insert, action, outcome);
        return {};
    });
}

Result<std::vector<ActionRecord>> UsageDb::actions(std::optional<std::uint32_t> job_id) const {
    return database_guard(state_->path, [&]() -> Result<std::vector<ActionRecord>> {
        return read_actions(state_->db, (job_id ? fmt::format(" WHERE job_id = {}", *job_id) : "") + " ORDER BY id");
    });
}

Result<std::optional<ActionRecord>> UsageDb::last_action() const {
    return database_guard(state_->path, [&]() -> Result<std::optional<ActionRecord>> {
        auto found = read_actions(state_->db, " ORDER BY id DESC LIMIT 1");
        return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
    });
}

Result<void> UsageDb::put_intervals(const std::vector<UsageInterval>& intervals) {
    if (intervals.empty()) return {};
    return in_transaction(state_->db, state_->path, [&]() -> Result<void> {
        IntervalWriter writer(state_->db);
        for (const auto& interval : intervals) writer.put(interval);
        return {};
    });
}

Result<std::vector<UsageInterval>> UsageDb::intervals(std::optional<std::uint32_t> job_id) const {
    return database_guard(state_->path, [&]() -> Result<std::vector<UsageInterval>> {
        return read_intervals(state_->db, job_id ? fmt::format(" WHERE job_id = {}", *job_id) : std::string());
    });
}

Result<std::vector<UsageInterval>> UsageDb::open_intervals() const {
    return database_guard(state_->path, [&]() -> Result<std::vector<UsageInterval>> {
        return read_intervals(state_->db, " WHERE end_s IS NULL");
    });
}

Result<std::int64_t> UsageDb::gpu_seconds(const std::string& contract, const Period& period, Stretches which) const {
    return database_guard(state_->path, [&]() -> Result<std::int64_t> {
        SQLite::Statement sum(state_->db, R"sql(
            WITH stretch AS (
                SELECT job_id, restart, start_s, coalesce(end_s, ?3) AS end_s,
                    max(coalesce(end_s, ?3)) OVER (PARTITION BY job_id ORDER BY start_s, restart
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS counted_to_s
                FROM job_interval WHERE contract = ?1 AND start_s < ?3 AND (end_s > ?2 OR end_s IS NULL AND ?4))
            SELECT coalesce(sum(max(0, min(end_s, ?3) - max(start_s, ?2, coalesce(counted_to_s, ?2))) * gpus), 0)
            FROM stretch JOIN job_interval_gpu USING (job_id, restart, start_s))sql");
        bind_all(sum, contract, period.start_s, period.end_s, which == Stretches::all ? 1 : 0);
        sum.executeStep();
        return sum.getColumn(0).getInt64();
    });
}

}  // namespace accord
