// SPDX-License-Identifier: GPL-2.0-or-later
// R9: requests without a GPU type in a pool of several.
#include "catch.hpp"
#include "policy/count.hpp"
#include "policy/decide.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

/// Two nodes of a100 and two of v100; vision-lab has 4 of each guaranteed and takes untyped requests as a100 first.
World mixed_world(std::vector<std::string> fallback = {"a100", "v100"}) {
    World world;
    world.config.pools.front().gpus = {{"a100", 8}, {"v100", 8}};
    auto& nodes = world.shape.partitions["gpu"].nodes;
    nodes = {node("n1", {{"a100", 4}}), node("n2", {{"a100", 4}}), node("n3", {{"v100", 4}}), node("n4", {{"v100", 4}})};
    world.take_shape();
    auto contract = contract_for("vision-lab", 4, 2);
    contract.capacity["v100"] = {4, {}, 0};
    contract.fallback = std::move(fallback);
    world.contracts = {in_force(std::move(contract), {vision1})};
    return world;
}

std::string per_job(const Decision& decision) {
    return decision.rewrite.gpus ? decision.rewrite.gpus->tres_per_job.value_or("") : "";
}

}  // namespace

TEST_CASE("an untyped request takes the first fallback type with headroom, and is rewritten to it", "[A12]") {
    auto world = mixed_world();
    auto decision = world.submit(batch("gres:gpu:4"));
    CHECK(decision.cls == JobClass::guaranteed);
    CHECK(decision.claim == GpuVector{{"a100", 4}});
    CHECK(per_job(decision) == "gres:gpu:a100:4");
    CHECK(decision.message ==
          "accord: guaranteed: 4 a100 of vision-lab/gpu (4 of 4 in use); a100 is the type that its contract gives to "
          "requests without one");

    decision = world.submit(batch("gres:gpu:2"));
    CHECK(decision.claim == GpuVector{{"v100", 2}});
    CHECK(per_job(decision) == "gres:gpu:v100:2");
}

TEST_CASE("else the first that may be borrowed, else the first that could queue") {
    auto world = mixed_world({"v100", "a100"});
    world.submit(batch("gres:gpu:v100:4"));
    world.submit(batch("gres:gpu:a100:4"));
    auto decision = world.submit(batch("gres:gpu:2"));
    CHECK(decision.cls == JobClass::borrowed);
    CHECK(per_job(decision) == "gres:gpu:a100:2");
    decision = world.submit(batch("gres:gpu:2"));
    CHECK(decision.cls == JobClass::queued);
    CHECK(per_job(decision) == "gres:gpu:v100:2");
    CHECK(world.ask(batch("gres:gpu:7"))->reason == Reason::impossible);
}

TEST_CASE("without a fallback, or where the request names a type, nothing is rewritten") {
    auto world = mixed_world({});
    const auto decision = world.ask(batch("gres:gpu:4"));
    CHECK(decision->reason == Reason::gpu_type);
    CHECK(decision->message ==
          "accord: partition gpu has several GPU types, and 4 GPUs are asked for without one: name one of a100, v100, as "
          "in --gpus=a100:4 [gpu_type]");
    world = mixed_world();
    CHECK_FALSE(world.ask(batch("gres:gpu:v100:1"))->rewrite.gpus);
    CHECK_FALSE(world.ask(batch("gres:gpu:1,gres:gpu:v100:1"))->rewrite.gpus);
    CHECK_FALSE(world.ask(batch(""))->rewrite.gpus);
    world.config.pools.front().gpus = {{"a100", 8}};
    CHECK_FALSE(world.ask(batch("gres:gpu:1"))->rewrite.gpus);
}

TEST_CASE("a type of the fallback that its pool does not have is passed over") {
    auto world = mixed_world({"h100", "v100"});
    world.config.pools.front().gpus["t4"] = 1;
    CHECK(per_job(*world.ask(batch("gres:gpu:4"))) == "gres:gpu:v100:4");
}

TEST_CASE("every way of asking without a type gets the type, in its own spelling") {
    const auto typed = [](GpuAsk ask) { return of_type(ask, "a100"); };
    GpuAsk ask;
    ask.tres_per_node = "gres/gpu:2";
    ask.tres_per_task = "gres/gpu=1,license/x=1";
    ask.tres_per_socket = "gres:gpu";
    ask.tres_per_job = "gres/gpu:1K,gres/shard:4";
    CHECK(typed(ask)->tres_per_node == "gres/gpu:a100:2");
    CHECK(typed(ask)->tres_per_task == "gres/gpu:a100=1,license/x=1");
    CHECK(typed(ask)->tres_per_socket == "gres:gpu:a100:1");
    CHECK(typed(ask)->tres_per_job == "gres/gpu:a100:1K,gres/shard:4");
    CHECK(of_type(ask, "3090")->tres_per_socket == "gres:gpu:3090:1");
    ask.tres_per_node = "gres/gpu:v100:2";
    CHECK_FALSE(typed(ask));
}

TEST_CASE("tasks per GPU alone are GPUs without a type") {
    GpuAsk ask;
    ask.num_tasks = 6;
    ask.ntasks_per_tres = 4;
    CHECK(of_type(ask, "a100")->tres_per_job == "gres:gpu:a100:2");
    ask.num_tasks.reset();
    CHECK_FALSE(of_type(ask, "a100"));
}

TEST_CASE("whole nodes without a type are of the fallback's type, too") {
    auto world = mixed_world();
    auto request = batch("");
    request.gpus.tres_per_node = "gres:gpu:1";
    request.gpus.whole_node = true;
    request.gpus.min_nodes = request.gpus.max_nodes = 1;
    const auto decision = world.submit(request);
    CHECK(decision.claim == GpuVector{{"a100", 4}});
    CHECK(decision.rewrite.gpus->tres_per_node == "gres:gpu:a100:1");
}

TEST_CASE("a type that the request's nodes do not have is passed over") {
    auto world = mixed_world();
    auto request = batch("gres:gpu:1");
    request.node_list = "n[3-4]";
    request.gpus.required_nodes = 2;
    CHECK(per_job(*world.ask(request)) == "gres:gpu:v100:1");
    request.node_list = "n1";
    request.gpus.required_nodes = 1;
    CHECK(per_job(*world.ask(request)) == "gres:gpu:a100:1");
    request = batch("gres:gpu:1");
    request.excluded_nodes = "n[1-2]";
    CHECK(per_job(*world.ask(request)) == "gres:gpu:v100:1");
}

TEST_CASE("a type of which too few nodes have enough is passed over") {
    auto world = mixed_world();
    world.shape.partitions["gpu"].nodes[0].gpus = {{"a100", 7}};
    world.shape.partitions["gpu"].nodes[1].gpus = {{"a100", 1}};
    world.take_shape();
    auto request = batch("");
    request.gpus.tres_per_node = "gres/gpu:2";
    CHECK(world.ask(request)->rewrite.gpus->tres_per_node == "gres/gpu:a100:2");
    request.gpus.min_nodes = request.gpus.max_nodes = 2;
    CHECK(world.ask(request)->rewrite.gpus->tres_per_node == "gres/gpu:v100:2");
    request.gpus.tres_per_node.reset();
    request.gpus.tres_per_task = "gres/gpu:2";
    request.gpus.num_tasks = 2;
    CHECK(world.ask(request)->rewrite.gpus->tres_per_task == "gres/gpu:v100:2");
}

TEST_CASE("where no type's nodes fit, the types are tried in their order as ever") {
    auto world = mixed_world();
    auto request = batch("gres:gpu:1");
    request.node_list = "n1,n3";
    request.gpus.required_nodes = 2;
    CHECK(per_job(*world.ask(request)) == "gres:gpu:a100:1");
}
