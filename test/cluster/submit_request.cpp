// SPDX-License-Identifier: GPL-2.0-or-later
// submit_request ACCOUNT [+FIELD=VALUE…] [ENTRY…]: submits a held job as only a client of libslurm can, past what sbatch
// checks and spells: a field is one of those below, with a number, a text or "@SIZE" for a text of that many letters;
// without any field the job asks for one GPU. An entry goes into the prolog's environment, "@KIB" is one of that size.
// Prints the job's id, else slurmctld's error.
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

namespace {

struct TextField {
    const char* name;
    char* job_desc_msg_t::*field;
};

const TextField text_fields[] = {
    {"tres_per_job", &job_desc_msg_t::tres_per_job},       {"tres_per_node", &job_desc_msg_t::tres_per_node},
    {"tres_per_socket", &job_desc_msg_t::tres_per_socket}, {"tres_per_task", &job_desc_msg_t::tres_per_task},
    {"cpus_per_tres", &job_desc_msg_t::cpus_per_tres},     {"mem_per_tres", &job_desc_msg_t::mem_per_tres},
    {"array_inx", &job_desc_msg_t::array_inx},             {"req_nodes", &job_desc_msg_t::req_nodes},
    {"partition", &job_desc_msg_t::partition},             {"account", &job_desc_msg_t::account},
    {"name", &job_desc_msg_t::name},                       {"std_out", &job_desc_msg_t::std_out},
};

struct NumberField {
    const char* name;
    void (*set)(job_desc_msg_t&, std::uint64_t);
};

const NumberField number_fields[] = {
    {"nodes", [](auto& desc, auto value) { desc.min_nodes = desc.max_nodes = static_cast<uint32_t>(value); }},
    {"min_nodes", [](auto& desc, auto value) { desc.min_nodes = static_cast<uint32_t>(value); }},
    {"max_nodes", [](auto& desc, auto value) { desc.max_nodes = static_cast<uint32_t>(value); }},
    {"num_tasks", [](auto& desc, auto value) { desc.num_tasks = static_cast<uint32_t>(value); }},
    {"min_cpus", [](auto& desc, auto value) { desc.min_cpus = static_cast<uint32_t>(value); }},
    {"cpus_per_task", [](auto& desc, auto value) { desc.cpus_per_task = static_cast<uint16_t>(value); }},
    {"ntasks_per_node", [](auto& desc, auto value) { desc.ntasks_per_node = static_cast<uint16_t>(value); }},
    {"ntasks_per_tres", [](auto& desc, auto value) { desc.ntasks_per_tres = static_cast<uint16_t>(value); }},
    {"sockets_per_node", [](auto& desc, auto value) { desc.sockets_per_node = static_cast<uint16_t>(value); }},
    {"pn_min_memory", [](auto& desc, auto value) { desc.pn_min_memory = value; }},
    {"time_limit", [](auto& desc, auto value) { desc.time_limit = static_cast<uint32_t>(value); }},
};

/// Sets what "FIELD=VALUE" says; the text must outlive the request.
bool set_field(job_desc_msg_t& desc, std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) return false;
    const std::string field = text.substr(0, equals);
    text.erase(0, equals + 1);
    if (text.starts_with("@")) text = std::string(std::stoul(text.substr(1)), 'x');
    for (const auto& one : text_fields)
        if (field == one.name) return (desc.*one.field = text.data()) != nullptr;
    for (const auto& one : number_fields)
        if (field == one.name) return one.set(desc, std::stoull(text)), true;
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    slurm_init(nullptr);
    job_desc_msg_t desc;
    slurm_init_job_desc_msg(&desc);
    std::string gpus = "gres:gpu:1";
    desc.tres_per_job = gpus.data();
    std::deque<std::string> entries;
    std::vector<char*> pointers;
    std::string path = "PATH=/usr/bin:/bin", script = "#!/bin/sh\nexit 0\n", name = "request", folder = "/tmp",
                null = "/dev/null";
    desc.account = argv[1];
    desc.name = name.data();
    desc.std_out = null.data();
    for (int i = 2; i < argc; ++i) {
        std::string entry = argv[i];
        if (entry.starts_with("+")) {
            desc.tres_per_job = nullptr;
            if (!set_field(desc, entries.emplace_back(entry.substr(1)))) return 2;
            continue;
        }
        if (entry.starts_with("@")) entry = "SPANK_BIG=" + std::string(1024 * std::stoul(entry.substr(1)), 'x');
        pointers.push_back(entries.emplace_back(std::move(entry)).data());
    }
    std::vector<char*> environment = {path.data()};
    desc.script = script.data();
    desc.environment = environment.data();
    desc.env_size = 1;
    desc.work_dir = folder.data();
    desc.std_err = null.data();
    desc.user_id = getuid();
    desc.group_id = getgid();
    desc.priority = 0;
    desc.spank_job_env = pointers.data();
    desc.spank_job_env_size = static_cast<uint32_t>(pointers.size());

    submit_response_msg_t* response = nullptr;
    if (slurm_submit_batch_job(&desc, &response) != SLURM_SUCCESS) {
        std::fprintf(stderr, "%s: %s\n", slurm_strerror(errno),
                     response != nullptr && response->job_submit_user_msg != nullptr ? response->job_submit_user_msg : "");
        return 1;
    }
    std::printf("%u\n", response->job_id);
    return 0;
}
