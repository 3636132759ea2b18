// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/usage_db.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include "catch.hpp"
#include "store/hash.hpp"
#include "temp_dir.hpp"

using namespace accord;

namespace {

constexpr std::int64_t new_year_s = 1767225600;

UsageDb open_new(const std::string& path) {
    auto db = UsageDb::open(path, UsageDb::Open::read_write);
    REQUIRE(db);
    return std::move(*db);
}

Action a_promotion(std::uint32_t job_id) {
    Action action;
    action.kind = ActionKind::promote;
    action.job_id = job_id;
    action.contract = "vision/gpu";
    action.from = JobClass::borrowed;
    action.to = JobClass::guaranteed;
    action.gpus = {{"a100", 2}, {"v100", 1}};
    return action;
}

UsageInterval an_interval(std::uint32_t job_id, std::int64_t start_s) {
    UsageInterval interval;
    interval.job_id = job_id;
    interval.contract = "vision/gpu";
    interval.uid = 1001;
    interval.cls = JobClass::borrowed;
    interval.gpus = {{"a100", 2}};
    interval.start_s = start_s;
    return interval;
}

}  // namespace

TEST_CASE("actions are numbered, chained and keep their first outcome") {
    const TempDir dir;
    auto store = open_new(dir / "usage.db");
    CHECK(store.begin_action(a_promotion(17), new_year_s).value() == 1);
    CHECK(store.begin_action(a_promotion(18), new_year_s + 1).value() == 2);
    REQUIRE(store.set_outcome(1, "done"));
    REQUIRE(store.set_outcome(1, "stale"));

    const auto actions = store.actions().value();
    REQUIRE(actions.size() == 2);
    CHECK(actions[0].time_s == new_year_s);
    CHECK(actions[0].job_id == 17);
    CHECK(actions[0].gpus == 3);
    CHECK(actions[0].contract == "vision/gpu");
    CHECK(actions[0].action == "promote");
    CHECK(actions[0].from_class == JobClass::borrowed);
    CHECK(actions[0].to_class == JobClass::guaranteed);
    CHECK(actions[0].reason == "headroom");
    CHECK(actions[0].outcome == "done");
    CHECK(actions[1].outcome.empty());
    CHECK(actions[0].prev_hash == no_hash);
    CHECK(actions[1].prev_hash == actions[0].hash);
    for (const auto& action : actions) CHECK(hash_of(action) == action.hash);

    const auto of_job = store.actions(18).value();
    REQUIRE(of_job.size() == 1);
    CHECK(of_job[0].id == 2);
}

TEST_CASE("actions and outcomes can neither be changed nor removed nor replaced") {
    const TempDir dir;
    auto store = open_new(dir / "usage.db");
    REQUIRE(store.begin_action(a_promotion(17), new_year_s));
    REQUIRE(store.set_outcome(1, "done"));
    SQLite::Database db(dir / "usage.db", SQLite::OPEN_READWRITE);
    for (const auto* statement :
         {"UPDATE action_record SET gpus = 0", "DELETE FROM action_record", "UPDATE action_outcome SET outcome = ''",
          "DELETE FROM action_outcome",
          "INSERT OR REPLACE INTO action_record SELECT id, time, job_id, 0, contract, action, from_class, to_class, "
          "reason, beneficiary_job, prev_hash, hash FROM action_record"}) {
        INFO(statement);
        CHECK_THROWS_WITH(db.exec(statement), "actions are append-only");
    }
    db.exec("INSERT OR REPLACE INTO action_outcome (id, outcome) VALUES (1, 'stale')");
    CHECK(store.actions().value()[0].outcome == "done");
}

TEST_CASE("the view action has the columns that auditors rely on") {
    const TempDir dir;
    auto store = open_new(dir / "usage.db");
    REQUIRE(store.begin_action(a_promotion(17), new_year_s));
    SQLite::Database db(dir / "usage.db");
    SQLite::Statement select(db, "SELECT * FROM action");
    std::vector<std::string> names;
    for (int i = 0; i < select.getColumnCount(); ++i) names.emplace_back(select.getColumnName(i));
    CHECK(names == std::vector<std::string>{"id", "time", "job_id", "gpus", "contract", "action", "from_class",
                                            "to_class", "reason", "beneficiary_job", "prev_hash", "hash"});
    REQUIRE(select.executeStep());
    CHECK(select.getColumn(1).getString() == "2026-01-01T00:00:00Z");
    CHECK(select.isColumnNull(9));
}

TEST_CASE("an interval is extended by its job, restart and start") {
    const TempDir dir;
    auto store = open_new(dir / "usage.db");
    auto first = an_interval(17, new_year_s);
    first.gpus["v100"] = 1;
    REQUIRE(store.put_intervals({first, an_interval(18, new_year_s + 5)}));
    CHECK(store.open_intervals().value().size() == 2);

    first.end_s = new_year_s + 60;
    first.ended = "preempted";
    first.beneficiary_job = 19;
    auto again = an_interval(17, new_year_s + 90);
    again.restart = 1;
    REQUIRE(store.put_intervals({first, again}));

    const auto of_job = store.intervals(17).value();
    REQUIRE(of_job.size() == 2);
    CHECK(of_job[0].end_s == new_year_s + 60);
    CHECK(of_job[0].ended == "preempted");
    CHECK(of_job[0].beneficiary_job == 19);
    CHECK(of_job[0].gpus == GpuVector{{"a100", 2}, {"v100", 1}});
    CHECK(of_job[0].uid == 1001);
    CHECK(of_job[0].cls == JobClass::borrowed);
    CHECK(of_job[1].restart == 1);
    CHECK_FALSE(of_job[1].end_s);

    const auto open = store.open_intervals().value();
    REQUIRE(open.size() == 2);
    CHECK(open[0].job_id == 18);
    CHECK(open[1].job_id == 17);
}

TEST_CASE("the view usage_interval has one row per GPU type, and one for a job without GPUs") {
    const TempDir dir;
    auto store = open_new(dir / "usage.db");
    auto two_types = an_interval(17, new_year_s), none = an_interval(18, new_year_s);
    two_types.gpus["v100"] = 1;
    two_types.end_s = new_year_s + 60;
    none.gpus.clear();
    REQUIRE(store.put_intervals({two_types, none}));
    SQLite::Database db(dir / "usage.db");
    SQLite::Statement select(db, "SELECT job_id || ' ' || gpu_type || ' ' || gpus || ' ' || start_time || ' ' || "
                                 "coalesce(end_time, '-') FROM usage_interval ORDER BY job_id, gpu_type");
    std::vector<std::string> rows;
    while (select.executeStep()) rows.push_back(select.getColumn(0).getString());
    CHECK(rows == std::vector<std::string>{"17 a100 2 2026-01-01T00:00:00Z 2026-01-01T00:01:00Z",
                                           "17 v100 1 2026-01-01T00:00:00Z 2026-01-01T00:01:00Z",
                                           "18  0 2026-01-01T00:00:00Z -"});
}

TEST_CASE("a contract's GPU-seconds are its stretches within the period, each second of a job once") {
    const TempDir dir;
    auto store = open_new(dir / "usage.db");
    const Period period{new_year_s, new_year_s + 1000};
    const auto put = [&](std::uint32_t job_id, std::int64_t start_s, std::optional<std::int64_t> end_s,
                         const GpuVector& gpus, std::uint32_t restart = 0, const std::string& contract = "vision/gpu") {
        auto interval = an_interval(job_id, new_year_s + start_s);
        interval.contract = contract;
        interval.restart = restart;
        interval.gpus = gpus;
        if (end_s) interval.end_s = new_year_s + *end_s;
        REQUIRE(store.put_intervals({interval}));
    };
    const auto seconds = [&](UsageDb::Stretches which = UsageDb::Stretches::ended) {
        return store.gpu_seconds("vision/gpu", period, which).value();
    };
    CHECK(seconds() == 0);
    put(1, 100, 200, {{"a100", 2}, {"v100", 1}});
    CHECK(seconds() == 300);
    put(2, -50, 50, {{"a100", 1}});
    put(3, 950, 1050, {{"a100", 1}});
    CHECK(seconds() == 400);
    put(4, -100, 0, {{"a100", 4}});
    put(5, 1000, 1100, {{"a100", 4}});
    put(6, 10, 20, {});
    put(7, 10, 20, {{"a100", 4}}, 0, "speech/gpu");
    CHECK(seconds() == 400);

    put(8, 900, {}, {{"a100", 1}});
    CHECK(seconds() == 400);
    CHECK(seconds(UsageDb::Stretches::all) == 500);

    put(9, 300, 400, {{"a100", 1}});
    put(9, 350, 450, {{"a100", 2}}, 1);
    put(9, 360, 370, {{"a100", 4}}, 2);
    CHECK(seconds() == 400 + 100 + 2 * 50);
}
