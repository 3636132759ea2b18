// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's job records, read as plain values.
#include "slurm/job_view.hpp"

#include "catch.hpp"
#include "slurm/job_record.hpp"
#include "slurm_strings.hpp"

using namespace accord;

namespace {

/// A pending batch job as slurmctld 22.05 lists it.
slurm_job_info_t pending() {
    slurm_job_info_t info{};
    info.job_id = 17;
    info.user_id = 1001;
    info.array_task_id = NO_VAL;
    info.batch_flag = 1;
    info.job_state = JOB_PENDING;
    info.priority = 100'000;
    info.requeue = 1;
    info.shared = NO_VAL16;
    info.core_spec = NO_VAL16;
    info.ntasks_per_tres = NO_VAL16;
    info.ntasks_per_socket = NO_VAL16;
    info.sockets_per_node = NO_VAL16;
    info.cpus_per_task = 1;
    info.num_tasks = 1;
    info.num_nodes = 1;
    info.num_cpus = 1;
    info.pn_min_cpus = 1;
    info.time_limit = 60;
    info.site_factor = NICE_OFFSET;
    return info;
}

}  // namespace

TEST_CASE("a pending job is read") {
    SlurmStrings text;
    slurm_job_info_t info = pending();
    info.account = text("vision-lab");
    info.partition = text("gpu-lend");
    info.admin_comment = text("accord:v1 decision=0-17");
    info.submit_time = 100;
    info.eligible_time = 101;
    info.restart_cnt = 2;
    info.site_factor = NICE_OFFSET + 100'000;
    const JobView view = job_view(info);
    CHECK(view.job_id == 17);
    CHECK(view.array_job_id == 0);
    CHECK_FALSE(view.array_task_id);
    CHECK_FALSE(view.array);
    CHECK(view.uid == 1001);
    CHECK(view.account == "vision-lab");
    CHECK(view.partition == "gpu-lend");
    CHECK(view.state == JobState::pending);
    CHECK(view.ending == Ending::none);
    CHECK(view.hold == Hold::none);
    CHECK_FALSE(view.dependent);
    CHECK(view.eligible_at(101));
    CHECK_FALSE(view.eligible_at(100));
    CHECK(view.het_job_id == 0);
    CHECK(view.admin_comment == "accord:v1 decision=0-17");
    CHECK(view.submit_s == 100);
    CHECK(view.begin_s == 101);
    CHECK(view.priority == 100'000);
    CHECK(view.site_factor == 100'000);
    CHECK(view.restarts == 2);
    CHECK(view.type == WorkloadType::batch);
    CHECK(view.requeueable);
    CHECK(view.time_limit_min == 60);
    CHECK(view.allocated.empty());
    CHECK(view.nodes.empty());
}

TEST_CASE("a site factor below the offset is negative, and an unset one absent") {
    slurm_job_info_t info = pending();
    info.site_factor = NICE_OFFSET - 50;
    CHECK(job_view(info).site_factor == -50);
    info.site_factor = NO_VAL;
    CHECK_FALSE(job_view(info).site_factor);
}

TEST_CASE("states are read, and a completing job is one whatever it will be") {
    const auto state = [](std::uint32_t job_state) {
        slurm_job_info_t info = pending();
        info.job_state = job_state;
        return job_view(info).state;
    };
    CHECK(state(JOB_RUNNING) == JobState::running);
    CHECK(state(JOB_RUNNING | JOB_CONFIGURING) == JobState::running);
    CHECK(state(JOB_SUSPENDED) == JobState::suspended);
    CHECK(state(JOB_PENDING | JOB_COMPLETING) == JobState::completing);
    CHECK(state(JOB_COMPLETE | JOB_COMPLETING) == JobState::completing);
    for (const std::uint32_t ended : {JOB_COMPLETE, JOB_CANCELLED, JOB_FAILED, JOB_TIMEOUT, JOB_NODE_FAIL, JOB_PREEMPTED,
                                      JOB_BOOT_FAIL, JOB_DEADLINE, JOB_OOM})
        CHECK(state(ended) == JobState::ended);
}

TEST_CASE("how a job ended is told") {
    const auto ending = [](std::uint32_t job_state) {
        slurm_job_info_t info = pending();
        info.job_state = job_state;
        return job_view(info).ending;
    };
    CHECK(ending(JOB_RUNNING) == Ending::none);
    CHECK(ending(JOB_COMPLETE) == Ending::completed);
    CHECK(ending(JOB_CANCELLED | JOB_COMPLETING) == Ending::cancelled);
    CHECK(ending(JOB_PREEMPTED) == Ending::preempted);
    CHECK(ending(JOB_TIMEOUT) == Ending::failed);
}

TEST_CASE("holds are the user's, an administrator's, or for unknown reasons an administrator's") {
    slurm_job_info_t info = pending();
    info.priority = 0;
    info.state_reason = WAIT_HELD_USER;
    CHECK(job_view(info).hold == Hold::user);
    info.state_reason = WAIT_HELD;
    CHECK(job_view(info).hold == Hold::admin);
    info.state_reason = WAIT_DEPENDENCY;
    CHECK(job_view(info).hold == Hold::admin);
    info.job_state = JOB_RUNNING;
    CHECK(job_view(info).hold == Hold::none);
}

TEST_CASE("a job with a dependency is not eligible while it pends") {
    SlurmStrings text;
    slurm_job_info_t info = pending();
    info.dependency = text("afterok:3(unfulfilled)");
    CHECK(job_view(info).dependent);
    info.dependency = text("");
    CHECK_FALSE(job_view(info).dependent);
    info.state_reason = WAIT_DEPENDENCY;
    CHECK(job_view(info).dependent);
    CHECK_FALSE(job_view(info).eligible_at(INFINITE));
    info.job_state = JOB_RUNNING;
    CHECK_FALSE(job_view(info).dependent);
}

TEST_CASE("a component tells of which heterogeneous job it is") {
    slurm_job_info_t info = pending();
    info.het_job_id = 16;
    CHECK(job_view(info).het_job_id == 16);
    CHECK(job_view(info).type == WorkloadType::het);
    info.het_job_id = NO_VAL;
    CHECK(job_view(info).het_job_id == 0);
}

TEST_CASE("an array's pending rest is counted by its bits, since its text is cut off") {
    SlurmStrings text;
    slurm_job_info_t info = pending();
    info.array_job_id = 17;
    info.array_task_str = text("0,2,4,7-9,...%3");
    info.array_max_tasks = 3;
    bitstr_t bits[] = {0x42434445, 70, -1, 0x3F};
    info.array_bitmap = bits;
    const JobView view = job_view(info);
    CHECK(view.type == WorkloadType::array);
    CHECK(view.array_job_id == 17);
    CHECK_FALSE(view.array_task_id);
    REQUIRE(view.array);
    CHECK(view.array->tasks == 70);
    CHECK(view.array->limit == 3);
    CHECK(view.array->indices == "0,2,4,7-9,...");
}

TEST_CASE("an array's pending rest without bits is counted by its text") {
    SlurmStrings text;
    slurm_job_info_t info = pending();
    info.array_job_id = 17;
    info.array_task_str = text("3-5");
    REQUIRE(job_view(info).array);
    CHECK(job_view(info).array->tasks == 3);
    CHECK_FALSE(job_view(info).array->limit);
}

TEST_CASE("an array's task has its number and no indices") {
    slurm_job_info_t info = pending();
    info.array_job_id = 17;
    info.job_id = 20;
    info.array_task_id = 3;
    info.array_max_tasks = 2;
    const JobView view = job_view(info);
    CHECK(view.array_limit == 2);
    CHECK(view.array_task_id == 3u);
    CHECK_FALSE(view.array);
    CHECK(view.type == WorkloadType::array);
}

TEST_CASE("workloads are told apart") {
    slurm_job_info_t info = pending();
    info.batch_flag = 0;
    CHECK(job_view(info).type == WorkloadType::interactive);
    info.het_job_id = 17;
    CHECK(job_view(info).type == WorkloadType::het);
    info.bitflags = CRON_JOB;
    CHECK(job_view(info).type == WorkloadType::cron);
}

TEST_CASE("the nodes asked for are those of the TRES string, not Slurm's estimate") {
    SlurmStrings text;
    slurm_job_info_t info = pending();
    info.num_nodes = 3;
    info.max_nodes = 2;
    info.tres_per_node = text("gres:gpu:2");
    info.tres_req_str = text("cpu=12,mem=40000M,node=2,billing=12,gres/gpu=4");
    const GpuAsk ask = job_view(info).gpus;
    CHECK(ask.min_nodes == 2);
    CHECK(ask.max_nodes == 2);
    CHECK(ask.tres_per_node == "gres:gpu:2");
    info.tres_req_str = nullptr;
    CHECK(job_view(info).gpus.min_nodes == 3);
}

TEST_CASE("tasks that slurmctld only inferred from the nodes are not taken for the job's own") {
    SlurmStrings text;
    slurm_job_info_t info = pending();
    info.num_nodes = 2;
    info.max_nodes = 4;
    info.num_tasks = 2;
    CHECK_FALSE(job_view(info).gpus.num_tasks);
    info.num_tasks = 4;
    info.ntasks_per_node = 2;
    CHECK_FALSE(job_view(info).gpus.num_tasks);
    info.ntasks_per_node = 0;
    info.num_tasks = 3;
    CHECK(job_view(info).gpus.num_tasks == 3);
    info.num_tasks = 2;
    info.bitflags = JOB_NTASKS_SET;
    CHECK(job_view(info).gpus.num_tasks == 2);
    info.bitflags = 0;
    info.tres_per_task = text("gres:gpu:1");
    CHECK(job_view(info).gpus.num_tasks == 2);
}

TEST_CASE("CPUs are what a pending job asked for, and not what a running one was given") {
    slurm_job_info_t info = pending();
    info.num_cpus = 6;
    CHECK(job_view(info).gpus.min_cpus == 6);
    info.job_state = JOB_RUNNING;
    CHECK_FALSE(job_view(info).gpus.min_cpus);
}

TEST_CASE("what a record does not say is absent") {
    slurm_job_info_t info = pending();
    info.ntasks_per_node = 0;
    info.pn_min_memory = 0;
    info.max_nodes = 0;
    const GpuAsk ask = job_view(info).gpus;
    CHECK_FALSE(ask.max_nodes);
    CHECK_FALSE(ask.ntasks_per_node);
    CHECK_FALSE(ask.ntasks_per_socket);
    CHECK_FALSE(ask.ntasks_per_tres);
    CHECK_FALSE(ask.mem_per_node_mb);
    CHECK_FALSE(ask.mem_per_cpu_mb);
    CHECK_FALSE(ask.whole_node);
    info.pn_min_memory = 100 | MEM_PER_CPU;
    CHECK(job_view(info).gpus.mem_per_cpu_mb == 100);
    info.shared = 0;
    CHECK(job_view(info).gpus.whole_node);
}

TEST_CASE("what a running job holds is the sum of its nodes' details") {
    SlurmStrings text;
    slurm_job_info_t info = pending();
    info.job_state = JOB_RUNNING;
    char* details[] = {text("gpu:a100:2(IDX:0-1)"), nullptr, text("gpu:a100:1(IDX:3),gpu:v100:1(IDX:0),shard:4(0/4)")};
    info.gres_detail_str = details;
    info.gres_detail_cnt = 3;
    CHECK(job_view(info).allocated == GpuVector{{"a100", 3}, {"v100", 1}});
    char* untyped[] = {text("gpu:4(IDX:0-3)")};
    info.gres_detail_str = untyped;
    info.gres_detail_cnt = 1;
    CHECK(job_view(info).allocated == GpuVector{{"", 4}});
}

TEST_CASE("a completing job still holds what its total says") {
    SlurmStrings text;
    slurm_job_info_t info = pending();
    info.job_state = JOB_COMPLETE | JOB_COMPLETING;
    info.gres_total = text("gpu:a100:4");
    CHECK(job_view(info).allocated == GpuVector{{"a100", 4}});
    info.job_state = JOB_COMPLETE;
    CHECK(job_view(info).allocated.empty());
}

TEST_CASE("node ranges are read up to their end") {
    slurm_job_info_t info = pending();
    info.job_state = JOB_RUNNING;
    std::int32_t index[] = {0, 1, 3, 3, -1};
    info.node_inx = index;
    CHECK(job_view(info).nodes == std::vector<std::pair<std::int32_t, std::int32_t>>{{0, 1}, {3, 3}});
}

TEST_CASE("outside of slurmctld there is no job record to read") {
    const auto reader = JobRecordReader::find();
    REQUIRE_FALSE(reader);
    CHECK(reader.error().code == "unavailable");
    CHECK(reader.error().what == "job record: cannot read: no symbol pack_job");
}
