// SPDX-License-Identifier: GPL-2.0-or-later
// R14 over a whole pool: lend limits, what no contract owns, and nodes that are not there.
#include "policy/loans.hpp"

#include "catch.hpp"
#include "policy/listing.hpp"
#include "policy/modify.hpp"

using namespace accord;
using namespace accord::test;

namespace {

Contract lending(const std::string& account, Gpus guaranteed, std::optional<Gpus> lend_limit,
                 std::optional<Gpus> borrow_limit = {}) {
    auto contract = contract_for(account, guaranteed, borrow_limit);
    contract.capacity["a100"].lend_limit = lend_limit;
    return contract;
}

/// 16 GPUs: 8 are vision-lab's, 4 speech's, 4 nobody's.
World two_labs(std::optional<Gpus> lend_limit, std::optional<Gpus> borrow_limit = {}) {
    World world;
    world.contracts = {in_force(lending("vision-lab", 8, lend_limit), {vision1}),
                       in_force(lending("speech", 4, {}, borrow_limit), {speech1})};
    return world;
}

JobRequest speech(Gpus gpus) { return batch("gres:gpu:" + std::to_string(gpus), "speech", speech1); }
JobRequest vision_asks(Gpus gpus) { return batch("gres:gpu:" + std::to_string(gpus)); }

/// How many single GPUs speech may borrow beside what it has, guaranteed ones not counted.
int loans_to_speech(World& world) {
    int loans = 0;
    for (int job = 0; job < 20; ++job) loans += world.submit(speech(1)).cls == JobClass::borrowed ? 1 : 0;
    return loans;
}

}  // namespace

TEST_CASE("what may be borrowed is what is lent and what no contract owns, within the borrow limit", "[B05]") {
    const auto borrowed = [](std::optional<Gpus> lend_limit, std::optional<Gpus> borrow_limit) {
        auto world = two_labs(lend_limit, borrow_limit);
        return loans_to_speech(world);
    };
    CHECK(borrowed({}, {}) == 16);  // no limit: idle GPUs are the limit
    CHECK(borrowed({}, 0) == 0);
    CHECK(borrowed({}, 3) == 3);
    CHECK(borrowed(0, {}) == 4);
    CHECK(borrowed(2, {}) == 6);
    CHECK(borrowed(8, {}) == 12);
    CHECK(borrowed(20, {}) == 12);
    CHECK(borrowed(2, 5) == 5);
    CHECK(borrowed(2, 0) == 0);
}

TEST_CASE("a job that the lend limits do not let borrow is queued, and told who lends how much") {
    auto world = two_labs(2);
    world.submit(speech(4));
    world.submit(speech(5));
    const auto decision = world.submit(speech(2));
    CHECK(decision.verdict == Verdict::queued);
    CHECK(decision.reason == Reason::lend_limit);
    CHECK(decision.claim.empty());
    CHECK(decision.message ==
          "accord: queued: 2 a100 for speech/gpu (0 of its 4 guaranteed a100 are free; in use: speech1 9); waits for these "
          "or for room within what partition gpu lends (5 of 6 a100 in use; vision-lab/gpu lends at most 2)");
    CHECK(world.submit(speech(1)).cls == JobClass::borrowed);
}

TEST_CASE("a contract lends nothing that it claims itself, and nothing is lent twice") {
    auto world = two_labs(8);
    world.submit(vision_asks(6));
    CHECK(loans_to_speech(world) == 6);  // 2 of vision-lab's and 4 of nobody's
    world.contracts.push_back(in_force(lending("audio", 0, {}), {outsider}));
    CHECK(world.ask(batch("gres:gpu:1", "audio", outsider))->reason == Reason::lend_limit);
}

TEST_CASE("what a borrower claims of its own guarantee is not lent to others either") {
    auto world = two_labs(8);
    world.contracts.push_back(in_force(lending("audio", 0, {}), {outsider}));
    // speech's job of 6 does not fit its guarantee of 4, and takes it all the same
    CHECK(world.submit(speech(6)).cls == JobClass::borrowed);
    int loans = 0;
    for (int job = 0; job < 20; ++job)
        loans += world.submit(batch("gres:gpu:1", "audio", outsider)).cls == JobClass::borrowed ? 1 : 0;
    CHECK(loans == 10);
}

TEST_CASE("a guaranteed job is never refused for what is lent, and ends loans only by a reclaim") {
    auto world = two_labs(2);
    CHECK(loans_to_speech(world) == 6);
    CHECK(world.submit(vision_asks(8)).cls == JobClass::guaranteed);
    CHECK(world.ask(speech(1))->reason == Reason::lend_limit);
}

TEST_CASE("a request beyond what guarantee and loans could ever give is impossible") {
    auto world = two_labs(2);
    CHECK(world.ask(speech(10))->verdict != Verdict::rejected);
    const auto decision = *world.ask(speech(11));
    CHECK(decision.reason == Reason::impossible);
    CHECK(decision.message ==
          "accord: asks for 11 a100, more than speech/gpu could ever hold (guaranteed 4, no borrow limit, at most 6 lent, "
          "16 in partition gpu; 0 in use): ask for 10 or fewer, or ask gpu-ops [impossible]");
    CHECK(world.ask(vision_asks(16))->verdict != Verdict::rejected);
}

TEST_CASE("nodes that are down or draining are not lent, and guarantees stay") {
    auto world = two_labs(2);
    world.shape.partitions["gpu"].nodes[0].available = false;
    world.take_shape();
    CHECK(loans_to_speech(world) == 2);
    CHECK(world.ask(vision_asks(8))->cls == JobClass::guaranteed);
}

TEST_CASE("while fewer GPUs are there than are guaranteed nothing new is lent, with or without limits") {
    for (const std::optional<Gpus> lend_limit : {std::optional<Gpus>{}, std::optional<Gpus>{8}}) {
        auto world = two_labs(lend_limit);
        world.shape.partitions["gpu"].nodes[0].available = world.shape.partitions["gpu"].nodes[1].available = false;
        world.take_shape();
        CHECK(world.submit(speech(4)).cls == JobClass::guaranteed);
        const auto decision = *world.ask(speech(1));
        CHECK(decision.reason == Reason::lend_limit);
        CHECK(decision.message.find("nothing new while 8 a100 are available and 12 are guaranteed") != std::string::npos);
        CHECK(world.ask(vision_asks(8))->cls == JobClass::guaranteed);
        CHECK(world.ask(speech(0))->cls == JobClass::borrowed);
    }
}

TEST_CASE("contracts that are not in force lend nothing, and their jobs' claims are excess") {
    auto world = two_labs(8);
    world.submit(vision_asks(3));
    world.contracts[0].state = ContractState::suspended;
    world.contracts.push_back(in_force(lending("audio", 2, 1), {outsider}));
    CHECK(loans_to_speech(world) == 8);  // audio's 1, and of the 10 that nobody owns those that are not in use
    auto later = *world.contracts[2].contract;
    later.valid_from_s = noon + 1;
    world.contracts[2] = in_force(later, {outsider});
    CHECK(world.ask(speech(1))->cls == JobClass::borrowed);
    CHECK(world.ask(speech(1), noon + 1)->reason == Reason::lend_limit);
}

TEST_CASE("a job that is not eligible is queued where a lend limit could stop it") {
    auto request = speech(1);
    request.held = true;
    CHECK(two_labs({}).ask(request)->cls == JobClass::borrowed);
    CHECK(two_labs(8).ask(request)->cls == JobClass::queued);
}

TEST_CASE("an array gets a limit that guarantee and loans could give") {
    auto request = speech(1);
    request.type = WorkloadType::array;
    request.array = parse_array("0-99");
    CHECK(two_labs(2).ask(request)->rewrite.array_limit == 10);
}

TEST_CASE("queued jobs are released as loans are given back, and the plugin agrees") {
    Listing listing;
    listing.world.contracts = two_labs(2).contracts;
    const auto of_speech = [&](JobView& job) {
        job.account = "speech";
        job.uid = speech1;
    };
    of_speech(listing.add(listed(1, "gpu", 4, JobState::running)));
    of_speech(listing.add(listed(2, "gpu-lend", 4, JobState::running)));
    of_speech(listing.queued(3, 2, 100));
    of_speech(listing.queued(4, 2, 200));
    const auto actions = listing.planned();
    REQUIRE(told(actions) == "release 3 to borrowed");
    CHECK(actions[0].reason == Reason::lend_limit);

    auto& world = listing.world;
    world.ledger.add(1, {"speech/gpu", speech1, JobClass::guaranteed, {{"a100", 4}}});
    world.ledger.add(2, {"speech/gpu", speech1, JobClass::borrowed, {{"a100", 4}}});
    world.ledger.set_queued(3, true, 3);
    Modification release;
    release.job = listing.jobs[2];
    release.job->admin_comment = comment_of(DecisionId{0, 3});
    release.by_operator = true;
    release.change.admin_comment = comment_of(ActionMark{1, JobClass::borrowed});
    const auto first = *decide_modification(world.policy(), world.ledger, release, noon);
    CHECK(first.cls == JobClass::borrowed);
    apply_to_ledger(world.ledger, 4, first);
    CHECK(decide_modification(world.policy(), world.ledger, release, noon)->reason == Reason::stale);
}

TEST_CASE("a borrowed job that was made pending again goes to the queue while more is borrowed than is lent") {
    Listing listing;
    listing.world.contracts = two_labs(2).contracts;
    const auto speech_job = [&](std::uint32_t job_id, const std::string& partition, Gpus gpus) -> JobView& {
        auto& job = listing.add(listed(job_id, partition, gpus, JobState::running));
        job.account = "speech";
        job.uid = speech1;
        return job;
    };
    speech_job(1, "gpu", 4);
    auto& again = speech_job(2, "gpu-lend", 6);
    again.state = JobState::pending;
    again.restarts = 1;
    CHECK(listing.planned().empty());
    listing.add(listed(3, "gpu", 7, JobState::running));
    CHECK(told(listing.planned()) == "demote 2 to queued");
}

TEST_CASE("the pool's sums follow the ledger, the policy and the contracts' dates") {
    auto world = two_labs(2);
    const auto policy = world.policy();
    const auto& pool = world.config.pools[0];
    const auto sums = [&](const Policy& by, std::int64_t now_s) { return *world.ledger.loans(by, pool, now_s).of("a100"); };
    CHECK(sums(policy, noon).lendable() == 10);  // vision-lab's 2, speech's 4, nobody's 4
    world.submit(speech(6));
    CHECK(sums(policy, noon).excess == 2);
    CHECK(sums(policy, noon).lendable() == 6);
    world.submit(vision_asks(7));
    CHECK(sums(policy, noon).lendable() == 5);
    CHECK_FALSE(sums(policy, 1'798'761'600).limited());
    world.contracts[0] = in_force(lending("vision-lab", 8, 1), {vision1});
    const auto newer = world.policy();
    CHECK(sums(newer, noon).lendable() == 5);
    world.take_shape();
    CHECK(sums(newer, noon).excess == 0);
    CHECK(sums(newer, noon).lendable() == 9);
}
