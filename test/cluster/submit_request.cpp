// SPDX-License-Identifier: GPL-2.0-or-later
// submit_request ACCOUNT [+FIELD=VALUE…] [ENTRY…]: submits a held job as only a client of libslurm can, past what sbatch
// checks and spells: a field is tres_per_node, tres_per_task, nodes or cpus_per_task, and without any of them the job asks
// for one GPU; an entry goes into the prolog's environment, "@KIB" is one of that size. Prints the job's id, else
// slurmctld's error.
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

namespace {

/// Sets what "FIELD=VALUE" says; the text must outlive the request.
bool set_field(job_desc_msg_t& desc, std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) return false;
    const std::string field = text.substr(0, equals);
    char* value = text.data() + equals + 1;
    if (field == "tres_per_node") desc.tres_per_node = value;
    else if (field == "tres_per_task") desc.tres_per_task = value;
    else if (field == "nodes") desc.min_nodes = desc.max_nodes = static_cast<uint32_t>(std::atoi(value));
    else if (field == "cpus_per_task") desc.cpus_per_task = static_cast<uint16_t>(std::atoi(value));
    else return false;
    return true;
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
    std::string path = "PATH=/usr/bin:/bin", script = "#!/bin/sh\nexit 0\n", name = "request", folder = "/tmp",
                null = "/dev/null";
    std::vector<char*> environment = {path.data()};
    desc.account = argv[1];
    desc.name = name.data();
    desc.script = script.data();
    desc.environment = environment.data();
    desc.env_size = 1;
    desc.work_dir = folder.data();
    desc.std_out = null.data();
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
