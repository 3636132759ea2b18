// SPDX-License-Identifier: GPL-2.0-or-later
// R17: what a changed job may ask for.
#include "policy/modify.hpp"

#include <rapidcheck.h>

#include "catch.hpp"
#include "policy/governed.hpp"
#include "policy/plan.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

constexpr std::uint32_t operator_uid = 64030;

/// vision-lab with 8 guaranteed and 4 to borrow.
World vision_world(const std::function<void(Contract&)>& edit = {}) {
    World world;
    auto contract = contract_for("vision-lab", 8, 4);
    if (edit) edit(contract);
    world.contracts = {in_force(contract, {vision1})};
    return world;
}

/// A pending job of one node, whose claim the ledger knows.
JobView job_of(World& world, const std::string& partition, Gpus gpus) {
    auto job = listed(17, partition, 0);
    job.begin_s = noon - 1;
    job.admin_comment = "accord:v1 decision=0-1";
    job.time_limit_min = 60;
    job.gpus.min_nodes = job.gpus.max_nodes = 1;
    if (gpus != 0) job.gpus.tres_per_node = "gres:gpu:" + std::to_string(gpus);
    const auto cls = partition == "gpu" ? JobClass::guaranteed : JobClass::borrowed;
    world.ledger.add(1, {"vision-lab/gpu", vision1, cls, {{"a100", gpus}}});
    return job;
}

JobView queued_of(World& world, Gpus gpus) {
    auto job = job_of(world, "gpu-lend", gpus);
    world.take_shape();
    world.ledger.set_queued(1, true, 1);
    job.hold = Hold::admin;
    return job;
}

void others_claim(World& world, Gpus guaranteed, Gpus borrowed = 0) {
    world.ledger.add(100, {"vision-lab/gpu", vision1, JobClass::guaranteed, {{"a100", guaranteed}}});
    world.ledger.add(101, {"vision-lab/gpu", vision1, JobClass::borrowed, {{"a100", borrowed}}});
}

Change gres(const std::string& tres) {
    Change change;
    change.gpus.tres_per_node = tres;
    change.asks = {"Gres"};
    return change;
}

Change nodes(std::int64_t count) {
    Change change;
    change.gpus.min_nodes = change.gpus.max_nodes = count;
    change.asks = {"NumNodes"};
    return change;
}

std::optional<Decision> ask(const World& world, const JobView& job, Change change, std::uint32_t caller = vision1) {
    const Modification modification{job, "17", caller, caller == operator_uid, std::move(change)};
    return decide_modification(world.policy(), world.ledger, modification, noon);
}

Reason reason(const World& world, const JobView& job, Change change) {
    const auto decision = ask(world, job, std::move(change));
    REQUIRE(decision);
    CHECK(decision->allows() == (decision->verdict != Verdict::rejected));
    if (!decision->allows()) CHECK(decision->claim.empty());
    return decision->reason;
}

}  // namespace

TEST_CASE("a guaranteed job grows as far as the headroom goes, its own claim given back") {
    auto world = vision_world();
    const auto job = job_of(world, "gpu", 2);
    others_claim(world, 4);
    const auto grown = ask(world, job, gres("gres:gpu:4"));
    REQUIRE(grown);
    CHECK(grown->verdict == Verdict::admitted);
    CHECK(grown->cls == JobClass::guaranteed);
    CHECK(grown->claim == GpuVector{{"a100", 2}});
    CHECK(grown->gpus == GpuIntervals{{"a100", {4, 4}}});
    CHECK(grown->job_id == 17);
    CHECK(grown->message ==
          "accord: job 17: Gres changed: guaranteed, 4 a100 instead of 2 a100 of vision-lab/gpu");

    others_claim(world, 0);
    world.ledger.add(102, {"vision-lab/gpu", vision1, JobClass::guaranteed, {{"a100", 1}}});
    const auto beyond = ask(world, job, gres("gres:gpu:4"));
    CHECK(beyond->verdict == Verdict::rejected);
    CHECK(beyond->reason == Reason::headroom);
    CHECK(beyond->claim.empty());
    CHECK(beyond->message ==
          "accord: job 17 is guaranteed and asks for 4 a100 instead of 2 a100, and 3 of the 8 guaranteed a100 of "
          "vision-lab/gpu are left for it: ask for as many, or cancel and submit again, or ask gpu-ops [headroom]");
    CHECK(reason(world, job, gres("gres:gpu:3")) == Reason::none);
}

TEST_CASE("a borrowed job grows as far as the borrow limit goes, and only while it could be requeued") {
    auto world = vision_world();
    auto job = job_of(world, "gpu-lend", 2);
    others_claim(world, 8);
    CHECK(reason(world, job, gres("gres:gpu:4")) == Reason::none);
    world.ledger.add(102, {"vision-lab/gpu", vision1, JobClass::borrowed, {{"a100", 1}}});
    const auto beyond = ask(world, job, gres("gres:gpu:4"));
    CHECK(beyond->reason == Reason::borrow_limit);
    CHECK(beyond->message ==
          "accord: job 17 is borrowed and asks for 4 a100 instead of 2 a100, and with it vision-lab/gpu would have 5 of "
          "the 4 a100 that it may borrow: ask for fewer, or cancel and submit again, or ask gpu-ops [borrow_limit]");
    CHECK(reason(world, job, gres("gres:gpu:3")) == Reason::none);
}

TEST_CASE("a job without GPUs borrows those that it asks for later, if it could be requeued") {
    auto world = vision_world();
    auto job = job_of(world, "gpu-lend", 0);
    CHECK(ask(world, job, gres("gres:gpu:2"))->cls == JobClass::borrowed);
    CHECK(ask(world, job, gres("gres:gpu:2"))->claim == GpuVector{{"a100", 2}});
    job.requeueable = false;
    CHECK(reason(world, job, gres("gres:gpu:2")) == Reason::not_requeueable);
}

TEST_CASE("a queued job stays queued as long as it could ever be more") {
    auto world = vision_world([](Contract& contract) { contract.capacity["a100"].guaranteed = 2; });
    const auto job = queued_of(world, 1);
    const auto grown = ask(world, job, gres("gres:gpu:4"));
    CHECK(grown->verdict == Verdict::queued);
    CHECK(grown->cls == JobClass::queued);
    CHECK(grown->claim.empty());
    auto two_nodes = nodes(2);
    two_nodes.gpus.tres_per_node = "gres:gpu:4";
    CHECK(reason(world, job, two_nodes) == Reason::impossible);
}

TEST_CASE("a node or task count alone widens a claim") {
    auto world = vision_world();
    auto job = job_of(world, "gpu", 4);
    CHECK(ask(world, job, nodes(2))->claim == GpuVector{{"a100", 4}});
    CHECK(reason(world, job, nodes(3)) == Reason::headroom);
    job.gpus = {};
    job.gpus.tres_per_task = "gres:gpu:1";
    job.gpus.num_tasks = 4;
    Change tasks;
    tasks.gpus.num_tasks = 6;
    tasks.asks = {"NumTasks"};
    CHECK(ask(world, job, tasks)->claim == GpuVector{{"a100", 2}});
    tasks.gpus.num_tasks = 9;
    CHECK(reason(world, job, tasks) == Reason::headroom);
    tasks.semantics = UpdateSemantics::merge;
    CHECK(reason(world, job, tasks) == Reason::immutable);
}

TEST_CASE("CPUs and memory that leave GPUs unusable widen a claim") {
    auto world = vision_world([](Contract& contract) { contract.capacity["a100"].guaranteed = 2; });
    const auto job = job_of(world, "gpu", 1);
    Change cpus, memory, sharing;
    cpus.gpus.min_cpus = 12, cpus.asks = {"NumCPUs"};
    memory.gpus.mem_per_node_mb = 20'000, memory.asks = {"MinMemoryNode"};
    sharing.gpus.whole_node = true, sharing.asks = {"OverSubscribe"};
    for (const auto& change : {cpus, memory, sharing}) CHECK(reason(world, job, change) == Reason::headroom);
    cpus.gpus.min_cpus = 8;
    CHECK(ask(world, job, cpus)->claim == GpuVector{{"a100", 1}});
}

TEST_CASE("a change that Slurm may apply in part must fit in each of them") {
    auto world = vision_world();
    auto job = job_of(world, "gpu", 1);
    job.gpus.min_nodes = job.gpus.max_nodes = 3;
    auto change = nodes(1);
    change.gpus.tres_per_node = "gres:gpu:4";
    change.asks = {"NumNodes", "Gres"};
    CHECK(reason(world, job, change) == Reason::headroom);
    CHECK(reason(world, job, nodes(1)) == Reason::none);
    change.gpus.tres_per_node = "gres:gpu:2";
    const auto decision = ask(world, job, change);
    CHECK(decision->allows());
    CHECK(decision->claim == GpuVector{{"a100", 3}});

    change.gpus.num_tasks = 1, change.gpus.mem_per_node_mb = 1, change.gpus.min_cpus = 1;
    CHECK(ask(world, job, change)->message ==
          "accord: job 17 keeps its NumNodes, Gres: too much changes at once, of which Slurm may do a part; cancel and "
          "submit again, or ask gpu-ops [immutable]");
}

TEST_CASE("what widens nothing passes, whatever its contract has come to") {
    auto world = vision_world();
    auto job = job_of(world, "gpu", 4);
    others_claim(world, 12);
    world.contracts.front().state = ContractState::suspended;
    Change shorter;
    shorter.time_limit_min = 30, shorter.asks = {"TimeLimit"};
    for (const auto& change : {gres("gres:gpu:2"), gres("gres:gpu:4"), shorter}) {
        const auto decision = ask(world, job, change);
        REQUIRE(decision);
        CHECK(decision->verdict == Verdict::admitted);
        CHECK(decision->cls == JobClass::guaranteed);
        CHECK(decision->claim.empty());
    }
    CHECK(reason(world, job, gres("gres:gpu:5")) == Reason::not_active);
}

TEST_CASE("the ladder judges what widens as it judges a new request") {
    auto world = vision_world([](Contract& contract) {
        contract.workloads.max_walltime_min = 120;
        contract.workloads.max_gpus_per_job = 6;
        contract.members.max_gpus_per_user = 7;
        contract.workloads.max_cpus_per_gpu = 4;
    });
    const auto job = job_of(world, "gpu", 2);
    others_claim(world, 3);
    Change longer;
    longer.asks = {"TimeLimit"};
    longer.time_limit_min = 120;
    CHECK(reason(world, job, longer) == Reason::none);
    longer.time_limit_min = 121;
    CHECK(ask(world, job, longer)->message ==
          "accord: job 17: contract vision-lab/gpu: the time limit 02:01:00 is over its max_walltime 02:00:00: ask for "
          "--time=02:00:00 or less, or ask gpu-ops [time_limit]");
    CHECK(reason(world, job, gres("gres:gpu:4")) == Reason::none);
    CHECK(reason(world, job, gres("gres:gpu:5")) == Reason::gpus_per_user);
    CHECK(reason(world, job, gres("gres:gpu:7")) == Reason::gpus_per_job);
    CHECK(reason(world, job, gres("gres:gpu:v100:1,gres:gpu:2")) == Reason::gpu_type);
    Change cpus;
    cpus.gpus.cpus_per_task = 9, cpus.gpus.num_tasks = 1, cpus.asks = {"CPUsPerTask"};
    CHECK(reason(world, job, cpus) == Reason::cpus_per_gpu);
    world.contracts.front().members = {speech1};
    CHECK(reason(world, job, gres("gres:gpu:3")) == Reason::not_member);
}

TEST_CASE("a running job's end is its time limit") {
    auto world = vision_world([](Contract& contract) { contract.workloads.max_walltime_min = 120; });
    auto job = job_of(world, "gpu", 2);
    job.state = JobState::running;
    job.start_s = noon, job.end_s = noon + 3600;
    Change end;
    end.asks = {"EndTime"};
    end.end_s = noon + 1800;
    CHECK(reason(world, job, end) == Reason::none);
    end.end_s = noon + 7200;
    CHECK(reason(world, job, end) == Reason::none);
    end.end_s = noon + 7260;
    CHECK(reason(world, job, end) == Reason::time_limit);
}

TEST_CASE("a borrowed job stays requeueable") {
    auto world = vision_world();
    Change requeue;
    requeue.asks = {"Requeue"};
    requeue.requeue = false;
    const auto borrowed = job_of(world, "gpu-lend", 2);
    CHECK(ask(world, borrowed, requeue)->message ==
          "accord: job 17 is borrowed and must stay requeueable, since its GPUs may be wanted back: cancel and submit "
          "again with --no-requeue, to wait for guaranteed GPUs, or ask gpu-ops [not_requeueable]");
    auto running = borrowed;
    running.state = JobState::running;
    CHECK(reason(world, running, requeue) == Reason::not_requeueable);
    CHECK(reason(world, job_of(world, "gpu", 2), requeue) == Reason::none);
    CHECK(reason(world, job_of(world, "gpu-lend", 0), requeue) == Reason::none);
    requeue.requeue = true;
    CHECK(reason(world, borrowed, requeue) == Reason::none);
}

TEST_CASE("a guaranteed job does not give up all of its GPUs, others where Slurm lets them") {
    auto world = vision_world();
    auto none = gres("");
    CHECK(reason(world, job_of(world, "gpu", 2), none) == Reason::immutable);
    none.semantics = UpdateSemantics::merge;
    CHECK(reason(world, job_of(world, "gpu", 2), none) == Reason::no_gpu);
    CHECK(reason(world, job_of(world, "gpu-lend", 2), none) == Reason::none);
}

TEST_CASE("a job that waits for its time goes on claiming nothing where nothing could stop it then") {
    auto world = vision_world([](Contract& contract) { contract.capacity["a100"].borrow_limit.reset(); });
    auto job = job_of(world, "gpu-lend", 2);
    world.take_shape();
    for (const bool is_held : {true, false}) {
        job.hold = is_held ? Hold::user : Hold::none;
        job.begin_s = is_held ? 0 : noon + 3600;
        const auto decision = ask(world, job, gres("gres:gpu:4"));
        CHECK(decision->verdict == Verdict::admitted);
        CHECK_FALSE(decision->cls);
        CHECK(decision->claim.empty());
        job.requeueable = false;
        CHECK(reason(world, job, gres("gres:gpu:4")) == Reason::not_requeueable);
        job.requeueable = true;
    }
}

TEST_CASE("a job that its user holds after it was admitted is judged as if its old claim were not there") {
    auto world = vision_world();
    auto job = job_of(world, "gpu-lend", 2);
    others_claim(world, 8);
    job.hold = Hold::user;
    CHECK(reason(world, job, gres("gres:gpu:3")) == Reason::borrow_limit);
    const auto less = ask(world, job, gres("gres:gpu:1"));
    CHECK(less->allows());
    CHECK_FALSE(less->cls);
}

TEST_CASE("a component of a heterogeneous job may ask for less, but not for more") {
    auto world = vision_world();
    auto job = job_of(world, "gpu", 2);
    job.het_job_id = 17;
    job.type = WorkloadType::het;
    CHECK(ask(world, job, gres("gres:gpu:4"))->message ==
          "accord: job 17 keeps its Gres: the components of a heterogeneous job are judged together; cancel and submit "
          "again, or ask gpu-ops [immutable]");
    CHECK(reason(world, job, gres("gres:gpu:1")) == Reason::none);
}

TEST_CASE("a job that has run claims within the limit of nodes that the record knows, and keeps it") {
    auto world = vision_world();
    auto job = job_of(world, "gpu", 2);
    job.gpus.max_nodes.reset();
    job.gpus.num_tasks = 4;
    job.restarts = 1;
    const auto policy = world.policy();
    const std::vector<JobView> jobs{job};
    const auto claim = [&](std::optional<std::int64_t> max_nodes) {
        JobFacts facts{{0, 1}, 0, JobClass::guaranteed};
        facts.max_nodes = max_nodes;
        return total(governed_jobs(policy, world.shape, jobs, noon, [&](const JobView&) { return std::optional(facts); })
                         .front()
                         .claim);
    };
    CHECK(claim({}) == 8);
    CHECK(claim(1) == 2);

    auto base = std::make_shared<LedgerBase>(world.ledger.base());
    base->node_limits = {{1, 1}};
    world.ledger.rebase(base);
    CHECK(ask(world, job, gres("gres:gpu:3"))->claim == GpuVector{{"a100", 1}});
    CHECK(ask(world, job, nodes(2))->message ==
          "accord: job 17 keeps its NumNodes: it was requeued, and Slurm does not say any more how many nodes it may take; "
          "cancel and submit again, or ask gpu-ops [immutable]");
}

TEST_CASE("an operator's change counts, and the record says what Slurm holds") {
    auto world = vision_world();
    const auto job = job_of(world, "gpu", 2);
    auto decision = ask(world, job, gres("gres:gpu:4"), operator_uid);
    CHECK(decision->verdict == Verdict::admitted);
    CHECK(decision->cls == JobClass::guaranteed);
    CHECK(decision->claim == GpuVector{{"a100", 2}});
    CHECK_FALSE(decision->rewrite.gpus);
    auto change = gres("gres:gpu:a100:1");
    change.semantics = UpdateSemantics::merge;
    decision = ask(world, job, change, operator_uid);
    CHECK(decision->rewrite.gpus->tres_per_node == "gres:gpu:2,gres:gpu:a100:1");
    CHECK(ask(world, job, gres("gres:gpu:0"), operator_uid)->rewrite.gpus->tres_per_node == "gres:gpu:2");
}

namespace {

JobView rest_of(World& world, const std::string& partition, std::int64_t throttle) {
    auto job = job_of(world, partition, 1);
    world.take_shape();
    job.array_job_id = 17;
    job.type = WorkloadType::array;
    job.array = parse_array("0-7");
    job.array_limit = throttle;
    world.ledger.set_throttle(1, 2, 1);
    world.ledger.add(2, {"vision-lab/gpu", vision1, partition == "gpu" ? JobClass::guaranteed : JobClass::borrowed,
                         {{"a100", 2}}});
    return job;
}

/// As slurmctld asks: the job's record has the new throttle already.
std::optional<Decision> throttle(World& world, const std::string& partition, std::int64_t limit) {
    Change change;
    change.array_limit = limit;
    change.asks = {"ArrayTaskThrottle"};
    return ask(world, rest_of(world, partition, limit), change);
}

}  // namespace

TEST_CASE("an array's throttle is raised as far as its class allows, and goes on record") {
    auto world = vision_world();
    const auto raised = throttle(world, "gpu", 8);
    CHECK(raised->allows());
    CHECK(raised->claim == GpuVector{{"a100", 6}});
    CHECK(raised->throttle == 8);
    const auto beyond = throttle(world, "gpu", 9);
    CHECK(beyond->reason == Reason::headroom);
    CHECK_FALSE(beyond->throttle);
    const auto lowered = throttle(world, "gpu", 1);
    CHECK(lowered->allows());
    CHECK(lowered->claim.empty());
    CHECK(lowered->throttle == 1);
    CHECK(throttle(world, "gpu", 0)->reason == Reason::headroom);
}

TEST_CASE("a raised throttle is in the ledger at once") {
    auto world = vision_world();
    const auto raised = throttle(world, "gpu", 4);
    apply_to_ledger(world.ledger, 7, *raised);
    CHECK(world.ledger.of("vision-lab/gpu").guaranteed == GpuVector{{"a100", 4}});
    CHECK(world.ledger.throttle_of(1) == 4);
    CHECK_FALSE(world.ledger.throttle_of(2));
}

TEST_CASE("a throttle that the record does not know is not changed") {
    auto world = vision_world();
    auto job = rest_of(world, "gpu", 4);
    job.admin_comment = "accord:v1 decision=0-5";
    Change change;
    change.array_limit = 4;
    change.asks = {"ArrayTaskThrottle"};
    CHECK(reason(world, job, change) == Reason::immutable);
    job.admin_comment = "accord:v1 decision=0-1";
    change.gpus.num_tasks = 2;
    CHECK(reason(world, job, change) == Reason::immutable);
    // slurmctld takes it from the array's own record alone
    change.gpus = {};
    job.job_id = 19, job.array_task_id = 2, job.array.reset();
    CHECK_FALSE(ask(world, job, change));
}

TEST_CASE("a change of an array's pending rest claims for all that may run at once") {
    auto world = vision_world();
    const auto rest = rest_of(world, "gpu", 2);
    CHECK(ask(world, rest, gres("gres:gpu:3"))->claim == GpuVector{{"a100", 4}});
    CHECK(reason(world, rest, gres("gres:gpu:4")) == Reason::none);
    world.ledger.add(103, {"vision-lab/gpu", vision1, JobClass::guaranteed, {{"a100", 1}}});
    CHECK(reason(world, rest, gres("gres:gpu:4")) == Reason::headroom);
    auto task = rest;
    task.job_id = 19, task.array_task_id = 3, task.array.reset();
    CHECK(ask(world, task, gres("gres:gpu:3"))->claim == GpuVector{{"a100", 2}});
}

TEST_CASE("a queued array's throttle stays one that its contract could ever give") {
    auto world = vision_world([](Contract& contract) { contract.capacity["a100"].guaranteed = 2; });
    auto job = queued_of(world, 1);
    job.array_job_id = 17;
    job.type = WorkloadType::array;
    job.array = parse_array("0-15");
    world.ledger.set_throttle(1, 2, 1);
    Change change;
    change.asks = {"ArrayTaskThrottle"};
    change.array_limit = job.array_limit = 6;
    CHECK(ask(world, job, change)->cls == JobClass::queued);
    change.array_limit = job.array_limit = 7;
    CHECK(ask(world, job, change)->message ==
          "accord: job 17 would run 7 tasks at once, and vision-lab/gpu could ever hold the GPUs of 6: set "
          "ArrayTaskThrottle=6 or ask for fewer, or ask gpu-ops [impossible]");
}

namespace {

GpuAsk any_ask() {
    GpuAsk gpus;
    const auto count = [](int most) { return *rc::gen::inRange<std::int64_t>(1, most + 1); };
    gpus.min_nodes = count(4);
    gpus.max_nodes = *gpus.min_nodes + *rc::gen::inRange<std::int64_t>(0, 3);
    if (*rc::gen::arbitrary<bool>()) gpus.num_tasks = count(8);
    if (*rc::gen::arbitrary<bool>()) gpus.min_cpus = count(40);
    if (*rc::gen::arbitrary<bool>()) gpus.tres_per_node = "gres:gpu:" + std::to_string(count(4));
    if (*rc::gen::arbitrary<bool>()) gpus.tres_per_job = "gres:gpu:a100:" + std::to_string(count(8));
    return gpus;
}

Change any_change() {
    Change change;
    change.asks = {"Gres"};
    change.semantics = *rc::gen::element(UpdateSemantics::merge, UpdateSemantics::replace);
    const auto other = any_ask();
    if (*rc::gen::arbitrary<bool>()) change.gpus.tres_per_node = other.tres_per_node;
    if (*rc::gen::arbitrary<bool>()) change.gpus.tres_per_job = other.tres_per_job;
    if (*rc::gen::arbitrary<bool>()) change.gpus.num_tasks = other.num_tasks;
    if (*rc::gen::arbitrary<bool>()) change.gpus.min_cpus = other.min_cpus;
    if (*rc::gen::arbitrary<bool>()) change.gpus.min_nodes = other.min_nodes, change.gpus.max_nodes = other.max_nodes;
    return change;
}

struct Case {
    World world = vision_world();
    JobView job;

    Case() {
        job = job_of(world, *rc::gen::element<std::string>("gpu", "gpu-lend"), 0);
        world.take_shape();
        job.gpus = any_ask();
        count(1, job.partition == "gpu", claim_of(job.gpus));
        count(2, true, {{"a100", *rc::gen::inRange<Gpus>(0, 9)}});
        count(3, false, {{"a100", *rc::gen::inRange<Gpus>(0, 5)}});
    }
    void count(std::uint64_t number, bool guaranteed, GpuVector gpus) {
        world.ledger.add(number, {"vision-lab/gpu", vision1, guaranteed ? JobClass::guaranteed : JobClass::borrowed,
                                  std::move(gpus)});
    }
    [[nodiscard]] GpuVector claim_of(const GpuAsk& asked) const {
        auto of = job;
        of.gpus = asked;
        return maxima(gpus_of(of, world.config.pools.front(), world.shape));
    }
    [[nodiscard]] ContractClaims claims() const { return world.ledger.of("vision-lab/gpu"); }
    [[nodiscard]] const Contract& contract() const { return *world.contracts.front().contract; }
};

}  // namespace

TEST_CASE("a change that passes claims all that it, or a part of it, can come to, and stays within the contract") {
    CHECK(rc::check([] {
        Case one;
        const auto change = any_change();
        const auto before = one.claims();
        const auto decision = ask(one.world, one.job, change);
        RC_PRE(decision.has_value());
        RC_TAG(decision->allows());
        if (!decision->allows()) {
            RC_ASSERT(decision->claim.empty());
            return;
        }
        auto claimed = one.claim_of(one.job.gpus);
        add(claimed, decision->claim);
        for (const auto& outcome : outcomes(one.job.gpus, change.gpus, change.semantics))
            for (const auto& [type, gpus] : one.claim_of(outcome)) RC_ASSERT(amount_of(claimed, type) >= gpus);
        if (decision->claim.empty()) return;
        apply_to_ledger(one.world.ledger, 50, *decision);
        const auto after = one.claims();
        if (one.job.partition == "gpu")
            RC_ASSERT(amount_of(after.guaranteed, "a100") <= one.contract().capacity.at("a100").guaranteed);
        else
            RC_ASSERT(excess_of(one.contract(), after, "a100") <= *one.contract().capacity.at("a100").borrow_limit);
        RC_ASSERT(amount_of(after.guaranteed, "a100") >= amount_of(before.guaranteed, "a100"));
    }));
}

TEST_CASE("a change that narrows is refused only where Slurm would not do it") {
    CHECK(rc::check([] {
        Case one;
        Change change;
        change.asks = {"NumNodes"};
        change.semantics = *rc::gen::element(UpdateSemantics::merge, UpdateSemantics::replace);
        change.gpus.max_nodes = *rc::gen::inRange<std::int64_t>(1, *one.job.gpus.max_nodes + 1);
        change.gpus.min_nodes = std::min(*change.gpus.max_nodes, *one.job.gpus.min_nodes);
        change.time_limit_min = *rc::gen::inRange<std::int64_t>(1, 61);
        for (const auto& [type, gpus] : one.claim_of(amended(one.job.gpus, change.gpus, change.semantics)))
            RC_PRE(gpus <= amount_of(one.claim_of(one.job.gpus), type));
        one.world.contracts.front().state = *rc::gen::element(ContractState::active, ContractState::suspended);
        RC_ASSERT(ask(one.world, one.job, change)->allows());
    }));
}
