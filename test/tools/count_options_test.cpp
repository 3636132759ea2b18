// SPDX-License-Identifier: GPL-2.0-or-later
#include "accord/count_options.hpp"

#include "catch.hpp"

using namespace accord;

namespace {

Result<GpuAsk> ask_of(const std::string& command_line) {
    CLI::App app;
    CountOptions options;
    add_count_options(app, options);
    app.parse(command_line);
    return gpu_ask(options);
}

GpuAsk ask(const std::string& command_line) {
    INFO(command_line);
    const auto made = ask_of(command_line);
    REQUIRE(made);
    return *made;
}

}  // namespace

TEST_CASE("GPUs are put into the fields and spelling that sbatch uses") {
    CHECK(ask("--gpus=4").tres_per_job == "gres:gpu:4");
    CHECK(ask("-G a100:4").tres_per_job == "gres:gpu:a100:4");
    CHECK(ask("--gpus a100:2,v100:1").tres_per_job == "gres:gpu:a100:2,gres:gpu:v100:1");
    CHECK(ask("--gpus-per-node=2").tres_per_node == "gres:gpu:2");
    CHECK(ask("--gpus-per-task=2").tres_per_task == "gres:gpu:2");
    CHECK(ask("--gpus-per-socket=1").tres_per_socket == "gres:gpu:1");
    CHECK(ask("--gres=gpu:a100:2").tres_per_node == "gres:gpu:a100:2");
    CHECK(ask("--gpus-per-node=1 --gres=shard:2").tres_per_node == "gres:gpu:1,gres:shard:2");
    CHECK(ask("--gres=gpu:1 --gres=gpu:2").tres_per_node == "gres:gpu:2");
}

TEST_CASE("no GPUs are asked for by none") {
    CHECK_FALSE(ask("").tres_per_node);
    CHECK_FALSE(ask("--gres=none").tres_per_node);
}

TEST_CASE("nodes are a number, a range or the size of a list") {
    CHECK(ask("-N 2").min_nodes == 2);
    CHECK(ask("-N 2").max_nodes == 2);
    CHECK(ask("--nodes=2-4").max_nodes == 4);
    CHECK(ask("--nodes=2,4,8").job_size == "2,4,8");
    CHECK(ask("--nodes=2,4,8").max_nodes == 8);
    const auto listed = ask("-w n[1-3]");
    CHECK(listed.required_nodes == 3);
    CHECK(listed.min_nodes == 3);
    CHECK(listed.max_nodes == 3);
    CHECK(ask("-w n[1-3] -N 4").min_nodes == 4);
}

TEST_CASE("tasks follow from nodes, and bound them") {
    CHECK(ask("-N 2 --ntasks-per-node=4").num_tasks == 8);
    CHECK_FALSE(ask("-N 2-4 --ntasks-per-node=4").num_tasks);
    CHECK(ask("-N 2-8 -n 4").max_nodes == 4);
    CHECK(ask("-n 3").num_tasks == 3);
    CHECK(ask("--ntasks-per-gpu=2").ntasks_per_tres == 2);
}

TEST_CASE("memory is taken in MiB, with or without a unit") {
    CHECK(ask("--mem=64G").mem_per_node_mb == 65536);
    CHECK(ask("--mem=512").mem_per_node_mb == 512);
    CHECK(ask("--mem=0").mem_per_node_mb == 0);
    CHECK(ask("--mem-per-cpu=1500k").mem_per_cpu_mb == 2);
    CHECK(ask("--mem-per-gpu=1T").mem_per_tres == "gres:gpu:1048576");
    CHECK(ask("--cpus-per-gpu=8").cpus_per_tres == "gres:gpu:8");
}

TEST_CASE("whole nodes are asked for by --exclusive alone, core specialisation and --reboot") {
    CHECK(ask("--exclusive").whole_node);
    CHECK(ask("--exclusive --gres=gpu:1").whole_node);
    CHECK_FALSE(ask("--exclusive=user").whole_node);
    CHECK_FALSE(ask("--exclusive=mcs").whole_node);
    CHECK(ask("-S 2").whole_node);
    CHECK(ask("--reboot").whole_node);
    CHECK_FALSE(ask("--gpus=1").whole_node);
}

TEST_CASE("values that sbatch would not take are refused by option and value") {
    const auto refused = [](const std::string& command_line) {
        const auto made = ask_of(command_line);
        REQUIRE_FALSE(made);
        return made.error().what;
    };
    CHECK(refused("-N 4-2") == "--nodes 4-2: expected a number of nodes, such as 2, or a range, such as 2-4");
    CHECK(refused("-N x").starts_with("--nodes x: "));
    CHECK(refused("--mem=many").starts_with("--mem many: "));
    CHECK(refused("-w n[1-").starts_with("--nodelist n[1-: "));
    CHECK_THROWS(ask_of("--gres="));
    CHECK_THROWS(ask_of("-n 0"));
    CHECK_THROWS(ask_of("--gpu=1"));
}
