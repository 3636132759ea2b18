// SPDX-License-Identifier: GPL-2.0-or-later
// Pending jobs that lose what they were given: R19, guarantees that shrink, jobs that come again.
#include "catch.hpp"
#include "policy/listing.hpp"

using namespace accord;
using namespace accord::test;

namespace {

/// A pending job that the plugin let in.
JobView& admitted(Listing& listing, std::uint32_t job_id, const std::string& partition, Gpus gpus) {
    const auto cls = partition == "gpu" ? JobClass::guaranteed : JobClass::borrowed;
    listing.facts[job_id] = {{0, job_id}, 0, cls, false};
    return listing.add(listed(job_id, partition, gpus));
}

void set_state(Listing& listing, ContractState state) { listing.world.contracts.front().state = state; }

}  // namespace

TEST_CASE("a contract that is suspended or expired has its pending jobs held, and released when it is in force again",
          "[G03]") {
    Listing listing;
    admitted(listing, 1, "gpu", 4);
    admitted(listing, 2, "gpu-lend", 4).hold = Hold::user;
    admitted(listing, 3, "gpu-lend", 0);
    admitted(listing, 4, "gpu-lend", 4).state = JobState::running;
    listing.queued(5, 9, 100);
    listing.queued(6, 9, 100, Hold::user);
    for (const auto state : {ContractState::suspended, ContractState::expired}) {
        set_state(listing, state);
        const auto actions = listing.planned();
        REQUIRE(told(actions) == "hold 1 to queued, hold 2 to queued, hold 3 to queued, hold 6 to queued");
        CHECK(actions[0].partition == "gpu-lend");
        CHECK(actions[0].from == JobClass::guaranteed);
        CHECK(actions[0].reason == Reason::not_active);
    }
    set_state(listing, ContractState::active);
    auto ended = *listing.world.contracts.front().contract;
    ended.valid_until_s = noon - 1;
    listing.world.contracts.front().contract = std::make_shared<const Contract>(ended);
    CHECK(listing.planned().size() == 4);

    ended.valid_until_s = noon;
    listing.world.contracts.front().contract = std::make_shared<const Contract>(ended);
    for (const std::uint32_t job_id : {1, 2, 3}) {
        auto& job = listing.jobs[job_id - 1];
        job.partition = "gpu-lend";
        job.hold = Hold::admin;
        listing.facts[job_id].cls = JobClass::queued;
    }
    listing.facts[2].user_wants_hold = true;
    const auto actions = listing.planned();
    CHECK(told(actions) == "release 1 to guaranteed, release 2 to guaranteed, release 3 to borrowed, "
                            "release 5 to borrowed, release 6 to borrowed");
    CHECK(actions[1].user_hold);
}

TEST_CASE("a job that depends on others is parked when its contract is suspended") {
    Listing listing;
    admitted(listing, 1, "gpu-lend", 4).dependent = true;
    set_state(listing, ContractState::suspended);
    const auto actions = listing.planned();
    REQUIRE(told(actions) == "hold 1 to queued");
    CHECK(actions[0].parks());
}

TEST_CASE("a revoked contract's pending jobs are held, then cancelled; what runs is not touched", "[G03]") {
    Listing listing;
    admitted(listing, 1, "gpu", 4);
    admitted(listing, 2, "gpu", 4).state = JobState::running;
    listing.queued(3, 4, 100);
    admitted(listing, 4, "gpu-lend", 1).type = WorkloadType::cron;
    admitted(listing, 5, "gpu", 4);
    listing.facts[5].cls = JobClass::exempt;
    set_state(listing, ContractState::revoked);
    const auto actions = listing.planned();
    REQUIRE(told(actions) == "hold 1 to queued, cancel 3 to queued, cancel 4 to queued");
    CHECK(actions[1].reason == Reason::not_active);
    set_state(listing, ContractState::suspended);
    CHECK(told(listing.planned()) == "hold 1 to queued");
}

TEST_CASE("other contracts' jobs are as they were when one is suspended") {
    Listing listing;
    listing.world.contracts.push_back(in_force(contract_for("speech", 8), {speech1}));
    set_state(listing, ContractState::suspended);
    admitted(listing, 1, "gpu", 4).account = "speech";
    admitted(listing, 2, "gpu", 4).account = "nobody";
    listing.queued(3, 4, 100).account = "speech";
    CHECK(told(listing.planned()) == "release 3 to guaranteed");
}

TEST_CASE("of a guarantee that shrank the pending tail is lowered to borrowed, by priority, then job id") {
    Listing listing(4);
    admitted(listing, 1, "gpu", 2).state = JobState::running;
    admitted(listing, 2, "gpu", 2).priority = 10;
    admitted(listing, 3, "gpu", 2).priority = 20;
    admitted(listing, 4, "gpu", 2).priority = 10;
    const auto actions = listing.planned();
    REQUIRE(told(actions) == "demote 4 to borrowed, demote 2 to borrowed");
    CHECK(actions[0].from == JobClass::guaranteed);
    CHECK(actions[0].partition == "gpu-lend");
    CHECK(actions[0].gpus == GpuVector{{"a100", 2}});
    CHECK(actions[0].site_factor == 99'000);
    CHECK(actions[0].reason == Reason::headroom);
}

TEST_CASE("what may not borrow goes from a guarantee that shrank to the queue, and back when it grows") {
    Listing listing(4, 1);
    admitted(listing, 1, "gpu", 4);
    admitted(listing, 2, "gpu", 1).requeueable = false;
    CHECK(told(listing.planned()) == "demote 2 to queued");
    listing.jobs[1].requeueable = true;
    CHECK(told(listing.planned()) == "demote 2 to borrowed");
    listing.jobs[1].gpus.tres_per_job = "gres:gpu:2";
    CHECK(told(listing.planned()) == "demote 2 to queued");
    listing.jobs[1].hold = Hold::admin;
    listing.jobs[1].partition = "gpu-lend";
    listing.facts[2].cls = JobClass::queued;
    CHECK(listing.planned().empty());
    listing.world.contracts = {in_force(contract_for("vision-lab", 6, 1), {vision1})};
    CHECK(told(listing.planned()) == "release 2 to guaranteed");
}

TEST_CASE("jobs that the plugin did not let in are counted, and stay where they are") {
    Listing listing(4);
    admitted(listing, 1, "gpu", 4);
    listing.facts[1].cls = JobClass::exempt;
    listing.add(listed(2, "gpu", 4));
    CHECK(listing.planned().empty());
}

TEST_CASE("nothing is taken back for an array that counts wider than it is to be") {
    Listing listing(4);
    auto array = listed(10, "gpu", 1);
    array.array_job_id = 10;
    array.array = parse_array("0-7%8");
    array.array_limit = 8;
    listing.add(array);
    listing.facts[10] = {{0, 10}, 0, JobClass::guaranteed, false, 2};
    admitted(listing, 1, "gpu", 2);
    CHECK(told(listing.planned()) == "throttle 10 to guaranteed");
}

TEST_CASE("a job that was requeued after its end goes back to the queue where its contract has no room left for it") {
    Listing listing(8, 4);
    auto again = listed(1, "gpu", 8);
    again.restarts = 1;
    listing.add(again);
    CHECK(listing.planned().empty());
    listing.add(listed(2, "gpu", 8)).state = JobState::running;
    const auto actions = listing.planned();
    REQUIRE(told(actions) == "demote 1 to queued");
    CHECK(actions[0].from == JobClass::guaranteed);
    CHECK(actions[0].partition == "gpu-lend");
    listing.jobs[0].state = JobState::running;
    CHECK(listing.planned().empty());

    listing.jobs[0] = again;
    listing.jobs[0].partition = "gpu-lend";
    CHECK(told(listing.planned()) == "demote 1 to queued");
    listing.jobs[0] = listed(1, "gpu-lend", 4);
    listing.jobs[0].restarts = 1;
    CHECK(listing.planned().empty());
    listing.jobs[0].restarts = 0;
    listing.add(listed(3, "gpu-lend", 4));
    CHECK(listing.planned().empty());
}

TEST_CASE("a budget that is used up lets no job start that was made pending again") {
    Listing listing;
    auto contract = contract_for("vision-lab", 8);
    contract.budget = Budget{1, "month", OnExhausted::reject, 100};
    listing.world.contracts = {in_force(contract, {vision1})};
    listing.budgets[vision] = {{noon - 1000, noon + 1000}, 3600, 0};
    admitted(listing, 1, "gpu", 4).restarts = 1;
    admitted(listing, 2, "gpu-lend", 4).restarts = 1;
    admitted(listing, 3, "gpu", 4);
    admitted(listing, 4, "gpu-lend", 0).restarts = 1;
    const auto actions = listing.planned();
    REQUIRE(told(actions) == "demote 1 to queued, demote 2 to queued");
    CHECK(actions[0].reason == Reason::budget_exhausted);

    contract.budget->on_exhausted = OnExhausted::borrow_only;
    listing.world.contracts = {in_force(contract, {vision1})};
    CHECK(told(listing.planned()) == "demote 1 to queued");
}

TEST_CASE("a promotion that is still counted in both classes sends no other job back") {
    Listing listing(8, 4);
    admitted(listing, 1, "gpu", 8).state = JobState::running;
    admitted(listing, 2, "gpu-lend", 4).restarts = 1;
    const auto governed = listing.governed();
    auto claims = claims_of(governed);
    add(claims[vision].borrowed, {{"a100", 4}});
    CHECK(plan(listing.world.policy(), listing.world.shape, governed, claims, {}, noon).empty());
}

TEST_CASE("a job at rest counts and is left alone") {
    Listing listing(4);
    admitted(listing, 1, "gpu", 4);
    admitted(listing, 2, "gpu", 4);
    auto governed = listing.governed();
    governed[1].at_rest = true;
    const auto actions = plan(listing.world.policy(), listing.world.shape, governed, claims_of(governed), {}, noon);
    CHECK(told(actions) == "demote 1 to borrowed");
}
