// SPDX-License-Identifier: GPL-2.0-or-later
// The model's nodes, and whose they are.
#include "sim/cluster.hpp"

#include "catch.hpp"
#include "policy/world.hpp"
#include "sim/nodes.hpp"

using namespace accord;
using namespace accord::sim;

namespace {

Config config_of(std::vector<PoolConfig> pools) {
    Config config;
    config.pools = std::move(pools);
    return config;
}

std::string problem_of(const Config& config, std::vector<NodeGroup> groups) {
    const auto model = model_cluster(config, std::move(groups));
    return model ? "none" : model.error().what;
}

}  // namespace

TEST_CASE("a cluster is read from nodes, GPUs and types") {
    const auto groups = parse_cluster("4x8:a100,2x16:h100");
    REQUIRE(groups);
    REQUIRE(groups->size() == 2);
    CHECK(groups->at(1).nodes == 2);
    CHECK(groups->at(1).gpus == 16);
    CHECK(groups->at(1).gpu_type == "h100");
    for (const auto* bad : {"", "4", "4x8", "4x8:", "x8:a100", "0x8:a100", "4x0:a100", "4x8:a100,", "-4x8:a100", "4x65:a100"}) {
        INFO(bad);
        CHECK_FALSE(parse_cluster(bad));
    }
}

TEST_CASE("a single pool has all nodes, and as many GPUs as the model") {
    const auto model = model_cluster(config_of({test::pool_named("gpu", {{"a100", 16}})}), {{2, 4, ""}});
    REQUIRE(model);
    CHECK(model->config.pools.front().gpus == GpuVector{{"a100", 8}});
    CHECK(model->shape.default_partition == "gpu");
    CHECK(model->shape.partition("gpu")->nodes.size() == 2);
}

TEST_CASE("several pools take nodes of their types in turn") {
    const auto config = config_of({test::pool_named("gpu", {{"a100", 8}}), test::pool_named("big", {{"a100", 8}, {"h100", 8}})});
    const auto model = model_cluster(config, {{4, 4, "a100"}, {1, 8, "h100"}});
    REQUIRE(model);
    CHECK(model->config.pools[0].gpus == GpuVector{{"a100", 8}});
    CHECK(model->config.pools[1].gpus == GpuVector{{"a100", 8}, {"h100", 8}});
    CHECK_FALSE(model->shape.default_partition);
    CHECK(problem_of(config, {{5, 4, "a100"}, {1, 8, "h100"}}) == "1 nodes of 4 a100 are more than the pools of accord.toml have");
    CHECK(problem_of(config, {{4, 4, ""}}) == "accord.toml has several GPU types or pools: describe the nodes by --cluster, as in "
                                              "--cluster 4x8:a100,2x8:h100");
    CHECK(problem_of(config, {{4, 4, "v100"}}) == "--cluster: no pool of accord.toml has GPUs of type v100");
}

TEST_CASE("GPUs lie on as few nodes as it takes, or evenly on as many as are named") {
    CHECK(layout_of(0, 0, 8) == Layout{});
    CHECK(layout_of(3, 0, 8) == Layout{{1, 3}, {}});
    CHECK(layout_of(16, 0, 8) == Layout{{2, 8}, {}});
    CHECK(layout_of(20, 0, 8) == Layout{{2, 8}, {1, 4}});
    CHECK(layout_of(12, 3, 8) == Layout{{3, 4}, {}});
    CHECK(layout_of(7, 3, 8) == Layout{{1, 3}, {2, 2}});
    CHECK(layout_of(2, 4, 8) == Layout{{2, 1}, {}});
}

TEST_CASE("a job is placed on the first nodes that have room for it") {
    Nodes nodes({4, 4, 4});
    std::vector<NodeGpus> parts;
    nodes.take(std::vector<NodeGpus>{{0, 2}, {1, 4}});
    CHECK(nodes.place(layout_of(3, 0, 4), {}, parts));
    CHECK(parts == std::vector<NodeGpus>{{2, 3}});
    CHECK(nodes.place(layout_of(6, 0, 4), {}, parts));
    CHECK(parts == std::vector<NodeGpus>{{2, 4}, {0, 2}});
    CHECK_FALSE(nodes.place(layout_of(8, 2, 4), {}, parts));
    nodes.lend(7, std::vector<NodeGpus>{{1, 4}});
    CHECK(nodes.fits_with_loans(layout_of(8, 2, 4)));
    CHECK_FALSE(nodes.fits_with_loans(layout_of(12, 3, 4)));
    CHECK(nodes.fits_empty(layout_of(12, 3, 4)));
    NodeSet closed(3);
    closed.insert(2);
    const std::vector<const NodeSet*> sets{&closed};
    CHECK_FALSE(nodes.place(layout_of(3, 0, 4), sets, parts));
    CHECK(nodes.place(layout_of(1, 0, 4), sets, parts));
    CHECK(parts == std::vector<NodeGpus>{{0, 1}});
    CHECK(nodes.idle() == 6);
    CHECK(nodes.within_reach() == 10);
}
