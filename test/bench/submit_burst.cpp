// SPDX-License-Identifier: GPL-2.0-or-later
// Submits COUNT held one-GPU jobs to the cluster of SLURM_CONF as ACCOUNT, back to back, and prints the microseconds
// that each call took. scripts/bench runs it.
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: submit_burst COUNT ACCOUNT\n");
        return 2;
    }
    using Clock = std::chrono::steady_clock;
    slurm_init(nullptr);
    std::string script = "#!/bin/sh\n:\n", account = argv[2], gres = "gres:gpu:1", folder = "/", name = "bench";
    std::string path = "PATH=/usr/bin:/bin";
    char* environment[] = {path.data(), nullptr};
    for (int left = std::atoi(argv[1]); left > 0; --left) {
        job_desc_msg_t desc;
        slurm_init_job_desc_msg(&desc);
        desc.user_id = getuid();
        desc.group_id = getgid();
        desc.account = account.data();
        desc.name = name.data();
        desc.script = script.data();
        desc.work_dir = folder.data();
        desc.tres_per_node = gres.data();
        desc.environment = environment;
        desc.env_size = 1;
        desc.min_nodes = desc.max_nodes = 1;
        desc.priority = 0;
        submit_response_msg_t* answer = nullptr;
        const auto begin = Clock::now();
        if (slurm_submit_batch_job(&desc, &answer) != SLURM_SUCCESS) {
            std::fprintf(stderr, "submit_burst: cannot submit: %s\n", slurm_strerror(errno));
            return 1;
        }
        const std::chrono::duration<double, std::micro> span = Clock::now() - begin;
        std::printf("%.0f\n", span.count());
        slurm_free_submit_response_response_msg(answer);
    }
    return 0;
}
