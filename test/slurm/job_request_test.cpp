// SPDX-License-Identifier: GPL-2.0-or-later
// What sbatch, srun, salloc and other clients fill into a request, read as plain values; NO_VAL goes no further.
#include "slurm/job_request.hpp"

#include "catch.hpp"
#include "policy/count.hpp"
#include "slurm_strings.hpp"

using namespace accord;

namespace {

/// As a client's library hands it over before any option.
job_desc_msg_t untouched() {
    job_desc_msg_t desc;
    slurm_init_job_desc_msg(&desc);
    desc.user_id = 1001;
    desc.het_job_offset = NO_VAL;
    return desc;
}

JobRequest read(const job_desc_msg_t& desc) { return job_request(desc, true); }

/// A field, and a value of it that means nothing.
struct Unset {
    const char* field;
    void (*set)(job_desc_msg_t&);
};

const Unset unset_values[] = {
    {"min_nodes", [](job_desc_msg_t& d) { d.min_nodes = NO_VAL; }},
    {"min_nodes 0", [](job_desc_msg_t& d) { d.min_nodes = 0; }},
    {"max_nodes", [](job_desc_msg_t& d) { d.max_nodes = NO_VAL; }},
    {"max_nodes 0", [](job_desc_msg_t& d) { d.max_nodes = 0; }},
    {"max_nodes INFINITE", [](job_desc_msg_t& d) { d.max_nodes = INFINITE; }},
    {"num_tasks", [](job_desc_msg_t& d) { d.num_tasks = NO_VAL; }},
    {"num_tasks INFINITE", [](job_desc_msg_t& d) { d.num_tasks = INFINITE; }},
    {"ntasks_per_node", [](job_desc_msg_t& d) { d.ntasks_per_node = NO_VAL16; }},
    {"ntasks_per_node INFINITE", [](job_desc_msg_t& d) { d.ntasks_per_node = INFINITE16; }},
    {"ntasks_per_socket", [](job_desc_msg_t& d) { d.ntasks_per_socket = NO_VAL16; }},
    {"ntasks_per_socket INFINITE", [](job_desc_msg_t& d) { d.ntasks_per_socket = INFINITE16; }},
    {"ntasks_per_tres", [](job_desc_msg_t& d) { d.ntasks_per_tres = NO_VAL16; }},
    {"cpus_per_task", [](job_desc_msg_t& d) { d.cpus_per_task = NO_VAL16; }},
    {"min_cpus", [](job_desc_msg_t& d) { d.min_cpus = NO_VAL; }},
    {"sockets_per_node", [](job_desc_msg_t& d) { d.sockets_per_node = NO_VAL16; }},
    {"pn_min_cpus", [](job_desc_msg_t& d) { d.pn_min_cpus = NO_VAL16; }},
    {"pn_min_memory", [](job_desc_msg_t& d) { d.pn_min_memory = NO_VAL64; }},
    {"shared", [](job_desc_msg_t& d) { d.shared = NO_VAL16; }},
    {"core_spec", [](job_desc_msg_t& d) { d.core_spec = NO_VAL16; }},
    {"reboot", [](job_desc_msg_t& d) { d.reboot = NO_VAL16; }},
    {"reboot 0", [](job_desc_msg_t& d) { d.reboot = 0; }},
    {"time_limit", [](job_desc_msg_t& d) { d.time_limit = NO_VAL; }},
    {"requeue", [](job_desc_msg_t& d) { d.requeue = NO_VAL16; }},
    {"priority", [](job_desc_msg_t& d) { d.priority = NO_VAL; }},
};

}  // namespace

TEST_CASE("a field without a value is absent, whatever Slurm puts there", "[A25]") {
    for (const Unset& unset : unset_values) {
        INFO(unset.field);
        job_desc_msg_t desc = untouched();
        unset.set(desc);
        const JobRequest request = read(desc);
        CHECK(request.uid == 1001);
        CHECK_FALSE(request.account);
        CHECK(request.partitions.empty());
        CHECK(request.gpus == GpuAsk{});
        CHECK_FALSE(request.array);
        CHECK_FALSE(request.array_malformed);
        CHECK_FALSE(request.time_limit_min);
        CHECK(request.requeueable);
        CHECK_FALSE(request.held);
        CHECK(request.spank_env_bytes == 0);
    }
}

TEST_CASE("every way to ask for GPUs is handed on as it was spelt", "[A01][A03][A04]") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.tres_per_job = text("gres:gpu:4");
    desc.tres_per_node = text("gres/gpu:a100:2");
    desc.tres_per_socket = text("gpu:1");
    desc.tres_per_task = text("gres/gpu=2");
    desc.cpus_per_tres = text("gres:gpu:8");
    desc.mem_per_tres = text("gres:gpu:1024");
    desc.ntasks_per_tres = 2;
    const GpuAsk ask = read(desc).gpus;
    CHECK(ask.tres_per_job == "gres:gpu:4");
    CHECK(ask.tres_per_node == "gres/gpu:a100:2");
    CHECK(ask.tres_per_socket == "gpu:1");
    CHECK(ask.tres_per_task == "gres/gpu=2");
    CHECK(ask.cpus_per_tres == "gres:gpu:8");
    CHECK(ask.mem_per_tres == "gres:gpu:1024");
    CHECK(ask.ntasks_per_tres == 2);
}

TEST_CASE("an empty GPU option is none", "[A06]") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.tres_per_node = text("");
    CHECK_FALSE(read(desc).gpus.tres_per_node);
}

TEST_CASE("node, task and CPU counts are read", "[A02]") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.min_nodes = 2;
    desc.max_nodes = 4;
    desc.num_tasks = 8;
    desc.ntasks_per_node = 4;
    desc.ntasks_per_socket = 2;
    desc.cpus_per_task = 3;
    desc.min_cpus = 24;
    desc.sockets_per_node = 2;
    desc.pn_min_cpus = 12;
    desc.req_nodes = text("n[1-3],n7");
    const GpuAsk ask = read(desc).gpus;
    CHECK(ask.min_nodes == 2);
    CHECK(ask.max_nodes == 4);
    CHECK(ask.num_tasks == 8);
    CHECK(ask.ntasks_per_node == 4);
    CHECK(ask.ntasks_per_socket == 2);
    CHECK(ask.cpus_per_task == 3);
    CHECK(ask.min_cpus == 24);
    CHECK(ask.sockets_per_node == 2);
    CHECK(ask.min_cpus_per_node == 12);
    CHECK(ask.required_nodes == 4);
}

TEST_CASE("memory is per node or per CPU, and all of a node's is 0") {
    job_desc_msg_t desc = untouched();
    desc.pn_min_memory = 4096;
    CHECK(read(desc).gpus.mem_per_node_mb == 4096);
    CHECK_FALSE(read(desc).gpus.mem_per_cpu_mb);
    desc.pn_min_memory = 0;
    CHECK(read(desc).gpus.mem_per_node_mb == 0);
    desc.pn_min_memory = 512 | MEM_PER_CPU;
    CHECK(read(desc).gpus.mem_per_cpu_mb == 512);
    CHECK_FALSE(read(desc).gpus.mem_per_node_mb);
}

TEST_CASE("whole nodes are asked for by exclusive use, core specialisation or a reboot") {
    job_desc_msg_t desc = untouched();
    desc.shared = JOB_SHARED_NONE;
    CHECK(read(desc).gpus.whole_node);
    for (const std::uint16_t shared : {JOB_SHARED_OK, JOB_SHARED_USER, JOB_SHARED_MCS}) {
        desc.shared = shared;
        CHECK_FALSE(read(desc).gpus.whole_node);
    }
    desc = untouched();
    desc.core_spec = 2;
    CHECK(read(desc).gpus.whole_node);
    desc = untouched();
    desc.reboot = 1;
    CHECK(read(desc).gpus.whole_node);
}

TEST_CASE("account and partitions arrive as they were named", "[A28]") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.account = text("LAB_A");
    desc.partition = text("a100,v100");
    CHECK(read(desc).account == "LAB_A");
    CHECK(read(desc).partitions == std::vector<std::string>{"a100", "v100"});
    desc.partition = text(",gpu,,");
    CHECK(read(desc).partitions == std::vector<std::string>{"gpu"});
    desc.partition = text("gpu,v100,gpu,,gpu");
    CHECK(read(desc).partitions == std::vector<std::string>{"gpu", "v100"});
    desc.account = text("");
    CHECK_FALSE(read(desc).account);
}

TEST_CASE("the workload is told by how the job comes") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    CHECK(read(desc).type == WorkloadType::interactive);
    desc.script = text("#!/bin/sh\n");
    CHECK(read(desc).type == WorkloadType::batch);
    desc.array_inx = text("0-3");
    CHECK(read(desc).type == WorkloadType::array);
    desc.het_job_offset = 0;
    CHECK(read(desc).type == WorkloadType::het);
    desc.bitflags |= CRON_JOB;
    CHECK(read(desc).type == WorkloadType::cron);
}

TEST_CASE("an array is read, and one that cannot be is told") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.script = text("#!/bin/sh\n");
    desc.array_inx = text("0-9:3,20%2");
    JobRequest request = read(desc);
    REQUIRE(request.array);
    CHECK(request.array->tasks == 5);
    CHECK(request.array->limit == 2);
    desc.array_inx = text("0-x");
    request = read(desc);
    CHECK_FALSE(request.array);
    CHECK(request.array_malformed);
}

TEST_CASE("required nodes are counted, and a list that cannot be is told") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.req_nodes = text("n1 n[2-3]");
    CHECK(read(desc).gpus.required_nodes == 3);
    CHECK_FALSE(read(desc).node_list_malformed);
    desc.req_nodes = text("n[1-4]n[1-4]n[1-4]n[1-4]n[1-4]n[1-4]n[1-4]n[1-4]n[1-4]n[1-4]n[1-4]");
    CHECK(read(desc).node_list_malformed);
    desc.req_nodes = text("");
    CHECK_FALSE(read(desc).node_list_malformed);
}

TEST_CASE("no limit on time is above every limit, no time is none") {
    job_desc_msg_t desc = untouched();
    desc.time_limit = 60;
    CHECK(read(desc).time_limit_min == 60);
    desc.time_limit = INFINITE;
    CHECK(read(desc).time_limit_min == INFINITE);
}

TEST_CASE("requeue is as asked, else as slurm.conf says") {
    job_desc_msg_t desc = untouched();
    CHECK(job_request(desc, true).requeueable);
    CHECK_FALSE(job_request(desc, false).requeueable);
    desc.requeue = 0;
    CHECK_FALSE(job_request(desc, true).requeueable);
    desc.requeue = 1;
    CHECK(job_request(desc, false).requeueable);
}

TEST_CASE("hold, files and environment are read") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.priority = 0;
    desc.work_dir = text("/proj/vision");
    desc.std_out = text("out.%j");
    desc.std_err = text("/tmp/err");
    desc.std_in = text("/dev/null");
    std::vector<char*> environment = {text("HOME=/"), nullptr, text("SLURM_GET_USER_ENV=1")};
    desc.environment = environment.data();
    desc.env_size = 3;
    std::vector<char*> spank = {text("SPANK_A=1"), nullptr, text("SPANK_BC=")};
    desc.spank_job_env = spank.data();
    desc.spank_job_env_size = 3;
    const JobRequest request = read(desc);
    CHECK(request.held);
    CHECK(request.work_dir == "/proj/vision");
    CHECK(request.std_out == "out.%j");
    CHECK(request.std_err == "/tmp/err");
    CHECK(request.std_in == "/dev/null");
    CHECK(request.login_env);
    CHECK(request.spank_env_bytes == 20);
    desc.env_size = 1;
    CHECK_FALSE(read(desc).login_env);
}

TEST_CASE("what keeps a job from starting yet is read, and what it belongs to") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    CHECK_FALSE(read(desc).dependent);
    CHECK(read(desc).begin_s == 0);
    CHECK_FALSE(read(desc).het);
    desc.dependency = text("afterok:3");
    desc.begin_time = 1'780'000'060;
    desc.het_job_offset = 2;
    CHECK(read(desc).dependent);
    CHECK(read(desc).begin_s == 1'780'000'060);
    CHECK(read(desc).het->offset == 2);
    CHECK(read(desc).het->earlier.empty());
    desc.bitflags |= CRON_JOB;
    CHECK_FALSE(read(desc).het);
}

TEST_CASE("numbers at their edges are read and counted") {
    const std::uint64_t edges[] = {0, 1, 0xfd, NO_VAL8, INFINITE8, NO_VAL16, INFINITE16, NO_VAL - 1, NO_VAL, INFINITE, NO_VAL64 - 1,
                                   NO_VAL64, INFINITE64};
    const PoolConfig pool{.partition = "gpu", .gpus = {{"a100", 16}}};
    SlurmStrings text;
    for (const auto first : edges)
        for (const auto second : edges) {
            INFO(first << " " << second);
            job_desc_msg_t desc = untouched();
            desc.tres_per_node = text("gres:gpu:2");
            desc.tres_per_task = text("gres/gpu:a100=1");
            desc.tres_per_socket = text("gres:gpu:1");
            desc.min_nodes = desc.num_tasks = desc.time_limit = static_cast<std::uint32_t>(first);
            desc.max_nodes = desc.min_cpus = desc.het_job_offset = static_cast<std::uint32_t>(second);
            desc.ntasks_per_node = desc.cpus_per_task = desc.core_spec = static_cast<std::uint16_t>(first);
            desc.sockets_per_node = desc.ntasks_per_tres = desc.pn_min_cpus = static_cast<std::uint16_t>(second);
            desc.pn_min_memory = first | (second % 2 == 0 ? MEM_PER_CPU : 0);
            const auto count = count_gpus(read(desc).gpus, nullptr, pool);
            for (const auto& [type, gpus] : count.gpus) {
                CHECK(gpus.min >= 0);
                CHECK(gpus.max >= gpus.min);
                CHECK(gpus.max <= gpus_max);
            }
        }
}

TEST_CASE("texts of 4,000 letters, and texts that mean nothing, are read and counted") {
    const PoolConfig pool{.partition = "gpu", .gpus = {{"a100", 16}}};
    const std::string letters(4000, 'x');
    SlurmStrings text;
    for (const std::string& value : {letters, "gres:gpu:" + letters, "gres:gpu:" + letters + ":1", std::string(4000, ','),
                                     std::string(4000, '['), std::string("gres:gpu:"), std::string("gres:gpu::"), std::string("gres"),
                                     std::string("=:/="), std::string("gres:gpu:1:2:3"), std::string("gres:gpu:-1"),
                                     std::string("gres:gpu:0x10"), "gres:gpu:" + std::string(4000, '9'), std::string("%s%n")}) {
        INFO(value.substr(0, 40));
        job_desc_msg_t desc = untouched();
        desc.tres_per_job = desc.tres_per_node = desc.tres_per_task = desc.tres_per_socket = text(value.c_str());
        desc.cpus_per_tres = desc.mem_per_tres = text(value.c_str());
        desc.array_inx = desc.req_nodes = desc.partition = text(value.c_str());
        desc.account = desc.work_dir = desc.std_out = desc.name = text(value.c_str());
        const auto request = read(desc);
        CHECK(request.array_malformed);
        CHECK(request.work_dir == value);
        CHECK(!count_gpus(request.gpus, nullptr, pool).steps.empty());
    }
}

TEST_CASE("an array of ten thousand indices is counted by its tasks") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.array_inx = text("0-9999");
    REQUIRE(read(desc).array);
    CHECK(read(desc).array->tasks == 10'000);
    CHECK(read(desc).array->contains(9'999));
    std::string one_by_one = "0";
    for (int index = 1; index < 10'000; ++index) one_by_one += "," + std::to_string(index);
    desc.array_inx = text(one_by_one.c_str());
    REQUIRE(read(desc).array);
    CHECK(read(desc).array->tasks == 10'000);
}
