// SPDX-License-Identifier: GPL-2.0-or-later
// Partition and node records, as slurmctld 22.05 fills them in.
#include "slurm/shape_view.hpp"

#include <vector>

#include "catch.hpp"
#include "slurm/controller.hpp"

using namespace accord;

namespace {

struct Nodes {
    std::vector<node_info_t> records;
    node_info_msg_t message{};

    node_info_t& add(const char* name, const char* gres, std::uint32_t state) {
        node_info_t node{};
        node.name = const_cast<char*>(name);
        node.gres = const_cast<char*>(gres);
        node.node_state = state;
        node.cpus = 16;
        node.real_memory = 20000;
        records.push_back(node);
        return records.back();
    }
    const node_info_msg_t& list() {
        message.node_array = records.data();
        message.record_count = static_cast<std::uint32_t>(records.size());
        return message;
    }
};

partition_info_t partition(const char* name, std::int32_t* node_inx) {
    partition_info_t made{};
    made.name = const_cast<char*>(name);
    made.node_inx = node_inx;
    made.min_nodes = 1;
    made.max_nodes = INFINITE;
    made.max_time = INFINITE;
    made.default_time = NO_VAL;
    made.max_share = 1;
    made.priority_tier = 100;
    return made;
}

ClusterShape shape_of(partition_info_t& made, Nodes& nodes) {
    partition_info_msg_t partitions{};
    partitions.partition_array = &made;
    partitions.record_count = 1;
    return cluster_shape(partitions, nodes.list());
}

}  // namespace

TEST_CASE("A node's GPUs are read off its Gres string") {
    struct Row {
        const char* gres;
        GpuVector gpus;
    };
    const std::vector<Row> rows = {
        {"gpu:a100:4", {{"a100", 4}}},
        {"gpu:a100:4(S:0-1)", {{"a100", 4}}},
        {"gpu:a100:2(S:0,2),gpu:v100:2(S:1)", {{"a100", 2}, {"v100", 2}}},
        {"gpu:a100:2,gpu:a100:2", {{"a100", 4}}},
        {"gpu:4", {{"", 4}}},
        {"gpu:4(S:0)", {{"", 4}}},
        {"shard:a100:32,gpu:a100:4", {{"a100", 4}}},
        {"gpu_mem:80G", {}},
        {"gpu:1g.10gb:7", {{"1g.10gb", 7}}},
        {"", {}},
        {"(null)", {}},
    };
    for (const auto& row : rows) {
        INFO(row.gres);
        CHECK(node_gpus(row.gres) == row.gpus);
    }
}

TEST_CASE("A partition has the nodes that its index ranges name, future ones left out") {
    Nodes nodes;
    nodes.add("n1", "gpu:a100:4", NODE_STATE_IDLE);
    nodes.add("n2", nullptr, NODE_STATE_MIXED);
    nodes.add("n3", "gpu:a100:4", NODE_STATE_FUTURE);
    nodes.add("n4", "gpu:a100:4", NODE_STATE_ALLOCATED);
    std::int32_t places[] = {0, 0, 2, 3, -1};
    auto gpu = partition("gpu", places);
    const auto shape = shape_of(gpu, nodes);
    const auto* found = shape.partition("gpu");
    REQUIRE(found != nullptr);
    REQUIRE(found->nodes.size() == 2);
    CHECK(found->nodes[0].name == "n1");
    CHECK(found->nodes[1].name == "n4");
    CHECK(found->capacity() == GpuVector{{"a100", 8}});
    CHECK(found->nodes[0].cpus == 16);
    CHECK(found->nodes[0].memory_mb == 20000);
}

TEST_CASE("Index ranges beyond the node list are not followed") {
    Nodes nodes;
    nodes.add("n1", "gpu:a100:4", NODE_STATE_IDLE);
    std::int32_t places[] = {0, 7, -1};
    auto gpu = partition("gpu", places);
    CHECK(shape_of(gpu, nodes).partition("gpu")->nodes.size() == 1);
}

TEST_CASE("Nodes that cannot take new work are not available") {
    struct Row {
        std::uint32_t state;
        bool available;
    };
    const std::vector<Row> rows = {
        {NODE_STATE_IDLE, true},
        {NODE_STATE_MIXED, true},
        {NODE_STATE_ALLOCATED, true},
        {NODE_STATE_IDLE | NODE_STATE_COMPLETING, true},
        {NODE_STATE_IDLE | NODE_STATE_POWERED_DOWN, true},
        {NODE_STATE_DOWN, false},
        {NODE_STATE_UNKNOWN, true},
        {NODE_STATE_IDLE | NODE_STATE_DRAIN, false},
        {NODE_STATE_ALLOCATED | NODE_STATE_DRAIN, false},
        {NODE_STATE_IDLE | NODE_STATE_FAIL, false},
        {NODE_STATE_IDLE | NODE_STATE_INVALID_REG, false},
    };
    for (const auto& row : rows) {
        INFO(row.state);
        Nodes nodes;
        nodes.add("n1", "gpu:a100:4", row.state);
        std::int32_t places[] = {0, 0, -1};
        auto gpu = partition("gpu", places);
        const auto shape = shape_of(gpu, nodes);
        CHECK(shape.partition("gpu")->nodes.at(0).available == row.available);
        CHECK(shape.partition("gpu")->capacity() == GpuVector{{"a100", 4}});
    }
}

TEST_CASE("A partition's limits are absent where Slurm has none") {
    Nodes nodes;
    auto gpu = partition("gpu", nullptr);
    auto unlimited = shape_of(gpu, nodes);
    CHECK_FALSE(unlimited.partition("gpu")->max_nodes);
    CHECK_FALSE(unlimited.partition("gpu")->max_time_min);
    CHECK_FALSE(unlimited.partition("gpu")->default_time_min);
    CHECK_FALSE(unlimited.partition("gpu")->exclusive);
    CHECK_FALSE(unlimited.default_partition);

    gpu.max_nodes = 8;
    gpu.min_nodes = 2;
    gpu.max_time = 2880;
    gpu.default_time = 60;
    gpu.max_share = 0;
    gpu.flags = PART_FLAG_DEFAULT;
    const auto limited = shape_of(gpu, nodes);
    CHECK(limited.partition("gpu")->max_nodes == 8);
    CHECK(limited.partition("gpu")->min_nodes == 2);
    CHECK(limited.partition("gpu")->max_time_min == 2880);
    CHECK(limited.partition("gpu")->default_time_min == 60);
    CHECK(limited.partition("gpu")->exclusive);
    CHECK(limited.partition("gpu")->priority_tier == 100);
    CHECK(limited.default_partition == "gpu");
}

TEST_CASE("A controller is found by its full name before its short one") {
    const std::vector<std::string> controllers = {"ctl1.old.example", "ctl1", "ctl2.example"};
    CHECK(controller_index(controllers, "ctl1") == 1);
    CHECK(controller_index(controllers, "ctl1.old.example") == 0);
    CHECK(controller_index(controllers, "ctl2") == 2);
    CHECK(controller_index(controllers, "elsewhere") == 0);
    CHECK(controller_index({}, "ctl1") == 0);
}
