// SPDX-License-Identifier: GPL-2.0-or-later
// R16: in which order queued jobs are released, and who goes back behind whom (R14).
#include "catch.hpp"
#include "policy/listing.hpp"

using namespace accord;
using namespace accord::test;

namespace {

/// vision-lab and speech borrow within 16 GPUs; audio lends what it does not use, and has a lend limit of all.
struct Lenders : Listing {
    explicit Lenders(std::int64_t speech_share = 1) : Listing(2) {
        auto speech = contract_for("speech", 2);
        speech.share = speech_share;
        auto audio = contract_for("audio", 8);
        audio.capacity["a100"].lend_limit = 8;
        world.contracts.push_back(in_force(speech, {speech1}));
        world.contracts.push_back(in_force(audio, {outsider}));
        add(listed(90, "gpu", 2, JobState::running));
        of_speech(add(listed(91, "gpu", 2, JobState::running)));
    }
    static JobView& of_speech(JobView& job) {
        job.account = "speech";
        job.uid = speech1;
        return job;
    }
    JobView& occupied(std::uint32_t job_id, const std::string& partition, Gpus gpus) {
        return add(listed(job_id, partition, gpus, JobState::running));
    }
};

}  // namespace

TEST_CASE("loans go to the contract with less excess for its guarantee and share, each loan counted") {
    Lenders list;
    list.occupied(92, "gpu", 8).account = "audio";
    for (const std::uint32_t job_id : {1, 2, 3}) list.queued(job_id, 1, job_id);
    for (const std::uint32_t job_id : {4, 5, 6}) Lenders::of_speech(list.queued(job_id, 1, job_id));
    CHECK(told(list.planned()) ==
          "release 1 to borrowed, release 4 to borrowed, release 2 to borrowed, release 5 to borrowed");
}

TEST_CASE("a contract with twice the share gets twice the loans") {
    Lenders list(2);
    list.occupied(92, "gpu", 6).account = "audio";
    for (const std::uint32_t job_id : {1, 2, 3, 4, 5, 6}) list.queued(job_id, 1, job_id);
    for (const std::uint32_t job_id : {11, 12, 13, 14, 15, 16}) Lenders::of_speech(list.queued(job_id, 1, job_id));
    const auto actions = list.planned();
    REQUIRE(actions.size() == 6);
    CHECK(std::count_if(actions.begin(), actions.end(), [](const auto& one) { return one.contract == "speech/gpu"; }) == 4);
}

TEST_CASE("the excess that a contract has already counts against its next loan") {
    Lenders list;
    list.occupied(92, "gpu-lend", 2);
    list.occupied(93, "gpu", 7).account = "audio";
    list.queued(1, 1, 1);
    Lenders::of_speech(list.queued(2, 1, 2));
    Lenders::of_speech(list.queued(3, 1, 3));
    Lenders::of_speech(list.queued(4, 1, 4));
    CHECK(told(list.planned()) == "release 2 to borrowed, release 3 to borrowed, release 1 to borrowed");
}

TEST_CASE("what fits its guarantee is released before any loan") {
    Lenders list;
    list.jobs[0].state = JobState::ended;
    list.occupied(92, "gpu", 8).account = "audio";
    Lenders::of_speech(list.queued(1, 4, 1));
    list.queued(2, 2, 2);
    CHECK(told(list.planned()) == "release 2 to guaranteed, release 1 to borrowed");
}

namespace {

/// Released two minutes ago and still pending, with 4 of the 4 GPUs that vision-lab may borrow.
JobView& stuck(Listing& listing, std::uint32_t job_id, Gpus gpus) {
    auto& facts = listing.facts[job_id] = {{0, job_id}, 100, JobClass::borrowed, false};
    facts.released_s = noon - 120;
    return listing.add(listed(job_id, "gpu-lend", gpus));
}

}  // namespace

TEST_CASE("a released job that has not started within a minute gives way to one that could") {
    Listing listing(8, 4);
    listing.add(listed(90, "gpu", 8, JobState::running));
    stuck(listing, 1, 4);
    listing.queued(2, 2, 200);
    listing.queued(3, 4, 150);
    const auto actions = listing.planned();
    REQUIRE(told(actions) == "demote 1 to queued");
    CHECK(actions[0].reason == Reason::borrow_limit);
    CHECK(actions[0].partition == "gpu-lend");

    // queued again, it is behind what was decided until then
    listing.jobs[1].hold = Hold::admin;
    listing.facts[1].cls = JobClass::queued;
    listing.facts[1].sent_back_s = noon;
    listing.jobs.erase(listing.jobs.begin() + 3);
    CHECK(told(listing.planned()) == "release 2 to borrowed");
    listing.jobs.pop_back();
    CHECK(told(listing.planned()) == "release 1 to borrowed");
}

TEST_CASE("a released job stays where nothing else could start") {
    Listing listing(8, 4);
    listing.add(listed(90, "gpu", 8, JobState::running));
    stuck(listing, 1, 4);
    listing.queued(2, 4, 200);  // the same again
    CHECK(listing.planned().empty());
    listing.queued(3, 2, 200);
    CHECK(listing.planned().size() == 1);
    listing.facts[1].released_s = noon - 59;
    CHECK(listing.planned().empty());
    listing.facts[1].released_s = noon - 60;
    CHECK(listing.planned().size() == 1);
    listing.jobs[1].begin_s = noon - 30;  // it may begin only since then
    CHECK(listing.planned().empty());
    listing.jobs[1].begin_s = 0;
    listing.add(listed(4, "gpu", 7, JobState::running)).account = "speech";
    CHECK(listing.planned().empty());  // one GPU is idle
    listing.facts[1].released_s = 0;
    listing.jobs.pop_back();
    CHECK(listing.planned().empty());  // it was let in so
}

TEST_CASE("where lend limits bind it gives way to another contract's job") {
    Lenders list;
    list.occupied(92, "gpu", 4).account = "audio";
    stuck(list, 1, 8);
    Lenders::of_speech(list.queued(2, 2, 200));
    const auto actions = list.planned();
    REQUIRE(told(actions) == "demote 1 to queued");
    CHECK(actions[0].reason == Reason::lend_limit);
}

namespace {

JobView& preempted(Listing& listing, std::uint32_t job_id, Gpus gpus, std::int64_t times, std::int64_t ago_s) {
    auto& facts = listing.facts[job_id] = {{0, job_id}, 100, JobClass::borrowed, false};
    facts.preemptions = times;
    facts.last_preempted_s = noon - ago_s;
    auto& job = listing.add(listed(job_id, "gpu-lend", gpus));
    job.restarts = static_cast<std::uint32_t>(times);
    return job;
}

JobView& queue(Listing& listing, std::size_t index) {
    auto& job = listing.jobs[index];
    job.hold = Hold::admin;
    listing.facts[job.job_id].cls = JobClass::queued;
    return job;
}

}  // namespace

TEST_CASE("a job that was preempted as often as its contract allows waits for guaranteed GPUs", "[B08]") {
    Listing listing(8);
    listing.add(listed(90, "gpu", 8, JobState::running));
    preempted(listing, 1, 4, 2, 10);
    CHECK(listing.planned().empty());
    listing.facts[1].preemptions = 3;
    const auto actions = listing.planned();
    REQUIRE(told(actions) == "demote 1 to queued");
    CHECK(actions[0].reason == Reason::headroom);
    queue(listing, 1);
    listing.facts[1].last_preempted_s = 0;
    CHECK(listing.planned().empty());
    listing.jobs[0].state = JobState::ended;
    CHECK(told(listing.planned()) == "release 1 to guaranteed");
}

TEST_CASE("with headroom such a job is promoted at once") {
    Listing listing(8);
    preempted(listing, 1, 4, 3, 10);
    CHECK(told(listing.planned()) == "promote 1 to guaranteed");
}

TEST_CASE("one that could never fit its guarantee borrows again after a pause that doubles, up to a day", "[B08]") {
    const auto waits_at = [](std::int64_t times, std::int64_t ago_s) {
        Listing listing(2);
        preempted(listing, 1, 4, times, ago_s);
        const auto sent = told(listing.planned());
        queue(listing, 0);
        const auto released = told(listing.planned());
        CHECK((sent == "demote 1 to queued") == released.empty());
        CHECK((released == "release 1 to borrowed") == sent.empty());
        return released.empty();
    };
    CHECK_FALSE(waits_at(2, 0));
    CHECK(waits_at(3, 59));
    CHECK_FALSE(waits_at(3, 60));
    CHECK(waits_at(4, 119));
    CHECK_FALSE(waits_at(4, 120));
    CHECK(waits_at(13, 61'439));
    CHECK_FALSE(waits_at(13, 61'440));
    for (const std::int64_t times : {14, 40, 4'000}) {
        CHECK(waits_at(times, 86'399));
        CHECK_FALSE(waits_at(times, 86'400));
    }
}

namespace {

JobView& array_rest(Listing& listing, const std::string& partition, Gpus gpus, const char* indices, JobClass cls) {
    auto job = listed(10, partition, gpus);
    job.array_job_id = 10;
    job.array = parse_array(indices);
    job.array_limit = job.array->limit;
    job.type = WorkloadType::array;
    if (cls == JobClass::queued) job.hold = Hold::admin;
    listing.facts[10] = {{0, 10}, 100, cls, false, job.array_limit.value_or(0)};
    return listing.add(job);
}

std::string tasks_of(const std::vector<Action>& actions) {
    std::string text;
    for (const auto& action : actions)
        text += (text.empty() ? "" : ", ") + std::string(to_string(action.kind)) + " " +
                (action.task ? std::to_string(*action.task) : "all") + " to " + to_string(action.to);
    return text;
}

}  // namespace

TEST_CASE("a queued array that does not fit as a whole is released task by task") {
    Listing listing(8, 2);
    listing.add(listed(90, "gpu", 4, JobState::running));
    array_rest(listing, "gpu-lend", 2, "3-9", JobClass::queued);
    const auto actions = listing.planned();
    REQUIRE(tasks_of(actions) == "release 3 to guaranteed, release 4 to guaranteed, release 5 to borrowed");
    CHECK(actions[0].job_id == 10);
    CHECK(actions[0].gpus == GpuVector{{"a100", 2}});
    CHECK(actions[0].partition == "gpu");
    listing.jobs[0].gpus.tres_per_job = "gres:gpu:8";
    CHECK(tasks_of(listing.planned()) == "release 3 to borrowed");
}

TEST_CASE("no more tasks are split off than the throttle lets run at once") {
    Listing listing(6, 0);
    array_rest(listing, "gpu-lend", 2, "3-9%4", JobClass::queued);
    auto task = listed(11, "gpu", 2, JobState::running);
    task.array_job_id = 10;
    task.array_task_id = 1;
    task.array_limit = 4;
    listing.facts[11] = {{0, 10}, 100, JobClass::guaranteed, false, 4};
    listing.add(task);
    CHECK(tasks_of(listing.planned()) == "release 3 to guaranteed, release 4 to guaranteed");
    listing.world.contracts = {in_force(contract_for("vision-lab", 16, 0), {vision1})};
    CHECK(tasks_of(listing.planned()) == "release all to guaranteed");
    listing.world.contracts = {in_force(contract_for("vision-lab", 9, 0), {vision1})};
    CHECK(tasks_of(listing.planned()) == "release 3 to guaranteed, release 4 to guaranteed, release 5 to guaranteed");
}

TEST_CASE("of a borrowed array the tasks that fit the headroom are promoted") {
    Listing listing(5);
    array_rest(listing, "gpu-lend", 2, "0,2-4", JobClass::borrowed);
    CHECK(tasks_of(listing.planned()) == "promote 0 to guaranteed, promote 2 to guaranteed");
}

TEST_CASE("members' limits hold for tasks as well") {
    Listing listing(8);
    auto contract = contract_for("vision-lab", 8);
    contract.members.max_gpus_per_user = 5;
    listing.world.contracts = {in_force(contract, {vision1})};
    array_rest(listing, "gpu-lend", 2, "0-9", JobClass::queued);
    CHECK(tasks_of(listing.planned()) == "release 0 to guaranteed, release 1 to guaranteed");
}
