// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's pass: what the job list claims, and what is to be promoted, released and held.
#include "policy/plan.hpp"

#include "catch.hpp"
#include "policy/listing.hpp"

using namespace accord;
using namespace accord::test;

namespace {

Gpus a100(const GpuVector& gpus) { return amount_of(gpus, "a100"); }

JobView task(std::uint32_t job_id, std::uint32_t array_job_id, std::uint32_t index, const std::string& partition,
             Gpus gpus, JobState state) {
    auto job = listed(job_id, partition, gpus, state);
    job.array_job_id = array_job_id;
    job.array_task_id = index;
    return job;
}

JobView rest_of(std::uint32_t array_job_id, const char* indices, const std::string& partition, Gpus gpus) {
    auto job = listed(array_job_id, partition, gpus);
    job.array_job_id = array_job_id;
    job.array = parse_array(indices);
    return job;
}

}  // namespace

TEST_CASE("jobs count by their partition and by their own request") {
    Listing listing;
    listing.add(listed(1, "gpu", 4, JobState::running));
    listing.add(listed(2, "gpu-lend", 2, JobState::pending));
    listing.add(listed(3, "debug", 8, JobState::running));
    listing.add(listed(4, "gpu", 8, JobState::ended));
    listing.add(listed(5, "gpu", 1, JobState::completing));
    listing.add(listed(6, "gpu", 1, JobState::suspended)).account = "Vision-Lab";
    const auto claims = listing.claims();
    CHECK(a100(claims.guaranteed) == 6);
    CHECK(a100(claims.borrowed) == 2);
    CHECK(a100(claims.by_member.at(vision1)) == 8);
    CHECK(listing.governed().size() == 4);
}

TEST_CASE("a job that holds more than it asked for claims what it holds") {
    Listing listing;
    listing.add(listed(1, "gpu", 1, JobState::running)).allocated = {{"a100", 4}};
    listing.add(listed(2, "gpu", 4, JobState::running)).allocated = {{"a100", 2}};
    CHECK(a100(listing.claims().guaranteed) == 8);
}

TEST_CASE("jobs of accounts without a contract count for their account and partition") {
    Listing listing;
    listing.add(listed(1, "gpu", 4)).account = "nobody";
    CHECK(a100(listing.claims("nobody/gpu").guaranteed) == 4);
    CHECK(listing.planned().empty());
}

TEST_CASE("a held job of the lend partition is queued where the record or an administrator's hold says so") {
    Listing listing;
    const auto held = [&](std::uint32_t job_id, Hold hold) { listing.add(listed(job_id, "gpu-lend", 1)).hold = hold; };
    held(1, Hold::user);
    held(2, Hold::admin);
    held(3, Hold::user);
    held(4, Hold::admin);
    held(5, Hold::none);
    listing.facts[3] = {{0, 3}, 0, JobClass::queued, false};
    listing.facts[4] = {{0, 4}, 0, JobClass::borrowed, false};
    listing.facts[5] = {{0, 5}, 0, JobClass::queued, false};
    std::vector<JobClass> classes;
    for (const auto& governed : listing.governed()) classes.push_back(governed.cls);
    CHECK(classes == std::vector{JobClass::borrowed, JobClass::queued, JobClass::queued, JobClass::borrowed,
                                 JobClass::borrowed});
    CHECK(listing.claims().queued_jobs == 2);
    CHECK(a100(listing.claims().borrowed) == 3);
}

TEST_CASE("an array claims its throttle once, over its rest and its running tasks") {
    Listing listing(16);
    listing.add(rest_of(10, "4-9%3", "gpu", 2));
    CHECK(a100(listing.claims().guaranteed) == 6);
    listing.add(task(11, 10, 1, "gpu", 2, JobState::running));
    listing.add(task(12, 10, 2, "gpu", 2, JobState::running));
    CHECK(a100(listing.claims().guaranteed) == 6);
    listing.add(task(13, 10, 3, "gpu", 2, JobState::running));
    CHECK(a100(listing.claims().guaranteed) == 6);
    listing.add(task(14, 10, 0, "gpu", 2, JobState::pending));
    CHECK(a100(listing.claims().guaranteed) == 6);
}

TEST_CASE("running tasks beyond a lowered throttle still count") {
    Listing listing(16);
    listing.add(rest_of(10, "4-9%1", "gpu", 2));
    for (const std::uint32_t index : {1, 2, 3}) listing.add(task(10 + index, 10, index, "gpu", 2, JobState::running));
    CHECK(a100(listing.claims().guaranteed) == 6);
}

TEST_CASE("the last tasks of an array claim what is left of it") {
    Listing listing(16);
    listing.add(rest_of(10, "9%4", "gpu", 2));
    listing.add(task(11, 10, 8, "gpu", 2, JobState::running));
    CHECK(a100(listing.claims().guaranteed) == 4);
    listing.jobs.erase(listing.jobs.begin());
    CHECK(a100(listing.claims().guaranteed) == 2);
}

TEST_CASE("an array's tasks in the other class claim for themselves") {
    Listing listing(16);
    listing.add(rest_of(10, "4-9%3", "gpu-lend", 2));
    listing.add(task(11, 10, 1, "gpu", 2, JobState::running));
    listing.add(task(12, 10, 2, "gpu-lend", 2, JobState::running));
    CHECK(a100(listing.claims().guaranteed) == 2);
    CHECK(a100(listing.claims().borrowed) == 6);
}

TEST_CASE("a rest whose indices are not known claims what the pool holds") {
    Listing listing(16);
    listing.add(rest_of(10, "bad", "gpu", 2));
    CHECK(a100(listing.claims().guaranteed) == 16);
}

TEST_CASE("a pending borrowed job is promoted when headroom appears") {
    Listing listing;
    listing.add(listed(1, "gpu", 4, JobState::running));
    listing.add(listed(2, "gpu-lend", 4, JobState::running));
    listing.add(listed(3, "gpu-lend", 4));
    const auto actions = listing.planned();
    CHECK(told(actions) == "promote 3 to guaranteed");
    CHECK(actions.front().from == JobClass::borrowed);
    CHECK(actions.front().partition == "gpu");
    CHECK(actions.front().gpus == GpuVector{{"a100", 4}});
    CHECK(actions.front().site_factor == 100'000);
    CHECK(actions.front().contract == vision);
    listing.jobs.front().job_id = 9;
    listing.add(listed(4, "gpu", 4));
    CHECK(listing.planned().empty());
}

TEST_CASE("queued jobs are released as guaranteed, else as borrowed, by the time of their decision") {
    Listing listing(8, 4);
    listing.queued(1, 4, 300);
    listing.queued(2, 4, 100);
    listing.queued(3, 4, 200);
    listing.queued(4, 4, 400);
    const auto actions = listing.planned();
    CHECK(told(actions) == "release 2 to guaranteed, release 3 to guaranteed, release 1 to borrowed");
    CHECK(actions[2].partition == "gpu-lend");
    CHECK(actions[2].site_factor == 99'500);
    CHECK(actions[2].reason == Reason::borrow_limit);
}

TEST_CASE("no release brings a member beyond max_gpus_per_user") {
    Listing list;
    auto contract = contract_for("vision-lab", 8);
    contract.members.max_gpus_per_user = 5;
    list.world.contracts = {in_force(contract, {vision1})};
    list.queued(1, 4, 10);
    list.queued(2, 4, 20);
    list.queued(3, 1, 30);
    const auto actions = list.planned();
    REQUIRE(actions.size() == 2);
    CHECK(actions[0].job_id == 1);
    CHECK(actions[1].job_id == 3);
}

TEST_CASE("a smaller job overtakes a larger one that does not fit") {
    Listing listing(8, 0);
    listing.add(listed(1, "gpu", 6, JobState::running));
    listing.queued(2, 4, 100);
    listing.queued(3, 2, 200);
    CHECK(told(listing.planned()) == "release 3 to guaranteed");
}

TEST_CASE("jobs that were decided earlier are promoted before queued ones are released") {
    Listing listing(8, 4);
    listing.add(listed(1, "gpu-lend", 4)).submit_s = 100;
    listing.add(listed(2, "gpu", 4, JobState::running));
    listing.queued(3, 4, 200);
    CHECK(told(listing.planned()) == "promote 1 to guaranteed, release 3 to borrowed");
}

TEST_CASE("contracts with a higher priority class come first") {
    Listing listing(8, 0);
    listing.world.config.priority_classes = {{"high", 1000}};
    auto speech = contract_for("speech", 4, 0);
    speech.priority_class = "high";
    listing.world.contracts.push_back(in_force(speech, {speech1}));
    listing.queued(1, 4, 100);
    listing.queued(2, 4, 200).account = "speech";
    CHECK(told(listing.planned()) == "release 2 to guaranteed, release 1 to guaranteed");
}

TEST_CASE("a user's hold of a queued job becomes an administrator's") {
    Listing listing(8, 0);
    listing.add(listed(1, "gpu", 8, JobState::running));
    listing.queued(2, 4, 100, Hold::user);
    listing.queued(3, 4, 100, Hold::admin);
    const auto actions = listing.planned();
    CHECK(told(actions) == "hold 2 to queued");
    CHECK(actions.front().gpus.empty());
}

TEST_CASE("a released job stays held where its owner wished so") {
    Listing listing;
    listing.queued(1, 4, 100);
    listing.facts[1].user_wants_hold = true;
    listing.queued(2, 4, 200, Hold::user);
    const auto actions = listing.planned();
    CHECK(told(actions) == "release 1 to guaranteed, release 2 to guaranteed");
    CHECK(actions[0].user_hold);
    CHECK_FALSE(actions[1].user_hold);
}

TEST_CASE("a job that could not be requeued is released as guaranteed only") {
    Listing listing(4);
    listing.add(listed(1, "gpu", 4, JobState::running));
    listing.queued(2, 4, 100).requeueable = false;
    CHECK(listing.planned().empty());
    listing.jobs.front().state = JobState::ended;
    CHECK(told(listing.planned()) == "release 2 to guaranteed");
}

TEST_CASE("what has no room, no GPU, no eligibility or no contract in force stays as it is") {
    Listing listing;
    listing.add(listed(1, "gpu-lend", 0));
    listing.add(listed(2, "gpu-lend", 4)).dependent = true;
    listing.add(listed(3, "gpu-lend", 9));
    listing.add(listed(4, "gpu-lend", 4, JobState::running));
    listing.add(listed(5, "gpu-lend", 4));
    listing.facts[5] = {{0, 5}, 0, JobClass::exempt, false};
    CHECK(listing.planned().empty());

    Listing suspended;
    suspended.add(listed(1, "gpu-lend", 4));
    suspended.queued(2, 4, 100);
    CHECK(suspended.planned().size() == 2);
    suspended.world.contracts.front().state = ContractState::suspended;
    CHECK(told(suspended.planned()) == "hold 1 to queued");
}

TEST_CASE("nothing is done in observe mode, or for a pool that slurmctld does not have") {
    Listing listing;
    listing.add(listed(1, "gpu-lend", 4));
    CHECK(listing.planned().size() == 1);
    listing.world.config.mode = Mode::observe;
    CHECK(listing.planned().empty());
    listing.world.config.mode = Mode::enforce;
    listing.world.shape.partitions.clear();
    CHECK(listing.planned().empty());
}

TEST_CASE("an array's pending rest is promoted as one job") {
    Listing listing(6);
    listing.add(rest_of(10, "4-9%3", "gpu-lend", 2));
    CHECK(told(listing.planned()) == "promote 10 to guaranteed");
    CHECK(listing.planned().front().gpus == GpuVector{{"a100", 6}});
    listing.add(listed(1, "gpu", 5, JobState::running));
    CHECK(listing.planned().empty());
}

namespace {

/// An array of 10 with an own record: `indices` as slurmctld lists it, the throttle on record beside it.
JobView& add_array(Listing& listing, const char* indices, const std::string& partition, std::int64_t on_record) {
    auto& job = listing.add(rest_of(10, indices, partition, 1));
    job.array_limit = job.array->limit;
    listing.facts[10] = {{0, 10}, 0, JobClass::guaranteed, false, on_record};
    return job;
}

}  // namespace

TEST_CASE("an array counts with the wider of the throttle in force and the one on record") {
    const auto claimed = [](const char* indices, std::int64_t on_record) {
        Listing listing(16);
        add_array(listing, indices, "gpu", on_record);
        listing.add(task(11, 10, 9, "gpu", 1, JobState::running)).array_limit = listing.jobs.front().array_limit;
        listing.facts[11] = listing.facts[10];
        return a100(listing.claims().guaranteed);
    };
    CHECK(claimed("0-7%2", 2) == 2);
    CHECK(claimed("0-7%4", 2) == 4);
    CHECK(claimed("0-7%2", 4) == 4);
    CHECK(claimed("0-7", 2) == 9);
    CHECK(claimed("0-7%2", 0) == 9);
}

TEST_CASE("a throttle that is not the one on record is put back by one action for the array") {
    Listing listing(16);
    add_array(listing, "4-7%4", "gpu", 2);
    CHECK(told(listing.planned()) == "throttle 10 to guaranteed");
    for (const std::uint32_t index : {0, 1, 2}) {
        listing.add(task(11 + index, 10, index, index == 0 ? "gpu-lend" : "gpu", 1, JobState::running)).array_limit = 4;
        listing.facts[11 + index] = listing.facts[10];
    }
    const auto actions = listing.planned();
    CHECK(told(actions) == "throttle 10 to guaranteed");
    CHECK(actions[0].throttle == 2);
    CHECK(actions[0].from == JobClass::guaranteed);
    CHECK(actions[0].reason == Reason::immutable);
    CHECK(actions[0].gpus.empty());
    for (auto& job : listing.jobs) job.array_limit = 2;
    CHECK(listing.planned().empty());
    for (auto& [job, facts] : listing.facts) facts.throttle.reset();
    listing.jobs.back().array_limit = 4;
    CHECK(listing.planned().empty());
}

TEST_CASE("the throttle of an array of which single tasks are left is put back as well") {
    Listing listing(16);
    listing.add(task(11, 10, 1, "gpu", 1, JobState::running)).array_limit = 4;
    listing.facts[11] = {{0, 10}, 0, JobClass::guaranteed, false, 2};
    const auto actions = listing.planned();
    REQUIRE(told(actions) == "throttle 10 to guaranteed");
    CHECK(actions[0].throttle == 2);
}

TEST_CASE("an array is not promoted before its throttle is put back") {
    Listing listing(16);
    auto& array = add_array(listing, "0-7%4", "gpu-lend", 2);
    CHECK(told(listing.planned()) == "throttle 10 to borrowed");
    array.array_limit = array.array->limit = 2;
    CHECK(told(listing.planned()) == "promote 10 to guaranteed");
}

TEST_CASE("a throttle is put back for a contract out of force, and not in observe mode") {
    Listing listing(16);
    add_array(listing, "0-7%4", "gpu", 2);
    listing.world.contracts.front().state = ContractState::suspended;
    listing.world.shape.partitions.clear();
    CHECK(told(listing.planned()) == "throttle 10 to guaranteed");
    listing.world.config.mode = Mode::observe;
    CHECK(listing.planned().empty());
}
