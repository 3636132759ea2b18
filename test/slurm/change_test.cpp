// SPDX-License-Identifier: GPL-2.0-or-later
// What scontrol's updates, holds and releases are read as.
#include "slurm/change.hpp"

#include "catch.hpp"
#include "slurm_strings.hpp"

using namespace accord;

namespace {

job_desc_msg_t untouched() {
    job_desc_msg_t desc;
    slurm_init_job_desc_msg(&desc);
    desc.bitflags = 0x1e000000;  // what scontrol sends with every update
    return desc;
}

using Names = std::vector<std::string>;

struct Asked {
    const char* name;
    void (*set)(job_desc_msg_t&);
};

char gpus[] = "gres:gpu:2";
char one[] = "1";
char counting[] = "[fast*2]";
char nothing[] = "";

const Asked asked[] = {
    {"Gres", [](job_desc_msg_t& d) { d.tres_per_node = gpus; }},
    {"Gres", [](job_desc_msg_t& d) { d.tres_per_node = nothing; }},
    {"TresPerJob", [](job_desc_msg_t& d) { d.tres_per_job = gpus; }},
    {"TresPerSocket", [](job_desc_msg_t& d) { d.tres_per_socket = gpus; }},
    {"TresPerTask", [](job_desc_msg_t& d) { d.tres_per_task = gpus; }},
    {"CpusPerTres", [](job_desc_msg_t& d) { d.cpus_per_tres = gpus; }},
    {"MemPerTres", [](job_desc_msg_t& d) { d.mem_per_tres = gpus; }},
    {"NtasksPerTRES", [](job_desc_msg_t& d) { d.ntasks_per_tres = 1; }},
    {"NumNodes", [](job_desc_msg_t& d) { d.min_nodes = 2; }},
    {"NumNodes", [](job_desc_msg_t& d) { d.min_nodes = 0; }},
    {"NumNodes", [](job_desc_msg_t& d) { d.max_nodes = 2; }},
    {"ReqNodeList", [](job_desc_msg_t& d) { d.req_nodes = one; }},
    {"Features", [](job_desc_msg_t& d) { d.features = counting; }},
    {"Features", [](job_desc_msg_t& d) { d.prefer = counting; }},
    {"NumTasks", [](job_desc_msg_t& d) { d.num_tasks = 2; }},
    {"NtasksPerNode", [](job_desc_msg_t& d) { d.ntasks_per_node = 2; }},
    {"NtasksPerSocket", [](job_desc_msg_t& d) { d.ntasks_per_socket = 2; }},
    {"NtasksPerCore", [](job_desc_msg_t& d) { d.ntasks_per_core = 2; }},
    {"SocketsPerNode", [](job_desc_msg_t& d) { d.sockets_per_node = 2; }},
    {"CoresPerSocket", [](job_desc_msg_t& d) { d.cores_per_socket = 2; }},
    {"ThreadsPerCore", [](job_desc_msg_t& d) { d.threads_per_core = 2; }},
    {"NumCPUs", [](job_desc_msg_t& d) { d.min_cpus = 4; }},
    {"NumCPUs", [](job_desc_msg_t& d) { d.max_cpus = 4; }},
    {"CPUsPerTask", [](job_desc_msg_t& d) { d.cpus_per_task = 4; }},
    {"MinCPUsNode", [](job_desc_msg_t& d) { d.pn_min_cpus = 4; }},
    {"MinMemoryNode", [](job_desc_msg_t& d) { d.pn_min_memory = 0; }},
    {"MinMemoryCPU", [](job_desc_msg_t& d) { d.pn_min_memory = 100 | MEM_PER_CPU; }},
    {"OverSubscribe", [](job_desc_msg_t& d) { d.shared = 0; }},
    {"CoreSpec", [](job_desc_msg_t& d) { d.core_spec = INFINITE16; }},
    {"Reboot", [](job_desc_msg_t& d) { d.reboot = 1; }},
    {"TimeLimit", [](job_desc_msg_t& d) { d.time_limit = INFINITE; }},
    {"EndTime", [](job_desc_msg_t& d) { d.end_time = 1'790'000'000; }},
    {"ArrayTaskThrottle", [](job_desc_msg_t& d) { d.array_inx = one; }},
    {"Requeue", [](job_desc_msg_t& d) { d.requeue = 0; }},
};

}  // namespace

TEST_CASE("an update that changes nothing is read as nothing") {
    const Change change = change_of(untouched());
    CHECK(change.priority == PriorityChange::none);
    CHECK_FALSE(change.partition);
    CHECK_FALSE(change.account);
    CHECK_FALSE(change.admin_comment);
    CHECK_FALSE(change.work_dir);
    CHECK_FALSE(change.std_out);
    CHECK_FALSE(change.std_err);
    CHECK_FALSE(change.std_in);
    CHECK_FALSE(change.array_limit);
    CHECK_FALSE(change.time_limit_min);
    CHECK_FALSE(change.end_s);
    CHECK_FALSE(change.requeue);
    CHECK(change.gpus == AskChange{});
    CHECK(change.asks.empty());
}

TEST_CASE("what decides GPUs is read in numbers, and what is cleared as cleared") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.tres_per_node = text("gres:gpu:2");
    desc.tres_per_job = text("");
    desc.tres_per_task = text("cpu=1,gres/gpu=2");
    desc.min_nodes = 2;
    desc.max_nodes = 4;
    desc.num_tasks = 8;
    desc.min_cpus = 16;
    desc.cpus_per_task = 2;
    desc.pn_min_cpus = 4;
    desc.pn_min_memory = 100 | MEM_PER_CPU;
    desc.ntasks_per_node = 3;
    desc.ntasks_per_socket = INFINITE16;
    desc.sockets_per_node = 1;
    desc.req_nodes = text("n[1-3]");
    desc.core_spec = 1;
    const Change change = change_of(desc);
    AskChange gpus;
    gpus.tres_per_node = "gres:gpu:2";
    gpus.tres_per_job = "";
    gpus.tres_per_task = "cpu=1,gres/gpu=2";
    gpus.min_nodes = 2;
    gpus.max_nodes = 4;
    gpus.num_tasks = 8;
    gpus.min_cpus = 16;
    gpus.cpus_per_task = 2;
    gpus.min_cpus_per_node = 4;
    gpus.mem_per_cpu_mb = 100;
    gpus.ntasks_per_node = 3;
    gpus.ntasks_per_socket = 0;
    gpus.sockets_per_node = 1;
    gpus.required_nodes = 3;
    gpus.whole_node = true;
    CHECK(change.gpus == gpus);
}

TEST_CASE("memory of 0 for each CPU is all of a node's, and a node list of none is none") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.pn_min_memory = MEM_PER_CPU;
    desc.req_nodes = text("");
    Change change = change_of(desc);
    CHECK(change.gpus.mem_per_node_mb == 0);
    CHECK_FALSE(change.gpus.mem_per_cpu_mb);
    CHECK(change.gpus.required_nodes == 0);
    CHECK_FALSE(change.node_list_malformed);
    desc.req_nodes = text("n[1-");
    CHECK(change_of(desc).node_list_malformed);
}

TEST_CASE("what slurmctld leaves behind of an array's record before changes nothing") {
    job_desc_msg_t desc = untouched();
    desc.ntasks_per_tres = 0;
    desc.min_nodes = NO_VAL;
    CHECK(change_of(desc).asks.empty());
    CHECK(change_of(desc).gpus == AskChange{});
}

TEST_CASE("times and requeueing are read as they are given") {
    job_desc_msg_t desc = untouched();
    desc.time_limit = 90;
    desc.end_time = 1'790'000'000;
    desc.requeue = 0;
    const Change change = change_of(desc);
    CHECK(change.time_limit_min == 90);
    CHECK(change.end_s == 1'790'000'000);
    CHECK(change.requeue == false);
    desc.time_limit = INFINITE;
    CHECK(change_of(desc).time_limit_min > 1'000'000);
}

TEST_CASE("an array's throttle is read as Slurm reads it") {
    SlurmStrings text;
    const auto throttle = [&](const char* given) {
        job_desc_msg_t desc = untouched();
        desc.array_inx = text(given);
        return change_of(desc).array_limit;
    };
    CHECK(throttle("4") == 4);
    CHECK(throttle("0") == 0);
    CHECK(throttle("") == 0);
    CHECK(throttle("4294967298") == 2);
    CHECK_FALSE(throttle("-1"));
}

TEST_CASE("what asks for something is named as scontrol names it") {
    for (const Asked& ask : asked) {
        INFO(ask.name);
        job_desc_msg_t desc = untouched();
        ask.set(desc);
        CHECK(change_of(desc).asks == Names{ask.name});
    }
}

TEST_CASE("what asks for nothing is not named") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.comment = text("x");
    desc.name = text("x");
    desc.nice = NICE_OFFSET + 10;
    desc.dependency = text("afterok:1");
    desc.begin_time = 1'790'000'000;
    desc.features = text("x");
    desc.exc_nodes = text("n1");
    desc.reservation = text("");
    desc.licenses = text("");
    desc.qos = text("x");
    CHECK(change_of(desc).asks.empty());
}

TEST_CASE("hold, release and priority are told apart") {
    job_desc_msg_t desc = untouched();
    desc.priority = 0;
    desc.alloc_sid = 0;
    CHECK(change_of(desc).priority == PriorityChange::hold);
    desc.alloc_sid = ALLOC_SID_USER_HOLD;
    CHECK(change_of(desc).priority == PriorityChange::hold);
    desc.priority = INFINITE;
    CHECK(change_of(desc).priority == PriorityChange::release);
    desc.priority = 5000;
    CHECK(change_of(desc).priority == PriorityChange::set);
}

TEST_CASE("texts are handed on, an empty one too") {
    SlurmStrings text;
    job_desc_msg_t desc = untouched();
    desc.partition = text("gpu");
    desc.account = text("");
    desc.admin_comment = text("accord:v1 action=5 to=guaranteed");
    desc.work_dir = text("/proj");
    desc.std_out = text("/proj/out");
    desc.std_err = text("/proj/err");
    desc.std_in = text("/proj/in");
    const Change change = change_of(desc);
    CHECK(change.partition == "gpu");
    CHECK(change.account == "");
    CHECK(change.admin_comment == "accord:v1 action=5 to=guaranteed");
    CHECK(change.work_dir == "/proj");
    CHECK(change.std_out == "/proj/out");
    CHECK(change.std_err == "/proj/err");
    CHECK(change.std_in == "/proj/in");
    CHECK(change.asks.empty());
}
