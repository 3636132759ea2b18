// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/decisions_db.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "catch.hpp"
#include "store/records.hpp"
#include "temp_dir.hpp"

using namespace accord;

namespace {

DecisionsDb open_new(const std::string& path) {
    auto db = DecisionsDb::open(path, DecisionsDb::Open::read_write);
    REQUIRE(db);
    return std::move(*db);
}

std::vector<std::string> ids(const Result<std::vector<DecisionRow>>& rows) {
    REQUIRE(rows);
    std::vector<std::string> found;
    for (const auto& row : *rows) found.push_back(row.id);
    return found;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("the view decision has the columns that auditors rely on") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    auto decision = a_submission();
    decision.gpus = {{"a100", {1, 4}}, {"v100", {2, 2}}};
    const auto record = chain.add(decision);
    REQUIRE(store.load({record}));
    REQUIRE(store.link({{record.id, 17}}));

    SQLite::Database db(dir / "decisions.db");
    SQLite::Statement select(db, "SELECT * FROM decision");
    REQUIRE(select.executeStep());
    std::vector<std::pair<std::string, std::string>> columns;
    for (int i = 0; i < select.getColumnCount(); ++i)
        columns.emplace_back(select.getColumnName(i), select.getColumn(i).getString());
    CHECK(columns == std::vector<std::pair<std::string, std::string>>{
                         {"id", "0-1"}, {"kind", "submission"}, {"time", "2026-01-01T00:00:00Z"}, {"mode", "enforce"},
                         {"user", "vision1"}, {"uid", "1001"}, {"account", "vision"}, {"partition", "gpu"},
                         {"contract", "vision/gpu"}, {"contract_version", "1"}, {"verdict", "admitted"},
                         {"class", "guaranteed"}, {"reason", ""}, {"gpu_type", "a100,v100"}, {"gpus_min", "3"},
                         {"gpus_max", "6"}, {"job_id", "17"},
                         {"message", "accord: guaranteed: 2 a100 of vision/gpu"}, {"prev_hash", std::string(no_hash)},
                         {"hash", record.hash}});
    CHECK_FALSE(select.executeStep());
}

TEST_CASE("records are loaded once, however often they are given") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    const auto first = chain.add(a_submission()), second = chain.add(a_submission());
    CHECK(store.last_number(0).value() == 0);
    REQUIRE(store.load({first, second}));
    REQUIRE(store.load({first, second}));
    CHECK(store.last_number(0).value() == 2);
    CHECK(store.last_number(1).value() == 0);
    CHECK(ids(store.query({})) == Ids{"0-1", "0-2"});
}

TEST_CASE("a record whose hash is not its own is not loaded, nor any given with it") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    const auto good = chain.add(a_submission());
    auto bad = chain.add(a_submission());
    bad.decision.uid = 0;
    const auto loaded = store.load({good, bad});
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == "invalid");
    CHECK(store.last_number(0).value() == 0);
}

TEST_CASE("decisions and their jobs can neither be changed nor removed nor replaced") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    const auto record = chain.add(a_submission());
    REQUIRE(store.load({record}));
    REQUIRE(store.link({{record.id, 17}}));
    REQUIRE(store.link({{record.id, 18}}));

    SQLite::Database db(dir / "decisions.db", SQLite::OPEN_READWRITE);
    for (const auto* statement :
         {"UPDATE decision_record SET verdict = 'rejected'", "DELETE FROM decision_record",
          "UPDATE decision_line SET line = ''", "DELETE FROM decision_line", "UPDATE decision_job SET job_id = 1",
          "DELETE FROM decision_job"}) {
        INFO(statement);
        CHECK_THROWS_WITH(db.exec(statement), "decisions are append-only");
    }
    db.exec("INSERT OR REPLACE INTO decision_job (id, job_id) VALUES ('0-1', 99)");
    db.exec("INSERT OR REPLACE INTO decision_line (controller, number, id, line) VALUES (0, 1, '0-1', '')");
    db.exec("INSERT OR REPLACE INTO decision_record SELECT account, time, id, number, kind, mode, user, 0, partition, "
            "contract, contract_version, verdict, class, reason, gpu_type, gpus_min, gpus_max, message, job_decision, "
            "user_hold, prev_hash, hash, throttle FROM decision_record");
    CHECK(db.execAndGet("SELECT job_id FROM decision").getInt() == 17);
    CHECK(db.execAndGet("SELECT uid FROM decision").getInt() == 1001);
    CHECK_FALSE(db.execAndGet("SELECT line FROM decision_line").getString().empty());
}

TEST_CASE("decisions are found by account, partition, reason, time, job and id") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    auto rejected = a_submission(new_year_s + 60);
    rejected.account = "speech", rejected.verdict = Verdict::rejected, rejected.reason = Reason::not_member;
    auto elsewhere = a_submission(new_year_s + 120);
    elsewhere.partition = "big";
    std::vector<JournalRecord> records;
    records.push_back(chain.add(a_submission()));
    records.push_back(chain.add(rejected));
    records.push_back(chain.add(elsewhere));
    records.push_back(chain.add(a_modification({0, 1}, 17, new_year_s + 180)));
    REQUIRE(store.load(records));
    REQUIRE(store.link({{{0, 1}, 17}, {{0, 3}, 18}}));

    CHECK(ids(store.query({})) == Ids{"0-1", "0-2", "0-3", "0-4"});
    CHECK(ids(store.query({.account = "speech"})) == Ids{"0-2"});
    CHECK(ids(store.query({.partition = "gpu"})) == Ids{"0-1", "0-2", "0-4"});
    CHECK(ids(store.query({.reason = "not_member"})) == Ids{"0-2"});
    CHECK(ids(store.query({.since_s = new_year_s + 120})) == Ids{"0-3", "0-4"});
    CHECK(ids(store.query({.job_id = 17})) == Ids{"0-1", "0-4"});
    CHECK(ids(store.query({.id = DecisionId{0, 3}})) == Ids{"0-3"});
    CHECK(ids(store.query({.about = DecisionId{0, 1}})) == Ids{"0-1", "0-4"});
    CHECK(ids(store.query({.account = "vision", .since_s = new_year_s + 1, .job_id = 18})) == Ids{"0-3"});
    CHECK(ids(store.query({.account = "x' OR 1 --"})).empty());
}

TEST_CASE("decisions of one second come in the order of their numbers") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    std::vector<JournalRecord> records;
    for (int i = 0; i < 11; ++i) records.push_back(chain.add(a_submission()));
    REQUIRE(store.load(records));
    CHECK(ids(store.query({})) == Ids{"0-1", "0-2", "0-3", "0-4", "0-5", "0-6", "0-7", "0-8", "0-9", "0-10", "0-11"});
}

TEST_CASE("what is known of a job follows its modifications") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    auto queued = a_submission();
    queued.verdict = Verdict::queued, queued.cls = JobClass::queued, queued.user_hold = true;
    const auto own = chain.add(queued);
    REQUIRE(store.load({own}));
    REQUIRE(store.link({{own.id, 17}}));
    CHECK_FALSE(store.facts({0, 99}).value());

    auto facts = store.facts(own.id).value();
    REQUIRE(facts);
    CHECK(facts->decision == own.id);
    CHECK(facts->decided_s == new_year_s);
    CHECK(facts->cls == JobClass::queued);
    CHECK(facts->user_wants_hold);

    auto refused = a_modification(own.id, 17, new_year_s + 1);
    refused.verdict = Verdict::rejected, refused.cls.reset(), refused.reason = Reason::queued, refused.user_hold = false;
    REQUIRE(store.load({chain.add(refused)}));
    facts = store.facts(own.id).value();
    CHECK(facts->cls == JobClass::queued);
    CHECK_FALSE(facts->user_wants_hold);

    auto released = a_modification(own.id, 17, new_year_s + 2);
    released.cls = JobClass::borrowed;
    REQUIRE(store.load({chain.add(released)}));
    CHECK(store.facts(own.id).value()->cls == JobClass::borrowed);
    CHECK(store.facts(own.id).value()->decided_s == new_year_s);
}

TEST_CASE("a released array task does not release the rest of its array") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    auto queued = a_submission();
    queued.verdict = Verdict::queued, queued.cls = JobClass::queued;
    const auto own = chain.add(queued);
    auto released = a_modification(own.id, 20, new_year_s + 2);
    released.cls = JobClass::borrowed;
    REQUIRE(store.load({own, chain.add(released)}));
    REQUIRE(store.link({{own.id, 17}}));
    CHECK(store.facts(own.id, 20).value()->cls == JobClass::borrowed);
    CHECK(store.facts(own.id, 17).value()->cls == JobClass::queued);
    CHECK(store.facts(own.id, 21).value()->cls == JobClass::queued);
}

TEST_CASE("a job may take the most nodes that any decision about it let it take") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    const auto own = chain.add(a_submission(), 0, R"({"account":"vision","max_nodes":2})");
    REQUIRE(store.load({own, chain.add(a_submission())}));
    REQUIRE(store.link({{own.id, 17}}));
    CHECK(store.facts(own.id).value()->max_nodes == 2);
    CHECK_FALSE(store.facts({0, 2}).value()->max_nodes);

    const auto change_to = [&](std::int64_t nodes, Verdict verdict) {
        auto change = a_modification(own.id, 17, new_year_s + nodes);
        change.verdict = verdict;
        REQUIRE(store.load({chain.add(change, 0, fmt::format(R"({{"job":"17","new_ask":{{"max_nodes":{}}}}})", nodes))}));
        return store.facts(own.id, 17).value()->max_nodes;
    };
    CHECK(change_to(8, Verdict::rejected) == 2);
    CHECK(change_to(4, Verdict::admitted) == 4);
    CHECK(change_to(1, Verdict::admitted) == 4);
    CHECK_FALSE(change_to(0, Verdict::admitted));
}

TEST_CASE("an array has one throttle, the latest on record, for all of its records") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    auto array = a_submission();
    array.throttle = 2;
    const auto own = chain.add(array);
    auto refused = a_modification(own.id, 17, new_year_s + 1);
    refused.verdict = Verdict::rejected, refused.cls.reset(), refused.reason = Reason::immutable;
    REQUIRE(store.load({own, chain.add(a_submission()), chain.add(refused)}));
    REQUIRE(store.link({{own.id, 17}}));
    CHECK(store.facts(own.id).value()->throttle == 2);
    CHECK(store.facts(own.id, 20).value()->throttle == 2);
    CHECK_FALSE(store.facts({0, 2}).value()->throttle);

    auto changed = a_modification(own.id, 17, new_year_s + 2);
    changed.cls.reset(), changed.throttle = 0;
    REQUIRE(store.load({chain.add(changed), chain.add(a_modification(own.id, 20, new_year_s + 3))}));
    CHECK(store.facts(own.id, 17).value()->throttle == 0);
    CHECK(store.facts(own.id, 20).value()->throttle == 0);
}

TEST_CASE("a file of the first version is read as it is, and carried forward by who writes it") {
    const TempDir dir;
    const auto path = dir / "decisions.db";
    Chain chain;
    const auto old = chain.add(a_submission());
    REQUIRE(open_new(path).load({old}));
    {
        SQLite::Database db(path, SQLite::OPEN_READWRITE);
        db.exec("ALTER TABLE decision_record DROP COLUMN throttle");
        db.exec("PRAGMA user_version = 1");
    }
    {
        const auto reader = DecisionsDb::open(path, DecisionsDb::Open::read_only);
        REQUIRE(reader);
        CHECK(ids(reader->query({})) == Ids{"0-1"});
        CHECK_FALSE(reader->facts(old.id).value()->throttle);
    }
    auto store = open_new(path);
    auto array = a_submission();
    array.throttle = 2;
    const auto added = chain.add(array);
    REQUIRE(store.load({added}));
    CHECK_FALSE(store.facts(old.id).value()->throttle);
    CHECK(store.facts(added.id).value()->throttle == 2);
}

TEST_CASE("an administrator's lock delays a load and loses nothing", "[E06]") {
    const TempDir dir;
    auto store = open_new(dir / "decisions.db");
    Chain chain;
    const auto record = chain.add(a_submission());
    SQLite::Database reader(dir / "decisions.db", SQLite::OPEN_READONLY);
    SQLite::Statement open_read(reader, "SELECT * FROM decision");
    open_read.executeStep();
    REQUIRE(store.load({record}));
    CHECK(store.last_number(0).value() == 1);
}

TEST_CASE("by account and month a query reads one stretch of the file") {
    const TempDir dir;
    open_new(dir / "decisions.db");
    SQLite::Database db(dir / "decisions.db");
    const auto plan = [&](const std::string& query) {
        SQLite::Statement explain(db, "EXPLAIN QUERY PLAN " + query);
        std::string text;
        while (explain.executeStep()) text += explain.getColumn(3).getString() + "\n";
        return text;
    };
    CHECK(plan("SELECT verdict, sum(gpus_max) FROM decision WHERE account = 'vision' AND time >= "
               "'2026-03-01T00:00:00Z' AND time < '2026-04-01T00:00:00Z' GROUP BY verdict")
              .starts_with("SEARCH decision_record USING PRIMARY KEY (account=? AND time>? AND time<?)\n"));
    CHECK(plan("SELECT * FROM decision WHERE job_id = 17").starts_with("SEARCH decision_job USING"));
    CHECK(plan("SELECT * FROM decision WHERE id = '0-1'").starts_with("SEARCH decision_record USING"));
}
