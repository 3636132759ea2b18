// SPDX-License-Identifier: GPL-2.0-or-later
// R4: how many GPUs a request may come to hold.
#include "policy/count.hpp"

#include "catch.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

/// g[1-2] with eight a100 and g[3-4] with eight v100, as partitions of a reference cluster.
PartitionShape a100_nodes() { return partition_of("a100", "a100", 2, 8); }

PartitionShape mixed_nodes() {
    auto shape = a100_nodes();
    for (auto& one : partition_of("v100", "v100", 2, 8).nodes) shape.nodes.push_back(std::move(one));
    return shape;
}

const PoolConfig a100_pool = pool_named("a100", {{"a100", 16}});
const PoolConfig mixed_pool = pool_named("mix", {{"a100", 16}, {"v100", 16}});

GpuAsk per_node(const char* tres) { return {.tres_per_node = tres, .min_cpus = 1}; }
GpuAsk per_job(const char* tres) { return {.tres_per_job = tres, .min_cpus = 1}; }
GpuAsk per_task(const char* tres) { return {.tres_per_task = tres, .min_cpus = 1}; }

GpuAsk on_nodes(GpuAsk ask, std::int64_t min, std::int64_t max) {
    ask.min_nodes = min;
    ask.max_nodes = max;
    ask.min_cpus = min;
    return ask;
}

GpuAsk with_tasks(GpuAsk ask, std::int64_t tasks) {
    ask.num_tasks = tasks;
    ask.min_cpus = tasks;
    return ask;
}

GpuCount count(const GpuAsk& ask) {
    static const auto shape = mixed_nodes();
    return count_gpus(ask, &shape, mixed_pool);
}

GpuIntervals untyped(Gpus min, Gpus max) { return {{"", {min, max}}}; }

}  // namespace

TEST_CASE("GPUs of the job as a whole count as they are", "[A01]") {
    const auto whole = count(on_nodes(per_job("gres:gpu:4"), 1, 1));
    CHECK(whole.gpus == untyped(4, 4));
    CHECK(whole.exact);
    CHECK(whole.gpus == count(on_nodes(per_node("gres:gpu:4"), 1, 1)).gpus);
}

TEST_CASE("GPUs per node are counted on each node", "[A02]") {
    CHECK(count(on_nodes(per_node("gres:gpu:2"), 4, 4)).gpus == untyped(8, 8));
}

TEST_CASE("GPUs per task are counted for each task", "[A03]") {
    CHECK(count(with_tasks(per_task("gres:gpu:2"), 3)).gpus == untyped(6, 6));
    CHECK(count(with_tasks(per_task("gres/gpu=2"), 3)).gpus == untyped(6, 6));
}

TEST_CASE("a typed request is of that type only", "[A05]") {
    const auto typed = count(on_nodes(per_node("gres:gpu:v100:4"), 1, 1));
    CHECK(typed.gpus == GpuIntervals{{"v100", {4, 4}}});
    CHECK(total(maxima(typed.gpus)) == 4);
}

TEST_CASE("no GPU and a count of 0 are no GPU", "[A06]") {
    CHECK(maxima(count({}).gpus).empty());
    CHECK(maxima(count(per_node("")).gpus).empty());
    CHECK(maxima(count(per_node("gres:gpu:0")).gpus).empty());
    CHECK(count(per_node("gres:gpu:0")).exact);
}

TEST_CASE("a token without its prefix counts 0, and a step says so", "[A08]") {
    const auto unprefixed = count(per_node("gpu:1"));
    CHECK(maxima(unprefixed.gpus).empty());
    REQUIRE(!unprefixed.steps.empty());
    CHECK(unprefixed.steps.front() ==
          "--gres or --gpus-per-node: \"gpu:1\" has no \"gres:\" or \"gres/\" before it, so Slurm takes no GPU from it");
    CHECK(count(per_node("gres/gpu:1")).gpus == untyped(1, 1));
}

TEST_CASE("tasks on one node count by their GPUs", "[A10]") {
    CHECK(count(with_tasks(on_nodes(per_task("gres:gpu:1"), 1, 1), 4)).gpus == untyped(4, 4));
}

TEST_CASE("a range of nodes makes a range of GPUs", "[A14]") {
    CHECK(count(on_nodes(per_node("gres:gpu:2"), 2, 4)).gpus == untyped(4, 8));
    CHECK(count(on_nodes(per_job("gres:gpu:8"), 2, 4)).gpus == untyped(8, 8));
    CHECK(count(on_nodes(per_job("gres:gpu:8"), 4, 16)).gpus == untyped(8, 8));
}

TEST_CASE("tasks follow from nodes where Slurm infers them", "[A25]") {
    CHECK(count(on_nodes(per_task("gres:gpu:2"), 1, 1)).gpus == untyped(2, 2));
    CHECK(count(on_nodes(per_task("gres:gpu:1"), 2, 2)).gpus == untyped(2, 2));

    auto refused_by_slurm = on_nodes(per_task("gres:gpu:1"), 2, 2);
    refused_by_slurm.cpus_per_task = 4;
    const auto high = count(refused_by_slurm);
    CHECK_FALSE(high.exact);
    CHECK(high.gpus == untyped(0, 16));
    CHECK(high.steps.back() ==
          "GPUs per task without a number of tasks: counted as every GPU of 2 nodes, which makes 16 GPU");
}

TEST_CASE("tasks per node give the number of tasks") {
    auto ask = on_nodes(per_task("gres:gpu:1"), 2, 2);
    ask.ntasks_per_node = 3;
    CHECK(count(ask).gpus == untyped(6, 6));
    ask = with_tasks(per_node("gres:gpu:1"), 6);
    ask.ntasks_per_node = 2;
    CHECK(count(ask).gpus.at("").min == 3);
}

TEST_CASE("without a node limit Slurm takes nodes only until it has the CPUs") {
    CHECK(count(per_node("gres:gpu:2")).gpus == untyped(2, 2));
    auto wide = per_node("gres:gpu:4");
    wide.min_cpus = 8;
    CHECK(count(wide).gpus == untyped(4, 16));
    wide.cpus_per_task = 8;
    CHECK(count(wide).gpus == untyped(4, 4));
    CHECK(count(with_tasks(per_node("gres:gpu:4"), 3)).gpus == untyped(4, 12));
}

TEST_CASE("nodes are at most those that have the type, and those of the partition") {
    CHECK(count(on_nodes(per_node("gres:gpu:a100:2"), 1, 9)).gpus == GpuIntervals{{"a100", {2, 4}}});
    CHECK(count(on_nodes(per_node("gres:gpu:2"), 1, 9)).gpus == untyped(2, 8));
    auto shape = mixed_nodes();
    shape.max_nodes = 3;
    CHECK(count_gpus(on_nodes(per_node("gres:gpu:2"), 1, 9), &shape, mixed_pool).gpus == untyped(2, 6));
    shape.min_nodes = 2;
    CHECK(count_gpus(per_node("gres:gpu:2"), &shape, mixed_pool).gpus == untyped(4, 4));
}

TEST_CASE("hosts named by the request are nodes it takes") {
    auto ask = per_node("gres:gpu:2");
    ask.required_nodes = 3;
    CHECK(count(ask).gpus == untyped(6, 6));
}

TEST_CASE("a job of whole nodes holds every GPU of them", "[A16]") {
    const auto shape = a100_nodes();
    auto ask = on_nodes(per_node("gres:gpu:1"), 1, 1);
    ask.whole_node = true;
    CHECK(count_gpus(ask, &shape, a100_pool).gpus == GpuIntervals{{"a100", {8, 8}}});

    auto exclusive = a100_nodes();
    exclusive.exclusive = true;
    CHECK(count_gpus(on_nodes({}, 2, 2), &exclusive, a100_pool).gpus == GpuIntervals{{"a100", {16, 16}}});
    CHECK(count_gpus(on_nodes(per_node("gres:gpu:1"), 1, 2), &exclusive, a100_pool).gpus ==
          GpuIntervals{{"a100", {8, 16}}});
}

TEST_CASE("whole nodes are those that have the type asked for") {
    auto ask = on_nodes(per_node("gres:gpu:v100:1"), 1, 1);
    ask.whole_node = true;
    CHECK(count(ask).gpus == GpuIntervals{{"v100", {8, 8}}});
}

TEST_CASE("whole nodes for a number of GPUs are as many as that takes") {
    auto ask = per_job("gres:gpu:a100:12");
    ask.whole_node = true;
    CHECK(count(ask).gpus == GpuIntervals{{"a100", {12, 16}}});
}

TEST_CASE("GPUs per socket are counted on one socket of each node at least, and at most on all that have CPUs", "[A18]") {
    auto ask = on_nodes({}, 2, 2);
    ask.tres_per_socket = "gres:gpu:1";
    ask.sockets_per_node = 2;
    CHECK(count(ask).gpus == untyped(2, 4));
    CHECK(count(ask).exact);
    CHECK(count(ask).steps ==
          std::vector<std::string>{"1 GPU on each socket that the job has CPUs on, which are 2 or more, makes 2 to 4"});
    ask.min_cpus = 6;
    CHECK(count(ask).gpus == untyped(2, 6));
    ask.min_cpus = 99;
    CHECK(count(ask).gpus == untyped(2, 16));
    ask.min_cpus = 2;
    ask.tres_per_socket = "gres:gpu:5";
    CHECK(count(ask).gpus == untyped(10, 16));
    ask.tres_per_socket = "gres:gpu:1";
    ask.max_nodes = 3;
    CHECK(count(ask).gpus == untyped(2, 6));
}

TEST_CASE("GPUs per node hold before those per socket, and GPUs of the job do not bound these") {
    auto ask = on_nodes({}, 2, 2);
    ask.tres_per_socket = "gres:gpu:1";
    ask.sockets_per_node = 2;
    ask.tres_per_node = "gres:gpu:4";
    CHECK(count(ask).gpus == untyped(8, 8));
    ask.tres_per_job = "gres:gpu:4";
    CHECK(count(ask).gpus == untyped(4, 4));
    ask.tres_per_node.reset();
    ask.tres_per_job = "gres:gpu:3";
    CHECK(count(ask).gpus == untyped(2, 4));
    ask.tres_per_job = "gres:gpu:7";
    CHECK(count(ask).gpus == untyped(2, 7));
}

TEST_CASE("tasks per node fill every node with GPUs of tasks") {
    auto ask = with_tasks(per_task("gres:gpu:a100:2"), 5);
    ask.ntasks_per_node = 2;
    CHECK(count(ask).gpus == GpuIntervals{{"a100", {10, 12}}});
    CHECK(count(ask).steps == std::vector<std::string>{"2 a100 for each of 5 tasks that fill 3 nodes makes 10 to 12"});
    CHECK(count(on_nodes(ask, 4, 4)).gpus == GpuIntervals{{"a100", {10, 16}}});
}

TEST_CASE("GPUs per node and per task fill every node, too") {
    auto ask = with_tasks(on_nodes(per_task("gres:gpu:1"), 3, 3), 5);
    ask.tres_per_node = "gres:gpu:2";
    CHECK(count(ask).gpus == untyped(5, 6));
    ask = per_task("gres:gpu:1");
    ask.tres_per_node = "gres:gpu:2";
    CHECK(count(with_tasks(ask, 3)).gpus == untyped(3, 4));
}

TEST_CASE("with CPUs for each GPU a task of a named type may be as many tasks as it has CPUs") {
    auto ask = with_tasks(on_nodes(per_task("gres:gpu:a100:1"), 1, 1), 1);
    ask.cpus_per_tres = "gres:gpu:2";
    CHECK(count(ask).gpus == GpuIntervals{{"a100", {1, 2}}});
    CHECK(count(ask).steps.back() == "with --cpus-per-gpu Slurm may give each of 2 CPUs as much, which makes 2");
    ask.cpus_per_tres = "gres:gpu:99";
    CHECK(count(ask).gpus == GpuIntervals{{"a100", {1, 8}}});
    ask.tres_per_task = "gres:gpu:1";
    ask.cpus_per_tres = "gres:gpu:2";
    CHECK(count(ask).gpus == untyped(1, 1));
}

TEST_CASE("what Slurm refuses is every GPU of the most nodes", "[A18]") {
    struct Row {
        GpuAsk ask;
        const char* why;
    };
    auto per_socket = on_nodes({}, 1, 1);
    per_socket.tres_per_socket = "gres:gpu:1";
    for (const auto& [ask, why] : {
             Row{per_socket, "GPUs per socket without a number of sockets per node"},
             Row{on_nodes(per_node("gres:gpu::1"), 1, 1), "a GPU count that Slurm does not take"},
         }) {
        INFO(why);
        const auto high = count(ask);
        CHECK_FALSE(high.exact);
        CHECK(high.gpus == untyped(0, 8));
        CHECK(high.steps.back().starts_with(std::string(why) + ": counted as every GPU of 1 node,"));
    }
}

TEST_CASE("tasks per GPU ask for GPUs where nothing else does") {
    auto ask = with_tasks(on_nodes({}, 1, 1), 4);
    ask.ntasks_per_tres = 2;
    CHECK(count(ask).gpus == untyped(2, 2));
    CHECK(count(ask).steps == std::vector<std::string>{"4 tasks, 2 for each GPU, make 2 GPU"});
    ask.num_tasks = 5;
    CHECK(count(ask).gpus == untyped(2, 3));
    ask.num_tasks = ask.min_cpus = 1;
    CHECK(count(ask).gpus == untyped(0, 1));
    ask = per_job("gres:gpu:a100:3");
    ask.ntasks_per_tres = 2;
    CHECK(count(ask).gpus == GpuIntervals{{"a100", {3, 3}}});
    ask = with_tasks(per_node("gres:gpu:2"), 4);
    ask.ntasks_per_tres = 2;
    CHECK(count(on_nodes(ask, 1, 1)).gpus == untyped(2, 2));
}

TEST_CASE("GPUs of the job bound what nodes, tasks and sockets ask for") {
    auto ask = on_nodes(per_job("gres:gpu:8"), 1, 4);
    ask.tres_per_node = "gres:gpu:4";
    CHECK(count(ask).gpus == untyped(8, 8));
    ask = per_job("gres:gpu:8");
    ask.tres_per_task = "gres/gpu=2";
    CHECK(count(ask).gpus == untyped(8, 8));
    ask = with_tasks(on_nodes(per_task("gres:gpu:1"), 1, 4), 4);
    ask.tres_per_node = "gres:gpu:2";
    CHECK(count(ask).gpus == untyped(4, 4));
}

TEST_CASE("a list of node counts is its smallest to its largest") {
    auto ask = on_nodes(per_node("gres:gpu:2"), 1, 2);
    ask.job_size = "1,4,2";
    CHECK(count(ask).gpus == untyped(2, 8));
    ask.job_size = "1-3:2";
    CHECK(count(ask).gpus == untyped(2, 6));
}

TEST_CASE("hosts to choose from are no more nodes than asked for") {
    auto ask = on_nodes(per_node("gres:gpu:2"), 1, 1);
    ask.required_nodes = 3;
    CHECK(count(ask).gpus == untyped(2, 2));
    ask.max_nodes.reset();
    CHECK(count(ask).gpus == untyped(2, 6));
}

TEST_CASE("hosts that are named, and nodes that features count, are taken whatever the tasks need") {
    auto ask = with_tasks(per_node("gres:gpu:1"), 1);
    ask.min_nodes = 1;
    ask.required_nodes = 2;
    CHECK(count(ask).gpus == untyped(1, 2));
    ask.required_nodes.reset();
    ask.features = "[fast*2&slow*1]";
    CHECK(count(ask).gpus == untyped(1, 3));
    ask.features = "fast*99999999999999999999";
    CHECK(count(ask).gpus == untyped(1, 4));
    ask.max_nodes = 1;
    CHECK(count(ask).gpus == untyped(1, 1));
}

TEST_CASE("more CPUs than the tasks take may be on more nodes") {
    auto ask = with_tasks(per_node("gres:gpu:1"), 1);
    ask.min_cpus = 40;
    CHECK(count_gpus(ask, nullptr, mixed_pool).gpus == untyped(1, 32));
    ask.min_cpus_per_node = 20;
    CHECK(count_gpus(ask, nullptr, mixed_pool).gpus == untyped(1, 2));
    ask.min_cpus = 20;
    CHECK(count_gpus(ask, nullptr, mixed_pool).gpus == untyped(1, 1));
}

TEST_CASE("tasks per GPU make the tasks, whatever number is named") {
    auto ask = with_tasks(per_node("gres:gpu:1"), 3);
    ask.ntasks_per_tres = 4;
    CHECK(count(ask).gpus == count(with_tasks(per_node("gres:gpu:1"), 4)).gpus);
    GpuAsk tasks_alone{.min_nodes = 1, .max_nodes = 1, .ntasks_per_tres = 2, .min_cpus = 1};
    CHECK(count(tasks_alone).gpus == untyped(1, 1));
}

TEST_CASE("a GPU of which a job holds a part counts as one on each node", "[A19]") {
    const auto shape = mixed_nodes();
    auto pool = mixed_pool;
    pool.shards_per_gpu = 8;
    const auto counted = [&](const GpuAsk& ask) { return count_gpus(ask, &shape, pool); };
    CHECK(counted(on_nodes(per_node("gres:shard:4"), 1, 1)).gpus == untyped(1, 1));
    CHECK(counted(on_nodes(per_node("gres:shard:9"), 2, 2)).gpus == untyped(4, 4));
    CHECK(counted(on_nodes(per_node("gres:shard:a100:8"), 1, 1)).gpus == GpuIntervals{{"a100", {1, 1}}});
    CHECK(counted(on_nodes(per_node("gres:gpu:1,gres:shard:1"), 1, 1)).gpus == untyped(2, 2));
    CHECK_FALSE(counted(on_nodes(per_node("gres:shard:4"), 1, 1)).shards_unpriced);
    CHECK(count(on_nodes(per_node("gres:shard:4"), 1, 1)).shards_unpriced);
    CHECK(count(on_nodes(per_node("gres:mps:50"), 2, 2)).gpus == untyped(2, 2));
    CHECK_FALSE(count(per_node("gres:gpu:1")).shards_unpriced);
}

TEST_CASE("CPUs beyond the GPUs' share count as the GPUs that they leave unusable") {
    auto ask = on_nodes(per_node("gres:gpu:1"), 1, 1);
    ask.min_cpus = 2;
    CHECK(count(ask).gpus == untyped(1, 1));
    ask.min_cpus = 3;
    CHECK(count(ask).gpus == untyped(1, 2));
    CHECK(count(ask).exact);
    CHECK(count(ask).steps.back() == "more than 2 CPUs for each GPU leaves others unusable, which makes 2 GPU");
    ask.min_cpus = 16;
    CHECK(count(ask).gpus == untyped(1, 8));
    ask.min_cpus = 999;
    CHECK(count(ask).gpus == untyped(1, 8));

    const auto shape = mixed_nodes();
    auto generous = mixed_pool;
    generous.cpus_per_gpu = 999;
    CHECK(count_gpus(ask, &shape, generous).gpus == untyped(1, 1));

    auto by_option = on_nodes(per_node("gres:gpu:1"), 2, 2);
    by_option.cpus_per_tres = "gres:gpu:2";
    CHECK(count(by_option).gpus == untyped(2, 2));
    by_option.cpus_per_tres = "gres:gpu:3";
    CHECK(count(by_option).gpus == untyped(2, 4));

    auto by_node = on_nodes(per_node("gres:gpu:1"), 2, 2);
    by_node.min_cpus_per_node = 5;
    CHECK(count(by_node).gpus == untyped(2, 6));
}

TEST_CASE("GPUs of the job as a whole may lie apart from its CPUs") {
    auto ask = on_nodes(per_job("gres:gpu:a100:6"), 2, 2);
    ask.min_cpus_per_node = 8;
    CHECK(count(ask).gpus == GpuIntervals{{"a100", {6, 12}}});
    ask.tres_per_job.reset();
    ask.tres_per_node = "gres:gpu:a100:3";
    CHECK(count(ask).gpus == GpuIntervals{{"a100", {6, 8}}});
}

TEST_CASE("memory beyond the GPUs' share counts as the GPUs that it leaves unusable") {
    auto ask = on_nodes(per_node("gres:gpu:1"), 1, 1);
    ask.mem_per_node_mb = 2500;
    CHECK(count(ask).gpus == untyped(1, 1));
    ask.mem_per_node_mb = 2501;
    CHECK(count(ask).gpus == untyped(1, 2));
    ask.mem_per_node_mb = 0;
    CHECK(count(ask).gpus == untyped(1, 8));
    ask.mem_per_node_mb.reset();
    ask.mem_per_cpu_mb = 2600;
    CHECK(count(ask).gpus == untyped(1, 2));
    ask.mem_per_cpu_mb.reset();
    ask.mem_per_tres = "gres:gpu:5100";
    CHECK(count(ask).gpus == untyped(1, 3));
}

TEST_CASE("a job without GPUs may have all CPUs and memory") {
    auto ask = on_nodes({}, 1, 1);
    ask.min_cpus = 16;
    ask.mem_per_node_mb = 0;
    CHECK(maxima(count(ask).gpus).empty());
    CHECK(count(ask).exact);
}

TEST_CASE("before the shape is known the pool bounds what is counted") {
    CHECK(count_gpus(per_job("gres:gpu:4"), nullptr, a100_pool).gpus == untyped(4, 4));
    CHECK(count_gpus(on_nodes(per_node("gres:gpu:4"), 1, 99), nullptr, a100_pool).gpus == untyped(4, 16));
    auto whole = per_node("gres:gpu:1");
    whole.whole_node = true;
    CHECK(count_gpus(whole, nullptr, a100_pool).gpus == untyped(0, 16));
}

TEST_CASE("absurd numbers saturate") {
    const auto huge = count(on_nodes(per_node("gres:gpu:999999P"), 1, 4000000000));
    CHECK(huge.gpus.at("").max == gpus_max);
    CHECK(count(with_tasks(per_task("gres:gpu:1P"), 4294967293)).gpus.at("").max == gpus_max);
}

TEST_CASE("an untyped request in a pool of one type is of that type") {
    auto gpus = untyped(2, 4);
    settle_types(gpus, a100_pool);
    CHECK(gpus == GpuIntervals{{"a100", {2, 4}}});
    gpus = {{"", {2, 4}}, {"a100", {1, 1}}};
    settle_types(gpus, a100_pool);
    CHECK(gpus == GpuIntervals{{"a100", {3, 5}}});
    gpus = untyped(2, 4);
    settle_types(gpus, mixed_pool);
    CHECK(gpus == untyped(2, 4));
}

TEST_CASE("the steps tell how the figure came about") {
    CHECK(count(on_nodes(per_node("gres:gpu:a100:2"), 1, 2)).steps ==
          std::vector<std::string>{"2 a100 on each of 1 to 2 nodes makes 2 to 4"});
    CHECK(count(per_job("gres:gpu:4")).steps == std::vector<std::string>{"--gpus asks for 4 GPU in all"});
    CHECK(count(with_tasks(per_task("gres:gpu:2"), 3)).steps ==
          std::vector<std::string>{"2 GPU for each of 3 tasks makes 6"});
    CHECK(count({}).steps == std::vector<std::string>{"the request names no GPU"});
}
