// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm/controls.hpp"

#include "catch.hpp"

using namespace accord;

namespace {

char* text(const char* value) { return const_cast<char*>(value); }

}  // namespace

TEST_CASE("slurm.conf's plugins and flags are read as they are in force") {
    slurm_conf_t conf{};
    conf.version = text("22.05.8");
    conf.cluster_name = text("demo");
    conf.slurm_user_name = text("slurm");
    conf.preempt_type = text("preempt/partition_prio");
    conf.preempt_mode = PREEMPT_MODE_REQUEUE | PREEMPT_MODE_GANG;
    conf.job_submit_plugins = text("lua,accord");
    conf.gres_plugins = text("gpu");
    conf.prolog_flags = PROLOG_FLAG_ALLOC | PROLOG_FLAG_CONTAIN;
    conf.job_requeue = 1;
    conf.sched_params = text("bf_continue,permit_job_expansion");
    partition_info_t partitions[2]{};
    partitions[0].name = text("gpu");
    partitions[0].preempt_mode = PREEMPT_MODE_OFF;
    partitions[0].flags = PART_FLAG_DEFAULT;
    partitions[1].name = text("gpu-lend");
    partitions[1].preempt_mode = NO_VAL16;
    partition_info_msg_t list{};
    list.record_count = 2;
    list.partition_array = partitions;

    const auto controls = slurm_controls(conf, list, {});
    CHECK(controls.version == "22.05.8");
    CHECK(controls.cluster_name == "demo");
    CHECK(controls.slurm_user == "slurm");
    CHECK(controls.preempt_type == "preempt/partition_prio");
    CHECK(controls.preempt_mode == "REQUEUE");
    CHECK(controls.job_submit_plugins == std::vector<std::string>{"lua", "accord"});
    CHECK(controls.gres_types == std::vector<std::string>{"gpu"});
    CHECK(controls.priority_type.empty());
    CHECK(controls.prolog_at_allocation);
    CHECK(controls.requeues_by_default);
    CHECK_FALSE(controls.enforces_partition_limits);
    CHECK(controls.permits_job_expansion);
    CHECK_FALSE(controls.exempts_by_priority);
    CHECK(controls.partitions.at("gpu").preempt_mode == "OFF");
    CHECK(controls.partitions.at("gpu").is_default);
    CHECK(controls.partitions.at("gpu-lend").preempt_mode == "REQUEUE");
    CHECK_FALSE(controls.partitions.at("gpu-lend").is_default);
}

TEST_CASE("victims can be steered by priority from 23.02 on") {
    slurm_conf_t conf{};
    conf.version = text("23.02.0");
    CHECK(slurm_controls(conf, {}, {}).exempts_by_priority);
    conf.version = text("24.11.5");
    CHECK(slurm_controls(conf, {}, {}).exempts_by_priority);
}

TEST_CASE("what a job gets that asks for one GPU alone is the partition's default, else the cluster's") {
    slurm_conf_t conf{};
    partition_info_t partition{};
    partition.name = text("gpu");
    partition_info_msg_t list{};
    list.record_count = 1;
    list.partition_array = &partition;
    GpuDefaults defaults;
    const auto ask = [&] { return slurm_controls(conf, list, defaults).partitions.at("gpu").default_ask; };
    CHECK(ask().tres_per_node == "gres/gpu:1");
    CHECK_FALSE(ask().mem_per_node_mb);
    CHECK_FALSE(ask().cpus_per_tres);

    conf.select_type_param = CR_CORE | CR_MEMORY;
    CHECK(ask().mem_per_node_mb == 0);
    conf.def_mem_per_cpu = 2000 | MEM_PER_CPU;
    CHECK(ask().mem_per_cpu_mb == 2000);
    partition.def_mem_per_cpu = 8000;
    CHECK(ask().mem_per_node_mb == 8000);
    CHECK_FALSE(ask().mem_per_cpu_mb);

    defaults = {8, 16000};
    CHECK(ask().cpus_per_tres == "gres/gpu:8");
    CHECK(ask().mem_per_tres == "gres/gpu:16000");
    CHECK_FALSE(ask().mem_per_node_mb);
    partition.job_defaults_str = text("DefCpuPerGPU=4");
    CHECK(ask().cpus_per_tres == "gres/gpu:4");
    CHECK(ask().mem_per_tres == "gres/gpu:16000");
}
