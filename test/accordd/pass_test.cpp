// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's passes over a model of slurmctld, with the real engine in the hooks and real stores between them.
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

#include "catch.hpp"
#include "model.hpp"

using namespace accord;
using namespace accord::test;

namespace {

std::vector<Contract> one(Gpus guaranteed, std::optional<Gpus> borrow_limit = {}) {
    return {contract_for("vision-lab", guaranteed, borrow_limit)};
}

/// One GPU-hour: four GPUs for a quarter of an hour.
std::vector<Contract> one_hour(OnExhausted on_exhausted) {
    auto contracts = one(4);
    contracts[0].budget = Budget{1, "month", on_exhausted, 100};
    return contracts;
}

Gpus guaranteed(const ContractClaims& claims) { return amount_of(claims.guaranteed, "a100"); }
Gpus borrowed(const ContractClaims& claims) { return amount_of(claims.borrowed, "a100"); }

}  // namespace

TEST_CASE("A pending borrowed job is promoted when headroom appears") {
    Model model(one(4));
    const auto first = model.submit(4), second = model.submit(4);
    CHECK(model.job(second).partition == "gpu-lend");
    model.follow();
    CHECK(model.job(second).partition == "gpu-lend");
    CHECK(model.updates == 0);

    model.end(first);
    model.follow();
    CHECK(model.job(second).partition == "gpu");
    CHECK(model.job(second).admin_comment == "accord:v1 decision=0-2");
    CHECK(guaranteed(model.counted()) == 4);
    CHECK(borrowed(model.counted()) == 0);
    const auto actions = model.actions();
    REQUIRE(actions.size() == 1);
    CHECK(actions[0].action == "promote");
    CHECK(actions[0].outcome == "done");
}

TEST_CASE("A queued job is released to borrowed or guaranteed as room appears, and never released by its owner") {
    Model model(one(4, 4));
    const auto first = model.submit(4), second = model.submit(4), third = model.submit(4), fourth = model.submit(4);
    CHECK(model.job(third).hold == Hold::user);
    CHECK_FALSE(model.user_change(third, PriorityChange::release));
    model.follow();
    CHECK(model.job(third).hold == Hold::admin);
    CHECK(model.ledger_file().queued == std::set<std::uint64_t>{3, 4});
    CHECK_FALSE(model.user_change(third, PriorityChange::release));

    model.start(second);
    model.end(first);
    model.follow();
    CHECK(model.job(third).hold == Hold::none);
    CHECK(model.job(third).partition == "gpu");
    model.end(second);
    model.follow();
    CHECK(model.job(fourth).hold == Hold::none);
    CHECK(model.job(fourth).partition == "gpu-lend");
    CHECK(guaranteed(model.counted()) == 4);
    CHECK(borrowed(model.counted()) == 4);
    CHECK(model.ledger_file().queued.empty());
}

TEST_CASE("A hold that the owner asks for while the job is queued is left when it is released") {
    Model model(one(4, 0));
    const auto first = model.submit(4), second = model.submit(4);
    model.follow();
    CHECK(model.job(second).hold == Hold::admin);
    CHECK(model.user_change(second, PriorityChange::hold));
    model.end(first);
    model.follow();
    CHECK(model.job(second).hold == Hold::user);
    CHECK(model.job(second).partition == "gpu");
    CHECK(guaranteed(model.counted()) == 4);
    CHECK(model.user_change(second, PriorityChange::release));
    model.follow();
    CHECK(model.job(second).hold == Hold::none);
}

TEST_CASE("A job that slurmctld refuses after the hook's yes frees its claim when settle has passed") {
    Model model(one(8));
    CHECK(model.submit(4, false) == 0);
    model.follow();
    CHECK(guaranteed(model.counted()) == 4);
    model.wait(10);
    model.pass();
    CHECK(guaranteed(model.counted()) == 4);
    model.wait(5);
    model.pass();
    CHECK(guaranteed(model.counted()) == 0);
    CHECK(model.ledger_file().resolved_through == 1);
}

TEST_CASE("Submissions while accordd is down keep their claims, and are settled when it is back") {
    Model model(one(8, 0));
    model.stop_accordd();
    std::vector<std::uint32_t> jobs;
    for (int i = 0; i < 4; ++i) jobs.push_back(model.submit(4));
    model.submit(2, false);
    model.end(jobs[0]);
    model.wait(3600);
    CHECK(guaranteed(model.counted()) == 8);
    model.restart_slurmctld();
    CHECK(guaranteed(model.counted()) == 8);

    model.start_accordd();
    model.follow();
    CHECK(guaranteed(model.counted()) == 8);
    CHECK(model.job(jobs[2]).partition == "gpu");
    CHECK(model.job(jobs[2]).hold == Hold::none);
    CHECK(model.job(jobs[3]).hold == Hold::admin);
    // The last decision is the release itself.
    CHECK(model.ledger_file().resolved_through >= 5);
    const auto db = DecisionsDb::open(model.dir() / "decisions.db", DecisionsDb::Open::read_only);
    REQUIRE(db);
    CHECK(db->last_number(0).value() == model.journal().back().id.number);
}

TEST_CASE("A promotion that a submission overtakes is stale, and the guarantee holds") {
    Model model(one(4));
    const auto first = model.submit(4), second = model.submit(4);
    model.follow();
    model.end(first);
    std::uint32_t between = 0;
    model.before_update = [&] {
        if (between == 0) between = model.submit(4);
    };
    model.follow();
    CHECK(between != 0);
    CHECK(model.job(between).partition == "gpu");
    CHECK(model.job(second).partition == "gpu-lend");
    CHECK(guaranteed(model.counted()) == 4);
    REQUIRE(model.actions().size() == 1);
    CHECK(model.actions()[0].outcome == "stale");
}

TEST_CASE("At no moment of a burst do the guaranteed claims on record exceed the guarantee") {
    Model model(one(8, 8));
    std::vector<std::uint32_t> jobs;
    int round = 0;
    model.before_update = [&] {
        if (jobs.size() < 300) jobs.push_back(model.submit(1 + round % 3));
    };
    for (; round < 60; ++round) {
        jobs.push_back(model.submit(1 + round % 4));
        if (round % 3 == 0 && jobs[static_cast<std::size_t>(round) / 3] != 0) {
            const auto ending = jobs[static_cast<std::size_t>(round) / 3];
            model.end(ending);
        }
        model.wait(1);
        model.pass();
        CHECK(guaranteed(model.counted()) <= 8);
        CHECK(borrowed(model.counted()) + guaranteed(model.counted()) <= 8 + 8 + 8);
    }
    CHECK(model.actions().size() > 5);
}

TEST_CASE("In observe mode, and without a prolog at allocation, nothing is promoted or released") {
    Model observing(one(4), "mode = \"observe\"");
    const auto first = observing.submit(4);
    observing.submit(4);
    observing.follow();
    observing.end(first);
    observing.follow();
    CHECK(observing.updates == 0);

    Model unscoped(one(4, 4));
    const auto held = unscoped.submit(4);
    unscoped.submit(4);
    const auto queued = unscoped.submit(4);
    unscoped.prolog_at_allocation = false;
    unscoped.wait(60);
    unscoped.follow();
    unscoped.end(held);
    unscoped.follow();
    CHECK(unscoped.job(queued).hold == Hold::admin);
    CHECK(unscoped.job(queued).partition == "gpu-lend");
    CHECK_THAT(unscoped.status(), Catch::Matchers::ContainsSubstring("PrologFlags"));
    unscoped.prolog_at_allocation = true;
    unscoped.wait(60);
    unscoped.follow();
    CHECK(unscoped.job(queued).hold == Hold::none);
}

TEST_CASE("While slurmctld does not answer all claims are kept") {
    Model model(one(8));
    model.submit(4);
    model.follow();
    model.down = true;
    model.wait(3600);
    model.follow();
    CHECK(guaranteed(model.counted()) == 4);
    CHECK_THAT(model.status(), Catch::Matchers::ContainsSubstring("does not answer"));
    model.down = false;
    model.follow();
    CHECK(guaranteed(model.counted()) == 4);
    CHECK_THAT(model.status(), !Catch::Matchers::ContainsSubstring("does not answer"));
}

TEST_CASE("A pass with nothing new leaves the ledger's file alone") {
    Model model(one(8));
    model.submit(4);
    model.follow();
    const auto before = std::filesystem::last_write_time(model.dir() / "ledger");
    std::filesystem::last_write_time(model.dir() / "ledger", before - std::chrono::hours(1));
    model.follow();
    CHECK(std::filesystem::last_write_time(model.dir() / "ledger") == before - std::chrono::hours(1));
}

TEST_CASE("Without ledger and journal the claims are those of the job list") {
    Model model(one(8));
    model.submit(4);
    model.follow();
    model.stop_accordd();
    for (const auto* file : {"ledger", "decisions.db", "usage.db"}) std::filesystem::remove(model.dir() / file);
    for (const auto& entry : std::filesystem::directory_iterator(model.dir() / "journal"))
        std::filesystem::resize_file(entry.path(), 0);
    model.start_accordd();
    model.follow();
    CHECK(amount_of(model.ledger_file().contracts.at("vision-lab/gpu").guaranteed, "a100") == 4);
}

TEST_CASE("A release that slurmctld refuses leaves the job queued, and is tried again later") {
    Model model(one(4, 0));
    const auto first = model.submit(4), second = model.submit(4);
    model.follow();
    model.end(first);
    model.refuses_after_hook = [] { return true; };
    model.follow();
    CHECK(model.job(second).hold == Hold::admin);
    CHECK(model.actions().back().outcome == "Requested partition configuration not available now");
    const auto tried = model.updates;
    model.follow();
    CHECK(model.updates == tried);
    CHECK(guaranteed(model.counted()) == 0);
    CHECK(model.ledger_file().queued == std::set<std::uint64_t>{2});

    model.stop_accordd();
    model.start_accordd();
    model.refuses_after_hook = nullptr;
    model.follow();
    CHECK(model.job(second).hold == Hold::none);
    CHECK(model.job(second).partition == "gpu");
}

TEST_CASE("A contract that grows has its borrowed jobs promoted at the next passes") {
    Model model(one(4));
    model.submit(4);
    const auto second = model.submit(4);
    model.follow();
    CHECK(model.job(second).partition == "gpu-lend");
    model.apply(one(8));
    model.follow();
    CHECK(model.job(second).partition == "gpu");
}

TEST_CASE("A running job keeps the class that it started with") {
    Model model(one(4));
    const auto first = model.submit(4), second = model.submit(4);
    model.start(second);
    model.follow();
    model.end(first);
    model.follow();
    CHECK(model.job(second).partition == "gpu-lend");
    CHECK(borrowed(model.counted()) == 4);
    CHECK(guaranteed(model.counted()) == 0);
}

TEST_CASE("A damaged ledger is made anew") {
    Model model(one(8));
    model.submit(4);
    model.follow();
    model.stop_accordd();
    write_text(model.dir() / "ledger", "no ledger");
    model.start_accordd();
    model.follow();
    CHECK(amount_of(model.ledger_file().contracts.at("vision-lab/gpu").guaranteed, "a100") == 4);
}

TEST_CASE("A throttle that its contract allows stays, and is counted") {
    Model model(one(8));
    const auto array = model.submit_array("0-7%2");
    model.follow();
    for (const std::int64_t throttle : {6, 8, 1}) {
        CHECK(model.set_throttle(array, throttle));
        model.follow();
        CHECK(model.job(array).array_limit == throttle);
        CHECK(guaranteed(model.counted()) == throttle);
    }
    CHECK(model.updates == 0);
}

TEST_CASE("A throttle is judged by the one on record after accordd and slurmctld have started again") {
    Model model(one(8));
    const auto array = model.submit_array("0-7%2");
    model.follow();
    CHECK(model.set_throttle(array, 4));
    model.stop_accordd();
    model.start_accordd();
    model.follow();
    model.restart_slurmctld();
    CHECK_FALSE(model.set_throttle(array, 9));
    model.follow();
    CHECK(model.job(array).array_limit == 4);
    CHECK(model.set_throttle(array, 8));
    model.follow();
    CHECK(guaranteed(model.counted()) == 8);
}

TEST_CASE("A throttle that its owner was refused is put back, raised or lifted") {
    Model model(one(8));
    const auto array = model.submit_array("0-7%2");
    model.follow();
    CHECK(guaranteed(model.counted()) == 2);
    for (const std::int64_t throttle : {9, 0}) {
        CHECK_FALSE(model.set_throttle(array, throttle));
        CHECK(model.job(array).array_limit.value_or(0) == throttle);
        model.follow();
        CHECK(model.job(array).array_limit == 2);
        CHECK(guaranteed(model.counted()) == 2);
    }
    CHECK(model.job(array).partition == "gpu");
    CHECK(model.job(array).admin_comment == "accord:v1 decision=0-1");
    const auto actions = model.actions();
    REQUIRE(actions.size() == 2);
    CHECK(actions[0].action == "throttle");
    CHECK(actions[0].job_id == array);
    CHECK(actions[0].reason == "immutable");
    CHECK(actions[0].outcome == "done");
    CHECK(model.updates == 2);
}

TEST_CASE("A throttle is put back although slurmctld calls the list unchanged") {
    Model model(one(8));
    const auto array = model.submit_array("0-7%2");
    model.follow();
    model.sees_no_change = true;
    CHECK_FALSE(model.set_throttle(array, 9));
    model.follow();
    CHECK(model.job(array).array_limit == 2);
    CHECK(model.updates == 1);
}

TEST_CASE("While a lowered throttle is not put back, what it will claim again is nobody else's") {
    Model model(one(4, 0));
    const auto array = model.submit_array("0-7%4");
    model.follow();
    std::uint32_t meanwhile = 0;
    model.before_update = [&] {
        if (meanwhile == 0) meanwhile = model.submit(2);
    };
    model.throttle(array, 1);
    model.follow();
    REQUIRE(meanwhile != 0);
    CHECK(model.job(meanwhile).hold != Hold::none);
    CHECK(model.job(array).array_limit == 4);
    model.follow();
    CHECK(guaranteed(model.counted()) == 4);
}

TEST_CASE("An operator's throttle stays, and is counted") {
    Model model(one(8));
    const auto array = model.submit_array("0-7%2");
    model.follow();
    CHECK(model.set_throttle(array, 5, true));
    model.follow();
    CHECK(model.job(array).array_limit == 5);
    CHECK(guaranteed(model.counted()) == 5);
    CHECK(model.updates == 0);
    CHECK_FALSE(model.set_throttle(array, 9));
    model.follow();
    CHECK(model.job(array).array_limit == 5);
    model.stop_accordd();
    CHECK(model.set_throttle(array, 0, true));
    model.start_accordd();
    model.follow();
    CHECK_FALSE(model.job(array).array_limit);
    CHECK(model.updates == 1);
}

TEST_CASE("An array is promoted by the throttle in force at that moment, which is its own from then on") {
    Model model(one(4));
    const auto first = model.submit(4);
    const auto array = model.submit_array("0-7%2");
    model.follow();
    CHECK(model.job(array).partition == "gpu-lend");
    model.before_update = [&] { CHECK(model.set_throttle(array, 1)); };
    model.end(first);
    model.follow();
    CHECK(model.job(array).partition == "gpu");
    model.before_update = {};
    CHECK(guaranteed(model.counted()) == 1);
    model.follow();
    CHECK(model.job(array).array_limit == 1);
    CHECK(guaranteed(model.counted()) == 1);
}

TEST_CASE("A throttle is put back while its job rests from a promotion that slurmctld refused") {
    Model model(one(4, 2));
    const auto first = model.submit(4);
    const auto array = model.submit_array("0-7%2");
    model.follow();
    model.refuses_after_hook = [] { return true; };
    model.end(first);
    model.follow();
    model.refuses_after_hook = {};
    CHECK_FALSE(model.set_throttle(array, 9));
    model.follow();
    CHECK(model.job(array).array_limit == 2);
    CHECK(model.job(array).partition == "gpu-lend");
    const auto actions = model.actions();
    REQUIRE(actions.size() == 2);
    CHECK(actions[0].action == "promote");
    CHECK(actions[1].action == "throttle");
    CHECK(actions[1].outcome == "done");
}

TEST_CASE("A budget that running jobs use up is known to the plugin within a pass, until its period ends", "[G07]") {
    Model model(one_hour(OnExhausted::reject), "timezone = \"UTC\"");
    model.start(model.submit(4));
    model.follow();
    model.wait(880);
    model.follow();
    CHECK(model.submit(1) != 0);
    model.wait(15);
    model.follow();
    CHECK(model.ledger_file().budgets.at("vision-lab/gpu").gpu_s >= 3600);
    CHECK(model.submit(1) == 0);
    CHECK(model.journal().back().decision.reason == Reason::budget_exhausted);
    CHECK(model.submit(0) != 0);

    model.stop_accordd();
    const auto end_s = model.ledger_file().budgets.at("vision-lab/gpu").period.end_s;
    CHECK(end_s == 1'780'272'000);
    model.wait(end_s - noon);
    CHECK(model.submit(1) != 0);
}

TEST_CASE("While a budget with borrow_only is used up nothing is promoted, and when the next period begins it is", "[G07]") {
    Model model(one_hour(OnExhausted::borrow_only), "timezone = \"UTC\"");
    const auto first = model.submit(4);
    model.start(first);
    model.follow();
    model.wait(900);
    model.follow();
    const auto second = model.submit(4);
    CHECK(model.journal().back().decision.reason == Reason::budget_exhausted);
    CHECK(model.job(second).partition == "gpu-lend");
    model.end(first);
    model.follow();
    CHECK(model.updates == 0);
    CHECK(guaranteed(model.counted()) == 0);

    model.wait(1'780'272'000 - noon);
    model.follow();
    CHECK(model.job(second).partition == "gpu");
    CHECK(model.ledger_file().budgets.at("vision-lab/gpu").gpu_s == 0);
}

TEST_CASE("A larger budget holds at once, and a restart of accordd changes nothing") {
    Model model(one_hour(OnExhausted::reject));
    model.start(model.submit(4));
    model.follow();
    model.wait(900);
    model.follow();
    CHECK(model.submit(1) == 0);
    model.stop_accordd();
    model.start_accordd();
    model.follow();
    CHECK(model.submit(1) == 0);
    auto larger = one_hour(OnExhausted::reject);
    larger[0].budget->gpu_hours = 2;
    model.apply(larger);
    model.follow();
    CHECK(model.submit(1) != 0);
    CHECK(model.ledger_file().budgets.at("vision-lab/gpu").gpu_s >= 3600);
}

TEST_CASE("Use that changes no answer is written once a minute") {
    Model model(one_hour(OnExhausted::reject));
    model.start(model.submit(1));
    model.follow();
    const auto metered = [&] { return model.ledger_file().metered_s; };
    const auto before = metered();
    model.wait(30);
    model.pass();
    CHECK(metered() == before);
    model.wait(30);
    model.pass();
    CHECK(metered() >= before + 60);
    CHECK(model.ledger_file().budgets.at("vision-lab/gpu").gpu_s >= 60);
}

TEST_CASE("Use that usage.db cannot keep is not in the ledger file either") {
    Model model(one_hour(OnExhausted::reject));
    const auto first = model.submit(4);
    model.start(first);
    model.follow();
    {
        SQLite::Database locked(model.dir() / "usage.db", SQLite::OPEN_READWRITE);
        locked.exec("CREATE TRIGGER full BEFORE INSERT ON job_interval BEGIN SELECT RAISE(ABORT, 'full'); END");
        model.wait(900);
        model.end(first);
        model.follow();
        CHECK(model.ledger_file().budgets.at("vision-lab/gpu").gpu_s < 100);
        locked.exec("DROP TRIGGER full");
    }
    model.follow();
    CHECK(model.ledger_file().budgets.at("vision-lab/gpu").gpu_s < 100);  // when it was last seen running
}

TEST_CASE("Pending jobs of a contract that has ended are held, and released when it is renewed", "[G03]") {
    auto contracts = one(8, 4);
    contracts[0].valid_until_s = noon + 100;
    Model model(contracts);
    const auto running = model.submit(4), pending = model.submit(4), lent = model.submit(2);
    model.start(running);
    model.follow();
    CHECK(guaranteed(model.counted()) == 8);
    model.wait(200);
    model.follow();
    for (const auto job : {pending, lent}) {
        CHECK(model.job(job).hold == Hold::admin);
        CHECK(model.job(job).partition == "gpu-lend");
        CHECK_FALSE(model.user_change(job, PriorityChange::release));
    }
    CHECK(model.job(running).state == JobState::running);
    CHECK(guaranteed(model.counted()) == 4);
    CHECK(borrowed(model.counted()) == 0);
    CHECK(model.submit(1) == 0);
    REQUIRE(model.actions().size() == 2);
    CHECK(model.actions()[0].action == "hold");
    CHECK(model.actions()[0].reason == "not_active");

    contracts[0].valid_until_s = noon + 1'000'000;
    model.apply(contracts);
    model.follow();
    CHECK(model.job(pending).hold == Hold::none);
    CHECK(model.job(pending).partition == "gpu");
    CHECK(model.job(lent).hold == Hold::none);
    CHECK(model.job(lent).partition == "gpu-lend");
}

TEST_CASE("A guarantee that shrinks lowers pending jobs to borrowed, and one that grows promotes them again") {
    Model model(one(8));
    const auto first = model.submit(4), second = model.submit(4);
    model.follow();
    model.apply(one(4));
    model.follow();
    CHECK(model.job(first).partition == "gpu");
    CHECK(model.job(second).partition == "gpu-lend");
    CHECK(model.job(second).hold == Hold::none);
    CHECK(model.job(second).site_factor == 99'000);
    CHECK(guaranteed(model.counted()) == 4);
    CHECK(borrowed(model.counted()) == 4);
    const auto actions = model.actions().size();
    model.follow();
    CHECK(model.actions().size() == actions);
    model.apply(one(8));
    model.follow();
    CHECK(model.job(second).partition == "gpu");
}

TEST_CASE("A queued array is released task by task, and a task that a submission overtakes waits for the next plan") {
    Model model(one(4, 0));
    const auto first = model.submit(3), array = model.submit_array("0-3");
    CHECK(model.job(array).hold == Hold::user);
    model.follow();
    CHECK(model.job(array).array->indices == "1,2,3");
    CHECK(model.job(array).hold != Hold::none);
    const auto task = array + 1;
    CHECK(model.job(task).array_task_id == 0);
    CHECK(model.job(task).partition == "gpu");
    CHECK(model.job(task).hold == Hold::none);
    CHECK(guaranteed(model.counted()) == 4);
    CHECK(model.ledger_file().queued == std::set<std::uint64_t>{2});

    std::uint32_t between = 0;
    model.end(first);
    model.before_update = [&] {
        if (between == 0) between = model.submit(3);
    };
    model.follow();
    CHECK(model.job(between).partition == "gpu");
    CHECK(guaranteed(model.counted()) == 4);
    CHECK(model.job(array).hold != Hold::none);
    model.end(between);
    for (int round = 0; round < 3; ++round) model.follow();
    CHECK(model.job(array).partition == "gpu");
    CHECK(guaranteed(model.counted()) == 4);
    CHECK(model.ledger_file().queued.empty());
}

TEST_CASE("A borrowed job that was preempted three times waits for guaranteed GPUs, also after a restart of accordd", "[B08]") {
    Model model({contract_for("vision-lab", 4), contract_for("speech", 8)});
    const auto own = model.submit(4), lent = model.submit(4);
    model.start(own);
    for (int times = 1; times <= 3; ++times) {
        model.start(lent);
        model.job(lent).nodes = {{0, 0}};
        model.follow();
        const auto owner = model.submit(4, true, "speech");
        model.preempt(lent, owner);
        model.follow();
        CHECK(model.job(lent).hold == (times < 3 ? Hold::none : Hold::admin));
        model.end(owner);
        model.follow();
    }
    model.stop_accordd();
    model.start_accordd();
    model.wait(1000);
    model.follow();
    CHECK(model.job(lent).hold == Hold::admin);
    CHECK(model.job(lent).partition == "gpu-lend");
    model.end(own);
    model.follow();
    CHECK(model.job(lent).hold == Hold::none);
    CHECK(model.job(lent).partition == "gpu");
}

TEST_CASE("A user's own requeues are no preemptions") {
    Model model(one(4));
    const auto own = model.submit(4), lent = model.submit(4);
    model.start(own);
    for (int times = 0; times < 5; ++times) {
        model.start(lent);
        model.job(lent).nodes = {{0, 0}};
        model.follow();
        model.job(lent).state = JobState::pending;
        ++model.job(lent).restarts;
        model.job(lent).allocated.clear();
        model.wait(100);
        model.follow();
    }
    CHECK(model.job(lent).hold == Hold::none);
    CHECK(model.actions().empty());
}

TEST_CASE("A released job that does not start gives way to one that could, and comes after it, also after a restart") {
    Model model(one(0, 4));
    const auto lent = model.submit(2), large = model.submit(4), small = model.submit(3);
    model.start(lent);
    model.follow();
    model.end(lent);
    model.follow();
    CHECK(model.job(large).hold == Hold::none);
    CHECK(model.job(small).hold == Hold::admin);
    model.wait(61);
    model.follow();
    CHECK(model.job(large).hold == Hold::admin);
    model.stop_accordd();
    model.start_accordd();
    model.follow();
    CHECK(model.job(large).hold == Hold::admin);
    CHECK(model.job(small).hold == Hold::none);
}
