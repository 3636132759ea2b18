// SPDX-License-Identifier: GPL-2.0-or-later
// What each release makes of a change, as it was seen on its slurmctld.
#include "policy/amend.hpp"

#include <algorithm>

#include "catch.hpp"

using namespace accord;

namespace {

constexpr auto merge = UpdateSemantics::merge;
constexpr auto replace = UpdateSemantics::replace;

struct Held {
    const char* before;  ///< the job's TresPerNode; null: none
    const char* change;  ///< the update's
    const char* merged;  ///< what 22.05 holds
    const char* replaced;  ///< what 24.11 holds
};

const Held table[] = {
    {"gres:gpu:2", "gres:gpu:4", "gres:gpu:4", "gres:gpu:4"},
    {nullptr, "gres:gpu:4", "gres:gpu:4", "gres:gpu:4"},
    {"gres:gpu:a100:2", "gres:gpu:v100:1", "gres:gpu:a100:2,gres:gpu:v100:1", "gres:gpu:v100:1"},
    {"gres:gpu:a100:2,gres:gpu:v100:1", "gres:gpu:v100:2", "gres:gpu:a100:2,gres:gpu:v100:2", "gres:gpu:v100:2"},
    {"gres:gpu:a100:2", "gres:gpu:1", "gres:gpu:a100:2,gres:gpu:1", "gres:gpu:1"},
    {"gres:gpu:2,gres:tmp:5", "gres:gpu:1", "gres:tmp:5,gres:gpu:1", "gres:gpu:1"},
    {"gres:gpu:a100", "gres:gpu:a100:2", "gres:gpu:a100:2", "gres:gpu:a100:2"},
    {"gres:gpu:1", "gres:gpu:2,gres:gpu:3", "gres:gpu:3", "gres:gpu:2,gres:gpu:3"},
    // a change that leaves nothing changes nothing
    {"gres:gpu:2", "gres:gpu:0", "gres:gpu:2", "gres:gpu:2"},
    {"gres:gpu:2", "gres:", "gres:gpu:2", "gres:gpu:2"},
    {"gres:gpu:2", "gpu:4", "gres:gpu:2", "gres:gpu:2"},
    // but for the empty string, and that on 22.05 alone
    {"gres:gpu:2", "", "", "gres:gpu:2"},
    {nullptr, "", "", ""},
    // 22.05 does not know the newer separator
    {"gres:gpu:2", "gres/gpu:4", "gres:gpu:2", "gres/gpu:4"},
};

GpuAsk per_node(const char* tres) {
    GpuAsk ask;
    if (tres != nullptr) ask.tres_per_node = tres;
    return ask;
}

}  // namespace

TEST_CASE("TRES strings are merged by 22.05 and replaced by newer releases") {
    for (const auto& [before, change, merged, replaced] : table) {
        INFO((before == nullptr ? "(none)" : before) << " changed to " << change);
        CHECK(held_texts(per_node(before), per_node(change), merge).tres_per_node == merged);
        CHECK(held_texts(per_node(before), per_node(change), replace).tres_per_node == replaced);
        CHECK(amended(per_node(before), per_node(change), merge).tres_per_node == merged);
        CHECK(amended(per_node(before), per_node(change), replace).tres_per_node == replaced);
    }
}

TEST_CASE("what Slurm would keep in spite of a change is said, for each release") {
    const auto kept = [](const char* before, const char* change, UpdateSemantics how) {
        return kept_in_spite(per_node(before), per_node(change), how).value_or("");
    };
    CHECK(kept("gres:gpu:a100:2", "gres:gpu:v100:1", merge) ==
          "Slurm keeps gres:gpu:a100:2 beside TresPerNode=gres:gpu:v100:1, as long as that does not name it");
    CHECK(kept("gres:gpu:a100:2", "gres:gpu:v100:1", replace).empty());
    CHECK(kept("gres:gpu:2", "gres:gpu:0", merge) ==
          "Slurm takes nothing from TresPerNode=gres:gpu:0, for it reads gres:NAME:COUNT");
    CHECK(kept("gres:gpu:2", "gres:gpu:0", replace) == "Slurm keeps the GPUs of a job where a change leaves it none");
    CHECK(kept("gres:gpu:2", "", merge).empty());
    CHECK_FALSE(kept("gres:gpu:2", "", replace).empty());
    CHECK(kept("gres:gpu:2", "gres:gpu:4", merge).empty());
    CHECK(kept("gres:gpu:2", "gres:gpu:4", replace).empty());
    CHECK(kept(nullptr, "", replace).empty());
}

TEST_CASE("a field that is replaced leaves the others, and with them the GPUs") {
    GpuAsk before;
    before.tres_per_job = "gres/gpu:4";
    before.tres_per_node = "gres/gpu:2";
    AskChange change;
    change.tres_per_node = "";
    CHECK_FALSE(kept_in_spite(before, change, replace));
    const auto after = amended(before, change, replace);
    CHECK(after.tres_per_job == "gres/gpu:4");
    CHECK(after.tres_per_node == "");
}

TEST_CASE("22.05 keeps the GPUs that it has reckoned from tasks") {
    GpuAsk before;
    before.tres_per_task = "gres:gpu:1";
    before.num_tasks = 4;
    AskChange fewer, other;
    fewer.num_tasks = 2;
    other.tres_per_task = "gres:gpu:2";
    for (const auto& change : {fewer, other}) {
        CHECK(kept_in_spite(before, change, merge) ==
              "Slurm keeps the GPUs of a job that has them per task, however its tasks change");
        CHECK_FALSE(kept_in_spite(before, change, replace));
    }
    AskChange same;
    same.num_tasks = 4;
    CHECK_FALSE(kept_in_spite(before, same, merge));
    GpuAsk per_gpu;
    per_gpu.ntasks_per_tres = 2;
    per_gpu.num_tasks = 4;
    for (const auto how : {merge, replace}) CHECK(kept_in_spite(per_gpu, fewer, how));
}

TEST_CASE("tasks follow nodes as each release has them follow") {
    GpuAsk before;
    before.min_nodes = before.max_nodes = 2;
    before.ntasks_per_node = 2;
    before.num_tasks = 4;
    AskChange nodes;
    nodes.min_nodes = nodes.max_nodes = 1;
    CHECK(amended(before, nodes, replace).num_tasks == 2);
    CHECK(amended(before, nodes, merge).num_tasks == 4);
    nodes.min_nodes = nodes.max_nodes = 6;
    CHECK(amended(before, nodes, replace).num_tasks == 12);
    CHECK(amended(before, nodes, merge).num_tasks == 6);
    nodes.num_tasks = 7;
    CHECK(amended(before, nodes, replace).num_tasks == 7);
}

TEST_CASE("a list of node counts goes where the counts change") {
    GpuAsk before;
    before.min_nodes = 2, before.max_nodes = 4, before.job_size = "2,4";
    AskChange change;
    change.min_nodes = 2, change.max_nodes = 4;
    CHECK(amended(before, change, replace).job_size == "2,4");
    change.max_nodes = 6;
    CHECK_FALSE(amended(before, change, replace).job_size);
    change.job_size = "2-6:2";
    CHECK(amended(before, change, replace).job_size == "2-6:2");
}

TEST_CASE("more nodes bring at least a task's CPUs each") {
    GpuAsk before;
    before.min_nodes = 1, before.min_cpus = 16, before.cpus_per_task = 8;
    AskChange change;
    change.min_nodes = 3;
    for (const auto how : {UpdateSemantics::merge, UpdateSemantics::replace})
        CHECK(amended(before, change, how).min_cpus == 24);
    change.min_nodes = 1;
    CHECK(amended(before, change, UpdateSemantics::merge).min_cpus == 16);
}

TEST_CASE("memory of one kind takes the place of the other") {
    GpuAsk before;
    before.mem_per_node_mb = 1000;
    AskChange change;
    change.mem_per_cpu_mb = 10;
    const auto after = amended(before, change, replace);
    CHECK_FALSE(after.mem_per_node_mb);
    CHECK(after.mem_per_cpu_mb == 10);
}

TEST_CASE("a change of two parts can leave either behind") {
    GpuAsk before;
    before.tres_per_node = "gres:gpu:1";
    before.min_nodes = before.max_nodes = 4;
    AskChange change;
    change.tres_per_node = "gres:gpu:4";
    change.min_nodes = change.max_nodes = 1;
    const auto left = outcomes(before, change, replace);
    REQUIRE(left.size() == 3);
    CHECK(left.front() == amended(before, change, replace));
    const auto is_there = [&](int nodes, const char* tres) {
        return std::any_of(left.begin(), left.end(), [&](const auto& ask) {
            return ask.min_nodes == nodes && ask.tres_per_node == tres;
        });
    };
    CHECK(is_there(4, "gres:gpu:4"));
    CHECK(is_there(1, "gres:gpu:1"));
}

TEST_CASE("a change of nothing leaves the ask as it is") {
    GpuAsk before;
    before.tres_per_job = "gres:gpu:2";
    before.num_tasks = 3;
    CHECK(parts_of({}) == 0);
    CHECK(outcomes(before, {}, merge) == std::vector<GpuAsk>{before});
}
