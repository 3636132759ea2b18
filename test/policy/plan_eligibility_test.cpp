// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's pass over jobs that were not eligible when they came (R5), and over those that start together (R7).
#include "catch.hpp"
#include "policy/listing.hpp"

using namespace accord;
using namespace accord::test;

namespace {

/// Let into the lend partition before its time.
JobView& early(Listing& listing, std::uint32_t job_id, Gpus gpus) {
    auto& facts = listing.facts[job_id] = {{0, job_id}, 0, JobClass::borrowed, false};
    facts.not_eligible = true;
    return listing.add(listed(job_id, "gpu-lend", gpus));
}

/// A component of the heterogeneous job 100, as it was submitted.
JobView& component(Listing& listing, std::uint32_t job_id, Gpus gpus) {
    auto& job = listing.queued(job_id, gpus, 0);
    listing.facts[job_id].not_eligible = true;
    job.het_job_id = 100;
    job.type = WorkloadType::het;
    return job;
}

}  // namespace

TEST_CASE("a job that was let in before its time claims nothing until that has come") {
    Listing listing;
    early(listing, 1, 4).dependent = true;
    early(listing, 2, 4).begin_s = noon + 1;
    early(listing, 3, 4).hold = Hold::user;
    CHECK(listing.claims() == ContractClaims{});
    CHECK(listing.planned().empty());

    listing.jobs[0].dependent = false;
    listing.jobs[1].begin_s = noon;
    listing.jobs[2].hold = Hold::none;
    CHECK(amount_of(listing.claims().borrowed, "a100") == 12);
    CHECK(told(listing.planned()) == "promote 1 to guaranteed, promote 2 to guaranteed");
}

TEST_CASE("a job that was eligible keeps its claim when its user holds it, or it waits after a requeue") {
    Listing listing;
    listing.add(listed(1, "gpu-lend", 4)).hold = Hold::user;
    listing.facts[1] = {{0, 1}, 0, JobClass::borrowed, false};
    listing.add(listed(2, "gpu-lend", 4)).begin_s = noon + 120;
    listing.facts[2] = {{0, 2}, 0, JobClass::borrowed, false};
    CHECK(amount_of(listing.claims().borrowed, "a100") == 8);
}

TEST_CASE("a job that is queued is released once it is eligible") {
    Listing listing;
    listing.queued(1, 4, 0).dependent = true;
    listing.queued(2, 4, 0).begin_s = noon + 1;
    listing.queued(3, 4, 0);
    listing.facts[3].not_eligible = listing.facts[3].user_wants_hold = true;
    CHECK(told(listing.planned()) == "park 1 to queued");
    listing.jobs[0].dependent = false;
    listing.jobs[1].begin_s = noon;
    CHECK(told(listing.planned()) == "release 1 to guaranteed, release 2 to guaranteed");
    listing.facts[3].user_wants_hold = false;
    CHECK(listing.planned().size() == 3);
}

TEST_CASE("a queued job that depends on another is parked instead of held, unless its own user holds it") {
    Listing listing;
    listing.queued(1, 4, 0, Hold::user).dependent = true;
    listing.queued(2, 4, 0, Hold::admin).dependent = true;
    listing.queued(3, 4, 0, Hold::user).dependent = true;
    listing.facts[3].user_wants_hold = true;
    listing.queued(4, 4, 0, Hold::user).begin_s = noon + 60;
    const auto actions = listing.planned();
    CHECK(told(actions) == "park 1 to queued, park 2 to queued, hold 3 to queued, hold 4 to queued");
    CHECK(actions[0].begin_s == parking_s);
    CHECK_FALSE(actions[2].begin_s);
}

TEST_CASE("a parked job is queued, and gets its own begin time back when it is released") {
    Listing listing;
    auto& job = listing.queued(1, 4, 0, Hold::none);
    job.begin_s = parked(noon + 60);
    job.dependent = true;
    CHECK(listing.claims().queued_jobs == 1);
    CHECK(listing.planned().empty());
    job.dependent = false;
    CHECK(listing.planned().empty());
    job.begin_s = parked(noon - 60);
    CHECK(told(listing.planned()) == "release 1 to guaranteed");
    CHECK(listing.planned().front().begin_s == noon);
    listing.facts.clear();
    CHECK(told(listing.planned()) == "release 1 to guaranteed");
}

TEST_CASE("a scrontab job is left as it is") {
    Listing listing;
    listing.add(listed(1, "gpu-lend", 4)).type = WorkloadType::cron;
    CHECK(listing.planned().empty());
}

TEST_CASE("the components of a heterogeneous job are released together, in one class") {
    Listing listing;
    component(listing, 100, 4);
    component(listing, 101, 4);
    component(listing, 102, 0);
    CHECK(told(listing.planned()) == "release 100 to guaranteed, release 101 to guaranteed, release 102 to guaranteed");
    component(listing, 103, 1);
    CHECK(told(listing.planned()) ==
          "release 100 to borrowed, release 101 to borrowed, release 102 to borrowed, release 103 to borrowed");
}

TEST_CASE("a heterogeneous job without GPUs borrows") {
    Listing listing;
    component(listing, 100, 0);
    component(listing, 101, 0);
    CHECK(told(listing.planned()) == "release 100 to borrowed, release 101 to borrowed");
}

TEST_CASE("a heterogeneous job that would have to reclaim waits until enough GPUs are idle") {
    Listing listing;
    auto& lent = listing.add(listed(1, "gpu-lend", 12, JobState::running));
    lent.account = "speech";
    component(listing, 100, 4);
    component(listing, 101, 4);
    CHECK(listing.planned().empty());
    listing.jobs.front().gpus.tres_per_job = "gres:gpu:8";
    CHECK(listing.planned().size() == 2);
    listing.add(listed(2, "gpu", 1)).account = "speech";
    CHECK(listing.planned().empty());
    listing.jobs.back().state = JobState::ended;
    listing.world.shape.partitions["gpu"].nodes.front().available = false;
    CHECK(listing.planned().empty());
}

TEST_CASE("a heterogeneous job that borrows is promoted as a whole") {
    Listing listing;
    for (const std::uint32_t job_id : {100, 101}) {
        auto& job = listing.add(listed(job_id, "gpu-lend", 4));
        job.het_job_id = 100;
        job.type = WorkloadType::het;
    }
    CHECK(told(listing.planned()) == "promote 100 to guaranteed, promote 101 to guaranteed");
    listing.add(listed(1, "gpu", 4, JobState::running));
    CHECK(listing.planned().empty());
}

TEST_CASE("a component that stayed behind follows the others into their class") {
    Listing listing;
    component(listing, 100, 4);
    auto& ahead = listing.jobs.front();
    ahead.hold = Hold::none;
    ahead.partition = "gpu";
    component(listing, 101, 4);
    CHECK(told(listing.planned()) == "release 101 to guaranteed");
    listing.jobs.front().partition = "gpu-lend";
    listing.facts[100].cls = JobClass::borrowed;
    CHECK(told(listing.planned()) == "release 101 to borrowed");
    listing.jobs.front().state = JobState::running;
    CHECK(listing.planned().empty());
}

TEST_CASE("components of two contracts are released when both have room") {
    Listing listing;
    listing.world.contracts.push_back(in_force(contract_for("speech", 2), {vision1}));
    component(listing, 100, 4);
    component(listing, 101, 2).account = "speech";
    CHECK(told(listing.planned()) == "release 100 to guaranteed, release 101 to guaranteed");
    listing.add(listed(1, "gpu", 1, JobState::running)).account = "speech";
    CHECK(told(listing.planned()) == "release 100 to borrowed, release 101 to borrowed");
}
