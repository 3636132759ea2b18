// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs that cannot start yet (R5), cannot be changed later (R6), or only start together (R7).
#include "catch.hpp"
#include "policy/decide.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

World one_lab(std::optional<Gpus> borrow_limit = {}) {
    World world;
    auto contract = contract_for("vision-lab", 8, borrow_limit);
    contract.workloads.allowed.insert({WorkloadType::het, WorkloadType::cron});
    world.contracts = {in_force(std::move(contract), {vision1})};
    return world;
}

/// A change to the contract of `one_lab`.
template <typename Change>
World lab_with(Change&& change, std::optional<Gpus> borrow_limit = {}) {
    auto world = one_lab(borrow_limit);
    auto contract = *world.contracts.front().contract;
    change(contract);
    world.contracts = {in_force(std::move(contract), {vision1})};
    return world;
}

JobRequest held(JobRequest request) {
    request.held = true;
    return request;
}

JobRequest component(const std::string& tres, std::uint32_t offset, GpuIntervals earlier = {}) {
    auto request = batch(tres);
    request.type = WorkloadType::het;
    request.het = HetPart{offset, {}};
    if (!earlier.empty()) request.het->earlier["vision-lab/gpu"] = std::move(earlier);
    return request;
}

}  // namespace

TEST_CASE("a job that is not eligible waits in the lend partition without a claim where nothing could stop it") {
    auto world = one_lab();
    auto decision = world.submit(held(batch("gres:gpu:4")));
    CHECK(decision.cls == JobClass::borrowed);
    CHECK(decision.reason == Reason::not_eligible);
    CHECK(decision.rewrite.partition == "gpu-lend");
    CHECK_FALSE(decision.rewrite.hold);
    CHECK(decision.claim.empty());
    CHECK(decision.message ==
          "accord: borrowed: 4 a100 for vision-lab/gpu, claimed only after its user's release, guaranteed then if they "
          "are free; may be preempted and requeued");

    auto dated = batch("gres:gpu:4");
    dated.begin_s = noon + 60;
    CHECK(world.ask(dated)->reason == Reason::not_eligible);
    dated.begin_s = noon;
    CHECK(world.ask(dated)->cls == JobClass::guaranteed);

    auto dependent = batch("gres:gpu:4");
    dependent.dependent = true;
    CHECK(world.ask(dependent)->message.find("claimed only after its dependency") != std::string::npos);
    CHECK(world.ask(batch("gres:gpu:8"))->cls == JobClass::guaranteed);
}

TEST_CASE("a job that is not eligible is queued where a limit, or its own fragility, could stop it") {
    const auto expect_queued = [](const World& world, JobRequest request) {
        const auto decision = world.ask(held(std::move(request)));
        CHECK(decision->verdict == Verdict::queued);
        CHECK(decision->reason == Reason::not_eligible);
        CHECK(decision->rewrite.hold);
        CHECK(decision->claim.empty());
        CHECK(decision->user_hold == true);
        CHECK(decision->message ==
              "accord: queued: 4 a100 for vision-lab/gpu; waits for its user's release, then for room in its contract");
    };
    expect_queued(one_lab(100), batch("gres:gpu:4"));
    expect_queued(lab_with([](Contract& contract) { contract.members.max_gpus_per_user = 8; }), batch("gres:gpu:4"));
    expect_queued(lab_with([](Contract& contract) { contract.budget.emplace(); }), batch("gres:gpu:4"));
    auto fragile = batch("gres:gpu:4");
    fragile.requeueable = false;
    expect_queued(one_lab(), fragile);
}

TEST_CASE("a queued job that depends on another is parked, since Slurm tests no dependency of a held job") {
    auto request = batch("gres:gpu:4");
    request.dependent = true;
    auto decision = one_lab(100).ask(request);
    CHECK(decision->cls == JobClass::queued);
    CHECK_FALSE(decision->rewrite.hold);
    CHECK(decision->rewrite.begin_s == parking_s);
    request.begin_s = noon + 60;
    CHECK(one_lab(100).ask(request)->rewrite.begin_s == parked(noon + 60));
    CHECK(own_begin(parked(noon + 60)) == noon + 60);
    constexpr std::int64_t year_2099 = 4'070'908'800;
    CHECK(own_begin(year_2099) == year_2099);
    CHECK(own_begin(parked(year_2099)) == year_2099);
    request.deadline = true;
    CHECK(one_lab(100).ask(request)->rewrite.hold);
    CHECK_FALSE(one_lab(100).ask(request)->rewrite.begin_s);
    CHECK_FALSE(one_lab().ask(request)->rewrite.begin_s);
}

TEST_CASE("a job that is not eligible is still refused what it could never get") {
    CHECK(one_lab(0).ask(held(batch("gres:gpu:9")))->reason == Reason::impossible);
    CHECK(one_lab().ask(held(batch("gres:gpu:17")))->reason == Reason::impossible);
    CHECK(one_lab().ask(held(batch("")))->reason == Reason::no_gpu);
}

TEST_CASE("a scrontab job is guaranteed or borrowed at once, or rejected with what would have queued it") {
    auto world = one_lab(4);
    auto request = batch("gres:gpu:8");
    request.type = WorkloadType::cron;
    request.begin_s = noon + 3600;
    auto decision = world.submit(request);
    CHECK(decision.cls == JobClass::guaranteed);
    CHECK(decision.claim == GpuVector{{"a100", 8}});
    request.gpus.tres_per_job = "gres:gpu:4";
    CHECK(world.submit(request).cls == JobClass::borrowed);
    decision = world.submit(request);
    CHECK(decision.verdict == Verdict::rejected);
    CHECK(decision.reason == Reason::borrow_limit);
    CHECK_FALSE(decision.cls);
    CHECK(decision.claim.empty());
    CHECK(decision.message ==
          "accord: 4 a100 for vision-lab/gpu (0 of its 8 guaranteed a100 are free; in use: vision1 12), and a scrontab job "
          "cannot wait until there is room within the borrow limit (4 of 4 in use): ask for fewer, or submit it with "
          "sbatch; ask gpu-ops [borrow_limit]");
    request.requeueable = false;
    CHECK(world.ask(request)->reason == Reason::not_requeueable);
}

TEST_CASE("a scrontab stored again is judged without the jobs that it replaces") {
    auto world = one_lab(4);
    auto request = batch("gres:gpu:8");
    request.type = WorkloadType::cron;
    request.begin_s = noon + 3600;
    const auto stored_before = [&](std::uint32_t uid, std::int64_t begin_s) {
        LedgerBase base = world.ledger.base();
        const Claim claim{"vision-lab/gpu", uid, JobClass::guaranteed, {{"a100", 8}}};
        base.contracts.clear();
        add_claim(base.contracts[claim.contract], claim);
        base.crons = {{claim, begin_s}};
        world.ledger = {};
        world.ledger.rebase(std::make_shared<LedgerBase>(std::move(base)));
    };
    stored_before(vision1, noon + 60);
    const auto before = world.ledger.of("vision-lab/gpu");
    CHECK(world.submit(request).cls == JobClass::guaranteed);
    CHECK(world.ledger.of("vision-lab/gpu").guaranteed == GpuVector{{"a100", 16}});
    CHECK(before.guaranteed == GpuVector{{"a100", 8}});

    SECTION("the new scrontab's own jobs count among each other") {
        request.gpus.tres_per_job = "gres:gpu:4";
        CHECK(world.submit(request).cls == JobClass::borrowed);
        CHECK(world.submit(request).reason == Reason::borrow_limit);
    }
    SECTION("one that may have started counts") {
        stored_before(vision1, noon);
        CHECK(world.ask(request)->cls != JobClass::guaranteed);
    }
    SECTION("another user's counts") {
        stored_before(speech1, noon + 60);
        CHECK(world.ask(request)->cls != JobClass::guaranteed);
    }
    SECTION("and it does for a job of another kind") {
        stored_before(vision1, noon + 60);
        CHECK(world.ask(batch("gres:gpu:8"))->cls != JobClass::guaranteed);
    }
}

TEST_CASE("the components of a heterogeneous job are queued until all of it is known") {
    auto world = one_lab();
    const auto decision = world.submit(component("gres:gpu:2", 0));
    CHECK(decision.verdict == Verdict::queued);
    CHECK(decision.reason == Reason::not_eligible);
    CHECK(decision.claim.empty());
    CHECK(decision.message ==
          "accord: queued: 2 a100 for vision-lab/gpu; starts together with the other components of its job, when enough "
          "GPUs are free for all");
    CHECK(world.submit(component("", 1)).cls == JobClass::queued);
    CHECK(world.ledger.of("vision-lab/gpu").guaranteed.empty());
}

TEST_CASE("of a heterogeneous job the sum of its components counts") {
    const GpuIntervals earlier{{"a100", {6, 6}}};
    const auto limited = lab_with([](Contract& contract) { contract.workloads.max_gpus_per_job = 8; });
    CHECK(limited.ask(component("gres:gpu:2", 1, earlier))->verdict == Verdict::queued);
    CHECK(limited.ask(component("gres:gpu:3", 1, earlier))->message ==
          "accord: contract vision-lab/gpu: 9 a100 asked for, and its max_gpus_per_job is 8: ask for fewer, or ask "
          "gpu-ops [gpus_per_job]");
    const auto personal = lab_with([](Contract& contract) { contract.members.max_gpus_per_user = 8; });
    CHECK(personal.ask(component("gres:gpu:3", 1, earlier))->reason == Reason::gpus_per_user);
    CHECK(one_lab(2).ask(component("gres:gpu:4", 1, earlier))->verdict == Verdict::queued);
    CHECK(one_lab(2).ask(component("gres:gpu:5", 1, earlier))->reason == Reason::impossible);
    CHECK(one_lab().ask(component("gres:gpu:11", 1, earlier))->reason == Reason::impossible);
}
