// SPDX-License-Identifier: GPL-2.0-or-later
// Submissions: which pool, which contract, which class, and what the researcher reads.
#include "policy/decide.hpp"

#include "catch.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

/// vision-lab with 8 guaranteed and 4 to borrow, speech with 4 guaranteed.
World two_labs() {
    World world;
    world.contracts = {in_force(contract_for("vision-lab", 8, 4), {vision1}),
                       in_force(contract_for("speech", 4), {speech1})};
    return world;
}

JobRequest in_partitions(JobRequest request, std::vector<std::string> partitions) {
    request.partitions = std::move(partitions);
    return request;
}

JobRequest array(const char* indices, const std::string& tres) {
    auto request = batch(tres);
    request.type = WorkloadType::array;
    request.array = parse_array(indices);
    return request;
}

void add_pool(World& world, const std::string& partition) {
    world.config.pools.push_back(pool_named(partition, {{"a100", 16}}));
    world.shape.partitions[partition] = partition_of(partition, "a100", 4, 4);
    world.take_shape();
}

}  // namespace

TEST_CASE("the same command is guaranteed, then borrowed, then queued", "[B07]") {
    auto world = two_labs();
    const auto first = world.submit(batch("gres:gpu:8"));
    CHECK(first.verdict == Verdict::admitted);
    CHECK(first.cls == JobClass::guaranteed);
    CHECK(first.reason == Reason::none);
    CHECK(first.claim == GpuVector{{"a100", 8}});
    CHECK(first.gpus == GpuIntervals{{"a100", {8, 8}}});
    CHECK(first.message == "accord: guaranteed: 8 a100 of vision-lab/gpu (8 of 8 in use)");
    CHECK(first.rewrite.account == "vision-lab");
    CHECK(first.rewrite.partition == "gpu");
    CHECK_FALSE(first.rewrite.hold);
    CHECK(first.rewrite.site_factor == 100'000);
    CHECK(first.contract == "vision-lab/gpu");
    CHECK(first.contract_version == 3);
    CHECK(first.user == "vision1");

    const auto second = world.submit(batch("gres:gpu:4"));
    CHECK(second.cls == JobClass::borrowed);
    CHECK(second.reason == Reason::headroom);
    CHECK(second.claim == GpuVector{{"a100", 4}});
    CHECK(second.rewrite.partition == "gpu-lend");
    CHECK(second.rewrite.site_factor == 99'500);
    CHECK(second.partition == "gpu");
    CHECK(second.message ==
          "accord: borrowed: 4 a100 for vision-lab/gpu (0 of its 8 guaranteed a100 are free; in use: vision1 8); may be "
          "preempted and requeued");

    const auto third = world.submit(batch("gres:gpu:4"));
    CHECK(third.verdict == Verdict::queued);
    CHECK(third.cls == JobClass::queued);
    CHECK(third.reason == Reason::borrow_limit);
    CHECK(third.claim.empty());
    CHECK(third.rewrite.partition == "gpu-lend");
    CHECK(third.rewrite.hold);
    CHECK_FALSE(third.rewrite.site_factor);
    CHECK(third.message ==
          "accord: queued: 4 a100 for vision-lab/gpu (0 of its 8 guaranteed a100 are free; in use: vision1 12); waits for "
          "these or for room within the borrow limit (4 of 4 in use)");
    CHECK(world.ledger.is_queued(3));
}

TEST_CASE("another contract's claims change nothing") {
    auto world = two_labs();
    world.submit(batch("gres:gpu:4", "speech", speech1));
    world.submit(batch("gres:gpu:8", "speech", speech1));
    CHECK(world.submit(batch("gres:gpu:8")).cls == JobClass::guaranteed);
}

TEST_CASE("--gpus and --gres of the same job are decided alike", "[A01]") {
    const auto world = two_labs();
    auto by_node = batch("");
    by_node.gpus.tres_per_node = "gres:gpu:4";
    by_node.gpus.min_nodes = by_node.gpus.max_nodes = 1;
    auto by_job = batch("gres:gpu:4");
    by_job.gpus.min_nodes = by_job.gpus.max_nodes = 1;
    const auto left = world.ask(by_node), right = world.ask(by_job);
    CHECK(left->message == right->message);
    CHECK(left->claim == right->claim);
    CHECK(left->gpus == right->gpus);
}

TEST_CASE("a model number without a count is told apart from a count", "[A34]") {
    auto world = two_labs();
    world.contracts.front().contract = std::make_shared<Contract>([] {
        auto contract = contract_for("vision-lab", 8, 4);
        contract.workloads.max_gpus_per_job = 4;
        return contract;
    }());
    const auto message_for = [&](const char* tres) { return world.ask(batch(tres))->message; };
    CHECK(message_for("gres:gpu:3090").find("(did you mean gpu:3090:1?) [gpus_per_job]") != std::string::npos);
    CHECK(message_for("gres:gpu:17").find("did you mean") == std::string::npos);
    CHECK(message_for("gres:gpu:1K").find("did you mean") == std::string::npos);
    CHECK(message_for("gres:gpu:3090:1").find("did you mean") == std::string::npos);
}

TEST_CASE("what only looks like GPUs is admitted as none, and the line says so", "[A08]") {
    auto world = two_labs();
    const auto decision = world.ask(batch("gpu:1"));
    CHECK(decision->verdict == Verdict::admitted);
    CHECK(decision->reason == Reason::no_gpu);
    CHECK(decision->claim.empty());
    CHECK(decision->message.ends_with("\"gpu:1\" has no \"gres:\" or \"gres/\" before it, so Slurm takes no GPU from it)"));
}

TEST_CASE("accounts are compared in lower case", "[A28]") {
    const auto decision = two_labs().ask(batch("gres:gpu:1", "VISION-Lab"));
    CHECK(decision->cls == JobClass::guaranteed);
    CHECK(decision->account == "vision-lab");
    CHECK(decision->rewrite.account == "vision-lab");
}

TEST_CASE("no partition is Slurm's default one", "[A28]") {
    auto world = two_labs();
    CHECK(world.ask(in_partitions(batch("gres:gpu:1"), {}))->rewrite.partition == "gpu");
    world.shape.default_partition = "debug";
    world.take_shape();
    CHECK_FALSE(world.ask(in_partitions(batch("gres:gpu:1"), {})));
}

TEST_CASE("no partition while the default one is not known is refused, asking for one") {
    auto world = two_labs();
    world.shape.default_partition.reset();
    world.take_shape();
    const auto decision = world.ask(in_partitions(batch("gres:gpu:1"), {}));
    CHECK(decision->reason == Reason::store_unavailable);
    CHECK(decision->message ==
          "accord: no partition is named, and the default one is not known yet: name one with --partition, or ask group "
          "accord-admin [store_unavailable]");
}

TEST_CASE("jobs of other partitions are none of Accord's business") {
    CHECK_FALSE(two_labs().ask(in_partitions(batch("gres:gpu:1"), {"debug"})));
    CHECK_FALSE(two_labs().ask(in_partitions(batch("gres:gpu:1"), {"debug", "long"})));
}

TEST_CASE("a lend partition takes no direct submission") {
    const auto decision = two_labs().ask(in_partitions(batch("gres:gpu:1"), {"gpu-lend"}));
    CHECK(decision->verdict == Verdict::rejected);
    CHECK(decision->reason == Reason::lend_partition);
    CHECK(decision->message ==
          "accord: partition gpu-lend takes no direct submissions: submit to gpu, and the job borrows there by itself "
          "where its contract allows; ask group accord-admin [lend_partition]");
}

TEST_CASE("governed and ungoverned partitions do not mix") {
    const auto decision = two_labs().ask(in_partitions(batch("gres:gpu:1"), {"gpu", "debug"}));
    CHECK(decision->reason == Reason::mixed_partitions);
    CHECK(decision->message ==
          "accord: of the partitions gpu,debug some are governed by contract and debug is not: name only one kind; ask "
          "group accord-admin [mixed_partitions]");
}

TEST_CASE("of several pools the first guaranteed one is taken, then borrowed, then queued", "[A28]") {
    auto world = two_labs();
    add_pool(world, "big");
    auto other = contract_for("vision-lab", 2, 2);
    other.partition = "big";
    world.contracts.push_back(in_force(other, {vision1}));
    const auto asked = [&](const std::string& tres) {
        return *world.ask(in_partitions(batch(tres), {"big", "gpu"}));
    };
    CHECK(asked("gres:gpu:2").rewrite.partition == "big");
    CHECK(asked("gres:gpu:3").rewrite.partition == "gpu");
    CHECK(asked("gres:gpu:9").rewrite.partition == "gpu-lend");
    CHECK(asked("gres:gpu:9").cls == JobClass::borrowed);

    auto not_requeueable = in_partitions(batch("gres:gpu:8"), {"big", "gpu"});
    not_requeueable.requeueable = false;
    world.submit(batch("gres:gpu:1"));
    const auto queued = *world.ask(not_requeueable);
    CHECK(queued.cls == JobClass::queued);
    CHECK(queued.partition == "gpu");

    const auto rejected = asked("gres:gpu:17");
    CHECK(rejected.reason == Reason::impossible);
    CHECK(rejected.partition == "big");
}

TEST_CASE("without an account the user's only contract is taken", "[A27]") {
    auto world = two_labs();
    auto request = batch("gres:gpu:1");
    request.account.reset();
    auto decision = world.ask(request);
    CHECK(decision->contract == "vision-lab/gpu");
    CHECK(decision->rewrite.account == "vision-lab");

    request.uid = outsider;
    decision = world.ask(request);
    CHECK(decision->reason == Reason::no_contract);
    CHECK(decision->message ==
          "accord: user outsider has no active contract in partition gpu: ask group accord-admin for one [no_contract]");

    request.uid = vision1;
    world.contracts.push_back(in_force(contract_for("audio", 2), {vision1}));
    decision = world.ask(request);
    CHECK(decision->reason == Reason::ambiguous_account);
    CHECK(decision->message ==
          "accord: user vision1 has several contracts in partition gpu: name one with --account=audio or "
          "--account=vision-lab [ambiguous_account]");

    world.contracts.back().state = ContractState::suspended;
    CHECK(world.ask(request)->contract == "vision-lab/gpu");
}

TEST_CASE("an exempt user is not judged, and counts where he runs") {
    auto world = two_labs();
    const auto decision = world.submit(batch("gres:gpu:4", "vision-lab", 0));
    CHECK(decision.verdict == Verdict::admitted);
    CHECK(decision.cls == JobClass::exempt);
    CHECK(decision.reason == Reason::exempt);
    CHECK(decision.rewrite.partition.empty());
    CHECK(decision.rewrite.account.empty());
    CHECK(amount_of(world.ledger.of("vision-lab/gpu").guaranteed, "a100") == 4);
    CHECK(world.ask(in_partitions(batch("", "", 0), {"gpu-lend"}))->cls == JobClass::exempt);
    CHECK_FALSE(world.ask(in_partitions(batch("", "", 0), {"debug"})));
}

TEST_CASE("each rung of the ladder says what is wrong, the limit, what to change and whom to ask", "[A33][H03]") {
    struct Row {
        Reason reason;
        std::function<void(World&, Contract&, JobRequest&)> change;
        const char* message;
    };
    for (const auto& [reason, change, message] : std::vector<Row>{
             {Reason::no_contract, [](World&, Contract&, JobRequest& request) { request.account = "nobody\n"; },
              "accord: account nobody? has no contract in partition gpu: use --account=vision-lab, or ask group "
              "accord-admin [no_contract]"},
             {Reason::not_active,
              [](World&, Contract& contract, JobRequest&) { contract.valid_until_s = 1'772'319'599; },
              "accord: contract vision-lab/gpu was in force until 2026-02-28T22:59:59Z: ask gpu-ops to renew it "
              "[not_active]"},
             {Reason::not_active,
              [](World&, Contract& contract, JobRequest&) { contract.valid_from_s = 1'798'761'600; },
              "accord: contract vision-lab/gpu is in force only from 2027-01-01T00:00:00Z on: ask gpu-ops [not_active]"},
             {Reason::not_member, [](World&, Contract&, JobRequest& request) { request.uid = outsider; },
              "accord: user outsider is not a member of contract vision-lab/gpu: ask gpu-ops [not_member]"},
             {Reason::workload_type,
              [](World&, Contract& contract, JobRequest&) {
                  contract.workloads.allowed = {WorkloadType::array, WorkloadType::interactive};
              },
              "accord: contract vision-lab/gpu allows array, interactive jobs, and this one is batch: submit it as one "
              "of these, or ask gpu-ops [workload_type]"},
             {Reason::workload_type, [](World&, Contract&, JobRequest& request) { request.type = WorkloadType::het; },
              "accord: contract vision-lab/gpu allows batch, array, interactive jobs, and this one is het: submit it as "
              "one of these, or ask gpu-ops [workload_type]"},
             {Reason::workload_type, [](World&, Contract&, JobRequest& request) { request.type = WorkloadType::cron; },
              "accord: contract vision-lab/gpu allows batch, array, interactive jobs, and this one is cron: submit it as "
              "one of these, or ask gpu-ops [workload_type]"},
             {Reason::workload_type,
              [](World&, Contract&, JobRequest& request) {
                  request.type = WorkloadType::array;
                  request.array_malformed = true;
              },
              "accord: the indices or the limit of --array cannot be read: correct them [workload_type]"},
             {Reason::time_limit,
              [](World&, Contract& contract, JobRequest& request) {
                  contract.workloads.max_walltime_min = 2880;
                  request.time_limit_min = 2881;
              },
              "accord: contract vision-lab/gpu: the time limit 2-00:01:00 is over its max_walltime 2-00:00:00: ask for "
              "--time=2-00:00:00 or less, or ask gpu-ops [time_limit]"},
             {Reason::gpu_type,
              [](World&, Contract&, JobRequest& request) { request.gpus.tres_per_job = "gres:gpu:v100:2"; },
              "accord: contract vision-lab/gpu has no GPUs of type v100, of which 2 are asked for: ask for a100, or ask "
              "gpu-ops [gpu_type]"},
             {Reason::gpu_type, [](World& world, Contract&, JobRequest&) { world.config.pools[0].gpus["v100"] = 16; },
              "accord: partition gpu has several GPU types, and 2 GPUs are asked for without one: name one of a100, as "
              "in --gpus=a100:2 [gpu_type]"},
             {Reason::gpus_per_job,
              [](World&, Contract& contract, JobRequest&) { contract.workloads.max_gpus_per_job = 1; },
              "accord: contract vision-lab/gpu: 2 a100 asked for, and its max_gpus_per_job is 1: ask for fewer, or ask "
              "gpu-ops [gpus_per_job]"},
             {Reason::gpus_per_user,
              [](World&, Contract& contract, JobRequest&) { contract.members.max_gpus_per_user = 1; },
              "accord: contract vision-lab/gpu: 2 a100 asked for, 0 of its GPUs are claimed by user vision1's other "
              "jobs, and its max_gpus_per_user is 1: wait for these or ask for fewer, or ask gpu-ops [gpus_per_user]"},
             {Reason::cpus_per_gpu,
              [](World&, Contract& contract, JobRequest& request) {
                  contract.workloads.max_cpus_per_gpu = 3;
                  request.gpus.num_tasks = 7;
              },
              "accord: contract vision-lab/gpu: 4 CPUs are asked for with each GPU, and its max_cpus_per_gpu is 3: ask "
              "for fewer CPUs or more GPUs, or ask gpu-ops [cpus_per_gpu]"},
             {Reason::login_env,
              [](World&, Contract& contract, JobRequest& request) {
                  contract.filesystem.hidden = {"/proj"};
                  request.login_env = true;
              },
              "accord: contract vision-lab/gpu does not let jobs load the login environment, and sbatch does with "
              "--get-user-env and any --export but ALL: set variables before sbatch and leave --export out, or ask gpu-ops "
              "[login_env]"},
             {Reason::scope_path,
              [](World&, Contract& contract, JobRequest& request) {
                  contract.filesystem.hidden = {"/proj"};
                  contract.filesystem.rw = {"/proj/vision"};
                  request.work_dir = "/proj/speech";
              },
              "accord: contract vision-lab/gpu: the working directory /proj/speech is outside its paths: use a path "
              "under /proj/vision, or ask gpu-ops [scope_path]"},
             {Reason::scope_path,
              [](World&, Contract& contract, JobRequest& request) {
                  contract.filesystem.hidden = {"/proj"};
                  request.std_out = "/proj/out";
              },
              "accord: contract vision-lab/gpu: the stdout /proj/out is outside its paths: use a path outside /proj, or "
              "ask gpu-ops [scope_path]"},
             {Reason::env_too_large, [](World&, Contract&, JobRequest& request) { request.spank_env_bytes = 204'800; },
              "accord: the job's SPANK environment has 204800 bytes, and 65536 are the most: leave out the options of "
              "SPANK plugins that fill it, or ask group accord-admin [env_too_large]"},
             {Reason::impossible, [](World&, Contract&, JobRequest& request) { request.node_list_malformed = true; },
              "accord: the nodes of --nodelist cannot be read: correct them [impossible]"},
             {Reason::impossible,
              [](World&, Contract&, JobRequest& request) { request.gpus.tres_per_job = "gres:gpu:17"; },
              "accord: asks for 17 a100, and partition gpu has 16: ask for fewer, or ask gpu-ops [impossible]"},
             {Reason::impossible,
              [](World&, Contract&, JobRequest& request) { request.gpus.tres_per_job = "gres:gpu:3090"; },
              "accord: asks for 3090 a100, and partition gpu has 16: ask for fewer, or ask gpu-ops (did you mean "
              "gpu:3090:1?) [impossible]"},
             {Reason::impossible,
              [](World&, Contract& contract, JobRequest& request) {
                  contract.capacity["a100"].borrow_limit = 4;
                  request.gpus.tres_per_job = "gres:gpu:13";
              },
              "accord: asks for 13 a100, more than vision-lab/gpu could ever hold (guaranteed 8, borrow limit 4, "
              "16 in partition gpu; 0 in use): ask for 12 or fewer, or ask gpu-ops [impossible]"},
             {Reason::impossible,
              [](World&, Contract&, JobRequest& request) {
                  request.requeueable = false;
                  request.gpus.tres_per_job = "gres:gpu:9";
              },
              "accord: asks for 9 a100, more than vision-lab/gpu could ever hold (guaranteed 8, no borrowing, as "
              "it could not be requeued, 16 in partition gpu; 0 in use): ask for 8 or fewer, or ask gpu-ops "
              "[impossible]"},
         }) {
        World world;
        auto contract = contract_for("vision-lab", 8);
        auto request = batch("gres:gpu:2");
        change(world, contract, request);
        world.contracts = {in_force(std::move(contract), {vision1})};
        const auto decision = world.ask(request);
        REQUIRE(decision);
        CHECK(decision->message == message);
        CHECK(decision->reason == reason);
        CHECK(decision->verdict == Verdict::rejected);
        CHECK_FALSE(decision->cls);
        CHECK(decision->claim.empty());
        CHECK(decision->message.find('\n') == std::string::npos);
    }
}

TEST_CASE("a member's claims are counted together, an array's by the tasks at once") {
    World world;
    auto contract = contract_for("vision-lab", 8);
    contract.members.max_gpus_per_user = 4;
    world.contracts = {in_force(contract, {vision1, speech1})};
    CHECK(world.submit(batch("gres:gpu:3")).cls == JobClass::guaranteed);
    CHECK(world.ask(batch("gres:gpu:2"))->reason == Reason::gpus_per_user);
    CHECK(world.ask(batch("gres:gpu:1"))->cls == JobClass::guaranteed);
    auto other = batch("gres:gpu:4");
    other.uid = speech1;
    CHECK(world.ask(other)->cls == JobClass::guaranteed);
    auto array = batch("gres:gpu:1");
    array.array = parse_array("0-9");
    CHECK(world.ask(array)->reason == Reason::gpus_per_user);
    array.array = parse_array("0-9%1");
    CHECK(world.ask(array)->cls == JobClass::guaranteed);
    CHECK(world.ask(batch(""))->reason == Reason::no_gpu);
}

TEST_CASE("the login environment is only the contract's to forbid where it has paths") {
    World world;
    auto contract = contract_for("vision-lab", 8);
    auto request = batch("gres:gpu:1");
    request.login_env = true;
    world.contracts = {in_force(contract, {vision1})};
    CHECK(world.ask(request)->verdict == Verdict::admitted);
    contract.filesystem.hidden = {"/proj"};
    contract.filesystem.login_env = true;
    world.contracts = {in_force(contract, {vision1})};
    CHECK(world.ask(request)->verdict == Verdict::admitted);
}

TEST_CASE("a contract that is not active names its state") {
    World world;
    world.contracts = {in_force(contract_for("vision-lab", 8), {vision1})};
    world.contracts.front().state = ContractState::suspended;
    CHECK(world.ask(batch("gres:gpu:1"))->message ==
          "accord: contract vision-lab/gpu is suspended: ask gpu-ops [not_active]");
}

TEST_CASE("the first failing rung is the reason") {
    World world;
    auto contract = contract_for("vision-lab", 8);
    contract.workloads.max_walltime_min = 10;
    contract.workloads.max_gpus_per_job = 1;
    world.contracts = {in_force(contract, {vision1})};
    auto request = batch("gres:gpu:v100:99");
    request.time_limit_min = 20;
    request.uid = outsider;
    CHECK(world.ask(request)->reason == Reason::not_member);
    request.uid = vision1;
    CHECK(world.ask(request)->reason == Reason::time_limit);
    request.time_limit_min = 10;
    CHECK(world.ask(request)->reason == Reason::gpu_type);
    request.gpus.tres_per_job = "gres:gpu:a100:99";
    CHECK(world.ask(request)->reason == Reason::gpus_per_job);
}

TEST_CASE("a count that is only a bound says so in the rejection") {
    World world;
    auto contract = contract_for("vision-lab", 8);
    contract.workloads.max_gpus_per_job = 2;
    world.contracts = {in_force(contract, {vision1})};
    auto request = batch("");
    request.gpus.tres_per_socket = "gres:gpu:1";
    request.gpus.min_nodes = request.gpus.max_nodes = 1;
    CHECK(world.ask(request)->message ==
          "accord: contract vision-lab/gpu: 4 a100 asked for (counted high: GPUs per socket without a "
          "number of sockets per node: counted as every GPU of 1 "
          "node, which makes 4 GPU), and its max_gpus_per_job is 2: ask for fewer, or ask gpu-ops [gpus_per_job]");
}

TEST_CASE("without --time the partition's default counts, else the job gets max_walltime") {
    World world;
    auto contract = contract_for("vision-lab", 8);
    contract.workloads.max_walltime_min = 2880;
    world.contracts = {in_force(contract, {vision1})};
    auto decision = world.ask(batch("gres:gpu:1"));
    CHECK(decision->rewrite.time_limit_min == 2880);
    CHECK(decision->message.ends_with("; time limit 2-00:00:00"));

    auto& partition = world.shape.partitions["gpu"];
    partition.default_time_min = 60;
    world.take_shape();
    CHECK_FALSE(world.ask(batch("gres:gpu:1"))->rewrite.time_limit_min);
    partition.default_time_min = 5000;
    world.take_shape();
    CHECK(world.ask(batch("gres:gpu:1"))->rewrite.time_limit_min == 2880);
    partition.max_time_min = 1440;
    world.take_shape();
    CHECK(world.ask(batch("gres:gpu:1"))->rewrite.time_limit_min == 1440);

    auto request = batch("gres:gpu:1");
    request.time_limit_min = 2880;
    CHECK_FALSE(world.ask(request)->rewrite.time_limit_min);
}

TEST_CASE("a job without GPUs is borrowed without a claim, and needs a contract too", "[A06]") {
    auto world = two_labs();
    world.submit(batch("gres:gpu:8"));
    for (const auto* tres : {"", "gres:gpu:0"}) {
        const auto decision = world.submit(batch(tres));
        CHECK(decision.cls == JobClass::borrowed);
        CHECK(decision.reason == Reason::no_gpu);
        CHECK(decision.claim.empty());
        CHECK(decision.message == "accord: borrowed: no GPU for vision-lab/gpu; may be preempted and requeued");
    }
    CHECK(world.ask(batch("gres:gpu:0", "vision-lab", outsider))->reason == Reason::not_member);
}

TEST_CASE("an array claims what may run at once", "[A16]") {
    auto world = two_labs();
    auto decision = *world.ask(array("0-9%2", "gres:gpu:2"));
    CHECK(decision.claim == GpuVector{{"a100", 4}});
    CHECK(decision.gpus == GpuIntervals{{"a100", {2, 2}}});
    CHECK(decision.cls == JobClass::guaranteed);
    CHECK_FALSE(decision.rewrite.array_limit);
    CHECK(decision.throttle == 2);

    decision = *world.ask(array("0-9", "gres:gpu:4"));
    CHECK(decision.rewrite.array_limit == 3);
    CHECK(decision.throttle == 3);
    CHECK(decision.claim == GpuVector{{"a100", 12}});
    CHECK(decision.message ==
          "accord: borrowed: 12 a100 for vision-lab/gpu (8 of its 8 guaranteed a100 are free); may be preempted and "
          "requeued; at most 3 of its 10 tasks run at once");

    auto not_requeueable = array("0-9", "gres:gpu:4");
    not_requeueable.requeueable = false;
    CHECK(world.ask(not_requeueable)->rewrite.array_limit == 2);
    CHECK(world.ask(not_requeueable)->cls == JobClass::guaranteed);
    CHECK(world.ask(array("0-9", "gres:gpu:13"))->reason == Reason::impossible);
    CHECK_FALSE(world.ask(array("0-9999", ""))->rewrite.array_limit);
}

TEST_CASE("an array's throttle goes on record, and nothing where there is none to keep") {
    auto world = two_labs();
    CHECK(world.ask(array("0-3", "gres:gpu:1"))->throttle == 0);
    // Slurm cuts such a number off.
    CHECK_FALSE(world.ask(array("0-3%4294967298", "gres:gpu:1"))->throttle);
    CHECK_FALSE(world.ask(array("0-3%2", "gres:gpu:13"))->throttle);
    CHECK_FALSE(world.ask(batch("gres:gpu:1"))->throttle);
}

TEST_CASE("a job that cannot survive reclaim waits for guaranteed GPUs") {
    auto world = two_labs();
    world.submit(batch("gres:gpu:8"));
    auto request = batch("gres:gpu:2");
    request.requeueable = false;
    auto decision = *world.ask(request);
    CHECK(decision.reason == Reason::not_requeueable);
    CHECK(decision.rewrite.hold);
    CHECK(decision.message ==
          "accord: queued: 2 a100 for vision-lab/gpu (0 of its 8 guaranteed a100 are free; in use: vision1 8); waits for "
          "guaranteed GPUs, since it could not be requeued if it were preempted");

    request.type = WorkloadType::interactive;
    decision = *world.ask(request);
    CHECK(decision.cls == JobClass::borrowed);
    CHECK(decision.message.ends_with("may be preempted and cancelled"));
}

TEST_CASE("a user's own hold of a job that is queued is kept on record") {
    auto world = two_labs();
    world.submit(batch("gres:gpu:8"));
    auto request = batch("gres:gpu:8");
    request.held = true;
    CHECK(world.ask(request)->user_hold == true);
    request.held = false;
    CHECK_FALSE(world.ask(request)->user_hold);
}

TEST_CASE("observe mode says what would be and changes nothing") {
    auto world = two_labs();
    world.config.mode = Mode::observe;
    auto decision = world.submit(batch("gres:gpu:12"));
    CHECK(decision.mode == Mode::observe);
    CHECK(decision.cls == JobClass::borrowed);
    CHECK(decision.rewrite.partition.empty());
    CHECK(decision.rewrite.account.empty());
    CHECK_FALSE(decision.rewrite.site_factor);
    CHECK(amount_of(world.ledger.of("vision-lab/gpu").guaranteed, "a100") == 12);
    decision = *world.ask(batch("gres:gpu:1", "nobody"));
    CHECK(decision.verdict == Verdict::rejected);
    CHECK(decision.allows());
}

TEST_CASE("without a policy a job is rejected, or let through as the site wishes, and root always is") {
    auto decision = decide_unavailable(OnUnavailable::reject, batch("gres:gpu:1"), "accord.toml:3: bad key", noon);
    CHECK(decision.verdict == Verdict::rejected);
    CHECK(decision.reason == Reason::store_unavailable);
    CHECK(decision.message ==
          "accord: no decision can be made and kept now (accord.toml:3: bad key): try again later, or ask the "
          "cluster's administrators [store_unavailable]");
    decision = decide_unavailable(OnUnavailable::admit, batch("gres:gpu:1"), "contracts.db is damaged", noon);
    CHECK(decision.verdict == Verdict::admitted);
    CHECK(decision.cls == JobClass::exempt);
    CHECK(decision.reason == Reason::store_unavailable);
    CHECK(decide_unavailable(OnUnavailable::reject, batch("", "", 0), "no policy", noon).verdict == Verdict::admitted);
}

TEST_CASE("what concerns Accord is what it would answer") {
    const auto world = two_labs();
    const auto concerned = [&](std::vector<std::string> partitions) {
        return concerns(world.config, world.shape, in_partitions(batch(""), std::move(partitions)));
    };
    CHECK(concerned({"gpu"}));
    CHECK(concerned({"gpu-lend"}));
    CHECK(concerned({"debug", "gpu"}));
    CHECK(concerned({}));
    CHECK_FALSE(concerned({"debug"}));
    CHECK(concerns(world.config, {}, in_partitions(batch(""), {})));
    CHECK_FALSE(concerns({}, {}, in_partitions(batch(""), {})));
}
