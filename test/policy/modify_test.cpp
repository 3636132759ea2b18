// SPDX-License-Identifier: GPL-2.0-or-later
// R17: changes to jobs that are already there.
#include "policy/modify.hpp"

#include "catch.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

constexpr std::uint32_t slurm_user = 64030;

/// vision-lab with 8 guaranteed and 4 to borrow; decision 1 is of a queued job.
World with_queued_job() {
    World world;
    world.contracts = {in_force(contract_for("vision-lab", 8, 4), {vision1})};
    world.ledger.set_queued(1, true, 1);
    return world;
}

JobView queued_job(Hold hold = Hold::user) {
    auto job = listed(17, "gpu-lend", 4);
    job.hold = hold;
    job.admin_comment = "accord:v1 decision=0-1";
    return job;
}

JobView borrowed_job(Gpus gpus = 4) {
    auto job = listed(18, "gpu-lend", gpus);
    job.admin_comment = "accord:v1 decision=0-2";
    return job;
}

std::optional<Decision> ask(const World& world, const JobView& job, Change change, std::uint32_t caller = vision1) {
    const Modification modification{job, std::to_string(job.job_id), caller, caller == slurm_user, std::move(change)};
    return decide_modification(world.policy(), world.ledger, modification, noon);
}

Change priority(PriorityChange to) { return {.priority = to}; }

Change action(const std::string& to) { return {.admin_comment = "accord:v1 action=5 to=" + to}; }

void hold_guaranteed(World& world, Gpus gpus) {
    world.ledger.add(100, {"vision-lab/gpu", vision1, JobClass::guaranteed, {{"a100", gpus}}});
}

}  // namespace

TEST_CASE("the owner of a queued job cannot release it, whoever holds it for Slurm") {
    const auto world = with_queued_job();
    for (const auto hold : {Hold::user, Hold::admin}) {
        for (const auto change : {PriorityChange::release, PriorityChange::set}) {
            const auto decision = ask(world, queued_job(hold), priority(change));
            REQUIRE(decision);
            CHECK(decision->kind == DecisionKind::modification);
            CHECK(decision->verdict == Verdict::rejected);
            CHECK(decision->reason == Reason::queued);
            CHECK(decision->job_id == 17);
            CHECK(decision->job_decision == DecisionId{0, 1});
            CHECK(decision->message ==
                  "accord: job 17 is queued until there is room for vision-lab/gpu and is released then: leave it, or "
                  "cancel and submit a smaller one; ask gpu-ops [queued]");
        }
    }
}

TEST_CASE("a queued job's partition is not its owner's to change") {
    const auto world = with_queued_job();
    for (const auto* partition : {"gpu", "debug", "gpu,debug"})
        CHECK(ask(world, queued_job(), {.partition = partition})->reason == Reason::queued);
    CHECK_FALSE(ask(world, queued_job(), {.partition = "gpu-lend"}));
}

TEST_CASE("the owner's hold of a queued job is kept on record, and a release withdraws it") {
    auto world = with_queued_job();
    const auto held = ask(world, queued_job(), priority(PriorityChange::hold));
    REQUIRE(held);
    CHECK(held->verdict == Verdict::queued);
    CHECK(held->allows());
    CHECK(held->user_hold == true);
    apply_to_ledger(world.ledger, 7, *held);
    CHECK(world.ledger.is_queued(1));
    CHECK(ask(world, queued_job(), priority(PriorityChange::release))->user_hold == false);
    CHECK_FALSE(ask(world, queued_job(), priority(PriorityChange::set))->user_hold);
}

TEST_CASE("holding and releasing a job that is not queued passes without a record") {
    const auto world = with_queued_job();
    auto held = borrowed_job();
    held.hold = Hold::user;
    CHECK_FALSE(ask(world, held, priority(PriorityChange::release)));
    CHECK_FALSE(ask(world, borrowed_job(), priority(PriorityChange::hold)));
    CHECK_FALSE(ask(world, listed(19, "gpu", 4), priority(PriorityChange::set)));
    CHECK_FALSE(ask(world, borrowed_job(), {}));
}

TEST_CASE("a stranger's hold and release of a queued job leave no wish on record, and his changes no claim") {
    auto world = with_queued_job();
    CHECK_FALSE(ask(world, queued_job(), priority(PriorityChange::hold), outsider));
    const auto released = ask(world, queued_job(), priority(PriorityChange::release), outsider);
    CHECK(released->reason == Reason::queued);
    CHECK_FALSE(released->user_hold);

    Change more;
    more.gpus.tres_per_job = "gres:gpu:6";
    more.asks = {"TresPerJob"};
    world.take_shape();
    const auto widened = ask(world, borrowed_job(2), more, outsider);
    CHECK(widened->message ==
          "accord: job 18 is user vision1's, and nobody else changes its TresPerJob to more: leave that to its user, or ask "
          "gpu-ops [immutable]");
    CHECK(widened->claim.empty());
    more.gpus.tres_per_job = "gres:gpu:1";
    CHECK(ask(world, borrowed_job(2), more, outsider)->allows());
}

TEST_CASE("an array's throttle is neither raised nor lowered by a stranger") {
    auto world = with_queued_job();
    auto base = std::make_shared<LedgerBase>();
    base->shape = world.shape;
    base->throttles = {{2, 2}};
    world.ledger.rebase(base);
    auto job = borrowed_job(1);
    job.array_job_id = job.job_id;
    job.array = ArraySpec{"0-3", 4, {}};
    for (const auto limit : {1, 4}) {
        Change change;
        change.array_limit = limit;
        change.asks = {"ArrayTaskThrottle"};
        CHECK(ask(world, job, change, outsider)->reason == Reason::immutable);
    }
}

TEST_CASE("a job that its user has held starts by a release only while its contract is in force") {
    auto world = with_queued_job();
    auto held = borrowed_job();
    held.hold = Hold::user;
    world.contracts[0].state = ContractState::suspended;
    CHECK(ask(world, held, priority(PriorityChange::release))->message ==
          "accord: job 18 stays held, since contract vision-lab/gpu is not in force: release it when it is again, or ask "
          "gpu-ops [not_active]");
    CHECK_FALSE(ask(world, borrowed_job(), priority(PriorityChange::release)));
    CHECK(ask(world, held, priority(PriorityChange::release), slurm_user)->allows());
}

TEST_CASE("a job stays with its contract") {
    const auto world = with_queued_job();
    const auto decision = ask(world, borrowed_job(), {.account = "speech"});
    CHECK(decision->reason == Reason::immutable);
    CHECK(decision->message ==
          "accord: job 18 cannot move from account vision-lab to speech, since its grant is for the first: cancel and "
          "submit again with --account=speech; ask gpu-ops [immutable]");
    CHECK_FALSE(ask(world, borrowed_job(), {.account = "Vision-Lab"}));

    const auto moved = ask(world, borrowed_job(), {.partition = "debug"});
    CHECK(moved->reason == Reason::immutable);
    CHECK(moved->message ==
          "accord: job 18 cannot move from partition gpu-lend to debug, since it was judged for the first: cancel and "
          "submit again with --partition=debug; ask gpu-ops [immutable]");
    const auto raised = ask(world, borrowed_job(), {.partition = "gpu"});
    CHECK(raised->reason == Reason::immutable);
    CHECK(raised->message ==
          "accord: job 18 moves between gpu and gpu-lend by itself, as its contract has room: leave it; ask gpu-ops "
          "[immutable]");
}

TEST_CASE("the comment that names a job's decision is not changed") {
    const auto world = with_queued_job();
    CHECK(ask(world, borrowed_job(), {.admin_comment = "accord:v1 action=1 to=guaranteed"})->reason ==
          Reason::immutable);
    CHECK_FALSE(ask(world, borrowed_job(), {.admin_comment = "accord:v1 decision=0-2"}));
}

TEST_CASE("a path is changed only to one within the contract") {
    auto world = with_queued_job();
    auto contract = contract_for("vision-lab", 8, 4);
    contract.filesystem.hidden = {"/proj"};
    contract.filesystem.rw = {"/proj/vision"};
    world.contracts = {in_force(contract, {vision1})};
    CHECK(ask(world, borrowed_job(), {.std_out = "/proj/speech/out"})->reason == Reason::scope_path);
    CHECK_FALSE(ask(world, borrowed_job(), {.std_out = "/proj/vision/out"}));
}

TEST_CASE("a changed path is judged with the job's others") {
    auto world = with_queued_job();
    auto contract = contract_for("vision-lab", 8, 4);
    contract.filesystem.hidden = {"/proj"};
    contract.filesystem.rw = {"/proj/vision"};
    contract.filesystem.ro = {"/proj/data"};
    world.contracts = {in_force(contract, {vision1})};
    auto job = borrowed_job();
    job.work_dir = "/proj/vision/a";
    job.std_err = "../err";
    const auto reason = [&](Change change) {
        const auto decision = ask(world, job, std::move(change));
        return decision ? decision->reason : Reason::none;
    };
    CHECK(reason({.std_out = "../../speech/out"}) == Reason::scope_path);
    CHECK(reason({.std_out = "../out"}) == Reason::none);
    CHECK(reason({.std_in = "../../../proj/speech/in"}) == Reason::scope_path);
    CHECK(reason({.work_dir = "/proj/vision"}) == Reason::scope_path);
    CHECK(reason({.work_dir = "/proj/data", .std_err = "/dev/null"}) == Reason::scope_path);
    CHECK(reason({.work_dir = "/proj/vision/b"}) == Reason::none);
    CHECK(reason({.priority = PriorityChange::hold}) == Reason::none);
}

TEST_CASE("ungoverned jobs are none of Accord's business until they enter a pool") {
    const auto world = with_queued_job();
    const auto job = listed(20, "debug", 4);
    CHECK_FALSE(ask(world, job, {.account = "speech", .asks = {"Gres"}}));
    CHECK_FALSE(ask(world, job, {.partition = "long"}));
    for (const auto* partition : {"gpu", "gpu-lend", "long,gpu"}) {
        const auto decision = ask(world, job, {.partition = partition});
        CHECK(decision->reason == Reason::immutable);
        CHECK(decision->message ==
              "accord: job 20 was not judged for partition gpu: cancel and submit it there; ask group accord-admin "
              "[immutable]");
    }
}

TEST_CASE("a promotion passes while the headroom is there, and is stale afterwards") {
    auto world = with_queued_job();
    hold_guaranteed(world, 4);
    const auto promoted = ask(world, borrowed_job(4), action("guaranteed"), slurm_user);
    REQUIRE(promoted);
    CHECK(promoted->verdict == Verdict::admitted);
    CHECK(promoted->cls == JobClass::guaranteed);
    CHECK(promoted->claim == GpuVector{{"a100", 4}});
    CHECK(promoted->rewrite.admin_comment == "accord:v1 decision=0-2");
    CHECK(promoted->contract == "vision-lab/gpu");
    CHECK(promoted->uid == vision1);
    apply_to_ledger(world.ledger, 101, *promoted);

    const auto stale = ask(world, borrowed_job(1), action("guaranteed"), slurm_user);
    CHECK(stale->verdict == Verdict::rejected);
    CHECK(stale->reason == Reason::stale);
    CHECK(stale->message ==
          "accord: job 18: action 5 to guaranteed is overtaken: 0 a100 of headroom are left [stale]");
}

TEST_CASE("a release to borrowed keeps to the borrow limit and to R6") {
    auto world = with_queued_job();
    hold_guaranteed(world, 8);
    const auto released = ask(world, queued_job(Hold::admin), action("borrowed"), slurm_user);
    CHECK(released->cls == JobClass::borrowed);
    CHECK(released->reason == Reason::headroom);
    apply_to_ledger(world.ledger, 101, *released);
    CHECK_FALSE(world.ledger.is_queued(1, 17));
    CHECK(ask(world, queued_job(Hold::admin), action("borrowed"), slurm_user)->reason == Reason::stale);

    auto fresh = with_queued_job();
    auto not_requeueable = queued_job(Hold::admin);
    not_requeueable.requeueable = false;
    CHECK(ask(fresh, not_requeueable, action("borrowed"), slurm_user)->reason == Reason::stale);
    CHECK(ask(fresh, not_requeueable, action("guaranteed"), slurm_user)->cls == JobClass::guaranteed);
}

TEST_CASE("a hold for a queued job passes while the job is still held") {
    auto world = with_queued_job();
    const auto held = ask(world, queued_job(), action("queued"), slurm_user);
    CHECK(held->cls == JobClass::queued);
    CHECK(held->claim.empty());
    apply_to_ledger(world.ledger, 101, *held);
    CHECK(world.ledger.is_queued(1));
    CHECK(ask(world, queued_job(Hold::none), action("queued"), slurm_user)->reason == Reason::stale);
}

TEST_CASE("a job goes back to the queue while its contract claims more than it has, and its user's hold with it") {
    World world;
    world.contracts = {in_force(contract_for("vision-lab", 8, 4), {vision1})};
    auto again = listed(18, "gpu", 8);
    hold_guaranteed(world, 8);
    CHECK(ask(world, again, action("queued"), slurm_user)->reason == Reason::stale);
    world.ledger.add(101, {"vision-lab/gpu", vision1, JobClass::guaranteed, {{"a100", 8}}});
    auto decision = ask(world, again, action("queued"), slurm_user);
    REQUIRE(decision->verdict == Verdict::admitted);
    CHECK(decision->cls == JobClass::queued);
    CHECK(decision->claim.empty());
    CHECK_FALSE(decision->user_hold);
    again.hold = Hold::user;
    CHECK(ask(world, again, action("queued"), slurm_user)->user_hold == true);
}

TEST_CASE("a pending guaranteed job is lowered to borrowed while the guarantee is exceeded and the excess allowed") {
    World world;
    world.contracts = {in_force(contract_for("vision-lab", 8, 4), {vision1})};
    const auto job = listed(18, "gpu", 4);
    hold_guaranteed(world, 8);
    CHECK(ask(world, job, action("borrowed"), slurm_user)->reason == Reason::stale);
    world.ledger.add(101, {"vision-lab/gpu", vision1, JobClass::guaranteed, {{"a100", 4}}});
    auto decision = ask(world, job, action("borrowed"), slurm_user);
    REQUIRE(decision->verdict == Verdict::admitted);
    CHECK(decision->cls == JobClass::borrowed);
    CHECK(decision->reason == Reason::headroom);
    CHECK(decision->claim == GpuVector{{"a100", 4}});
    auto fixed = job;
    fixed.requeueable = false;
    CHECK(ask(world, fixed, action("borrowed"), slurm_user)->reason == Reason::stale);
    world.ledger.add(102, {"vision-lab/gpu", vision1, JobClass::borrowed, {{"a100", 1}}});
    CHECK(ask(world, job, action("borrowed"), slurm_user)->reason == Reason::stale);
    CHECK(ask(world, job, action("queued"), slurm_user)->verdict == Verdict::admitted);
}

TEST_CASE("any pending job of a contract that is not in force is held, and a borrowed one whenever accordd says so") {
    World world;
    world.contracts = {in_force(contract_for("vision-lab", 8), {vision1})};
    CHECK(ask(world, listed(18, "gpu", 4), action("queued"), slurm_user)->reason == Reason::stale);
    CHECK(ask(world, listed(18, "gpu-lend", 4), action("queued"), slurm_user)->cls == JobClass::queued);
    world.contracts.front().state = ContractState::suspended;
    CHECK(ask(world, listed(18, "gpu", 4), action("queued"), slurm_user)->cls == JobClass::queued);
}

TEST_CASE("an action on a job that has moved on is stale") {
    auto world = with_queued_job();
    auto running = borrowed_job();
    running.state = JobState::running;
    CHECK(ask(world, running, action("guaranteed"), slurm_user)->reason == Reason::stale);
    CHECK(ask(world, listed(19, "gpu", 4), action("guaranteed"), slurm_user)->reason == Reason::stale);
    CHECK(ask(world, borrowed_job(), action("borrowed"), slurm_user)->reason == Reason::stale);
    CHECK(ask(world, borrowed_job(0), action("guaranteed"), slurm_user)->reason == Reason::stale);
    world.contracts.front().state = ContractState::suspended;
    CHECK(ask(world, borrowed_job(), action("guaranteed"), slurm_user)->reason == Reason::stale);
}

TEST_CASE("an array's pending rest is promoted with what may run at once") {
    auto world = with_queued_job();
    auto rest = borrowed_job(2);
    rest.array_job_id = rest.job_id;
    rest.array = parse_array("3-9%3");
    CHECK(ask(world, rest, action("guaranteed"), slurm_user)->claim == GpuVector{{"a100", 6}});
    hold_guaranteed(world, 3);
    CHECK(ask(world, rest, action("guaranteed"), slurm_user)->reason == Reason::stale);
}

TEST_CASE("operators' changes are recorded and counted, not judged") {
    auto world = with_queued_job();
    auto decision = ask(world, borrowed_job(), {.asks = {"Gres"}}, slurm_user);
    CHECK(decision->verdict == Verdict::admitted);
    CHECK_FALSE(decision->cls);
    CHECK(decision->claim.empty());
    CHECK(decision->message == "accord: job 18 modified by 64030");

    hold_guaranteed(world, 8);
    decision = ask(world, borrowed_job(), {.partition = "gpu"}, slurm_user);
    CHECK(decision->cls == JobClass::guaranteed);
    CHECK(decision->claim == GpuVector{{"a100", 4}});

    decision = ask(world, queued_job(), priority(PriorityChange::release), slurm_user);
    CHECK(decision->cls == JobClass::borrowed);
    CHECK(decision->claim == GpuVector{{"a100", 4}});
    apply_to_ledger(world.ledger, 101, *decision);
    CHECK_FALSE(world.ledger.is_queued(1, 17));

    decision = ask(world, listed(20, "debug", 4), {.partition = "gpu"}, slurm_user);
    CHECK(decision->contract == "vision-lab/gpu");
    CHECK(decision->cls == JobClass::guaranteed);
    CHECK_FALSE(ask(world, listed(20, "debug", 4), {.account = "speech"}, slurm_user));
}

TEST_CASE("a job that cannot be read keeps what it was judged by") {
    const auto world = with_queued_job();
    const auto unread = [&](Change change, std::uint32_t caller) {
        return decide_modification(world.policy(), world.ledger,
                                   {std::nullopt, "9_2", caller, caller == slurm_user, std::move(change)}, noon);
    };
    CHECK(unread(priority(PriorityChange::release), vision1)->message ==
          "accord: job 9_2: its state could not be read, so it keeps what it was judged by: cancel and submit again, or "
          "ask group accord-admin [immutable]");
    CHECK_FALSE(unread({}, vision1));
    CHECK(unread(action("guaranteed"), slurm_user)->reason == Reason::immutable);
    CHECK(unread({.asks = {"Gres"}}, slurm_user)->verdict == Verdict::admitted);
}

namespace {

JobView pending_rest(const char* indices, Gpus gpus = 2) {
    auto rest = borrowed_job(gpus);
    rest.array_job_id = rest.job_id;
    rest.array = parse_array(indices);
    rest.array_limit = rest.array->limit;
    return rest;
}

Change throttle(std::int64_t limit, const std::string& admin_comment = "") {
    Change change;
    change.array_limit = limit;
    change.asks = {"ArrayTaskThrottle"};
    if (!admin_comment.empty()) change.admin_comment = admin_comment;
    return change;
}

}  // namespace

TEST_CASE("a throttle that accordd puts back passes, whatever the job and its contract are by then") {
    auto world = with_queued_job();
    hold_guaranteed(world, 8);
    world.contracts.front().state = ContractState::suspended;
    auto running = pending_rest("3-9%3");
    running.state = JobState::running;
    for (const auto& job : {pending_rest("3-9%3"), running}) {
        const auto decision = ask(world, job, throttle(3, "accord:v1 action=5 to=borrowed"), slurm_user);
        REQUIRE(decision);
        CHECK(decision->verdict == Verdict::admitted);
        CHECK_FALSE(decision->cls);
        CHECK(decision->claim.empty());
        CHECK(decision->rewrite.admin_comment == "accord:v1 decision=0-2");
        CHECK(decision->message == "accord: job 18: array throttle put back to 3 by action 5");
    }
}

TEST_CASE("putting a throttle back leaves what an operator has set meanwhile on record") {
    const auto world = with_queued_job();
    CHECK_FALSE(ask(world, pending_rest("3-9%3"), throttle(3, "accord:v1 action=5 to=borrowed"), slurm_user)->throttle);
}

TEST_CASE("an operator's throttle goes on record, a user's does not") {
    auto world = with_queued_job();
    const auto rest = pending_rest("3-9%6");
    CHECK(ask(world, rest, throttle(6), slurm_user)->throttle == 6);
    CHECK(ask(world, rest, throttle(0), slurm_user)->throttle == 0);
    CHECK(ask(world, rest, throttle(6))->reason == Reason::immutable);
    CHECK_FALSE(ask(world, rest, throttle(6))->throttle);
    // Slurm takes no throttle from another record of the array.
    auto task = rest;
    task.job_id = 19, task.array_task_id = 2, task.array.reset();
    CHECK_FALSE(ask(world, task, throttle(6), slurm_user)->throttle);
    world.config.mode = Mode::observe;
    CHECK(ask(world, rest, throttle(6))->throttle == 6);
}

TEST_CASE("an array's claim comes with the throttle that it was counted with") {
    auto world = with_queued_job();
    const auto promoted = ask(world, pending_rest("3-9%3"), action("guaranteed"), slurm_user);
    CHECK(promoted->claim == GpuVector{{"a100", 6}});
    CHECK(promoted->throttle == 3);
    CHECK(ask(world, pending_rest("3-6", 1), {.partition = "gpu"}, slurm_user)->throttle == 0);
    auto task = pending_rest("3-9%3");
    task.job_id = 19, task.array_task_id = 2, task.array.reset();
    CHECK_FALSE(ask(world, task, action("guaranteed"), slurm_user)->throttle);
    hold_guaranteed(world, 8);
    const auto stale = ask(world, pending_rest("3-9%3"), action("guaranteed"), slurm_user);
    CHECK(stale->reason == Reason::stale);
    CHECK_FALSE(stale->throttle);
}
