// SPDX-License-Identifier: GPL-2.0-or-later
// submit_spank_env ACCOUNT ENTRY…: submits a held job whose prolog environment the user has filled, as only a client of
// libslurm can. An entry "@KIB" is one of that size. Prints the job's id, else slurmctld's error.
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    std::deque<std::string> entries;
    std::vector<char*> pointers;
    for (int i = 2; i < argc; ++i) {
        std::string entry = argv[i];
        if (entry.starts_with("@")) entry = "SPANK_BIG=" + std::string(1024 * std::stoul(entry.substr(1)), 'x');
        pointers.push_back(entries.emplace_back(std::move(entry)).data());
    }
    slurm_init(nullptr);
    job_desc_msg_t desc;
    slurm_init_job_desc_msg(&desc);
    std::string path = "PATH=/usr/bin:/bin", script = "#!/bin/sh\nexit 0\n", name = "spank_env", folder = "/tmp",
                null = "/dev/null", gpus = "gres:gpu:1";
    std::vector<char*> environment = {path.data()};
    desc.account = argv[1];
    desc.name = name.data();
    desc.script = script.data();
    desc.environment = environment.data();
    desc.env_size = 1;
    desc.work_dir = folder.data();
    desc.std_out = null.data();
    desc.std_err = null.data();
    desc.tres_per_job = gpus.data();
    desc.user_id = getuid();
    desc.group_id = getgid();
    desc.priority = 0;
    desc.spank_job_env = pointers.data();
    desc.spank_job_env_size = static_cast<uint32_t>(pointers.size());

    submit_response_msg_t* response = nullptr;
    if (slurm_submit_batch_job(&desc, &response) != SLURM_SUCCESS) {
        std::fprintf(stderr, "%s: %s\n", slurm_strerror(slurm_get_errno()),
                     response != nullptr && response->job_submit_user_msg != nullptr ? response->job_submit_user_msg : "");
        return 1;
    }
    std::printf("%u\n", response->job_id);
    return 0;
}
