// SPDX-License-Identifier: GPL-2.0-or-later
#include "roster.hpp"

#include "catch.hpp"
#include "policy/world.hpp"
#include "store/records.hpp"
#include "temp_dir.hpp"

using namespace accord;
using namespace accord::test;

namespace {

JobView carrying(std::uint32_t job_id, const DecisionId& decision) {
    auto job = listed(job_id, "gpu", 1);
    job.admin_comment = comment_of(decision);
    return job;
}

using Links = std::vector<std::pair<DecisionId, std::uint32_t>>;

}  // namespace

TEST_CASE("What the record says of a job is asked for once, and anew after a modification") {
    const TempDir dir;
    auto db = DecisionsDb::open(dir / "decisions.db", DecisionsDb::Open::read_write).value();
    Chain chain;
    const auto own = chain.add(a_submission());
    REQUIRE(db.load({own}));
    const auto job = carrying(17, own.id);
    Roster roster;
    roster.take({job, listed(18, "gpu", 1)});
    const auto known = [&] { return roster.facts_of(job, db).value().value().cls; };
    CHECK(known() == JobClass::guaranteed);
    CHECK_FALSE(roster.facts_of(listed(18, "gpu", 1), db).value());

    auto changed = a_modification(own.id, 17, new_year_s + 1);
    changed.cls = JobClass::borrowed;
    REQUIRE(db.load({chain.add(changed)}));
    roster.take({job});
    CHECK(known() == JobClass::guaranteed);
    roster.forget_facts(own.id);
    CHECK(known() == JobClass::borrowed);
}

TEST_CASE("A decision's job is to be linked when a list first shows it, an array by its own number") {
    Roster roster;
    auto task = carrying(20, {0, 2});
    task.array_job_id = 19, task.array_task_id = 0;
    roster.take({carrying(17, {0, 1}), task, listed(18, "gpu", 1)});
    CHECK(roster.unlinked() == Links{{{0, 1}, 17}, {{0, 2}, 19}});
    roster.linked();
    roster.take({carrying(17, {0, 1})});
    CHECK(roster.unlinked().empty());
    CHECK(roster.lists(17));
    CHECK_FALSE(roster.lists(20));
    CHECK(roster.decision_of(carrying(17, {})) == DecisionId{0, 1});
    // the same number, another job
    roster.take({carrying(17, {0, 3})});
    CHECK(roster.unlinked() == Links{{{0, 3}, 17}});
}
