// SPDX-License-Identifier: GPL-2.0-or-later
// submit_cron ACCOUNT GPUS: stores a scrontab of one job, as scrontab does, which not every Debian ships. Prints the job's
// id, or what the plugin answered.
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

/// Slurm's bitstring.h: a magic word, the number of bits, the bits.
struct Bits {
    std::int64_t magic = 0x42434445, size = 0, bits = 0;
};

/// src/common/cron.h, alike in 22.05 and 24.11: an entry whose five fields are all wild.
struct CronEntry {
    std::uint32_t flags = 0x3e;
    Bits* minute;
    Bits* hour;
    Bits* day_of_month;
    Bits* month;
    Bits* day_of_week;
    const char* cronspec = "* * * * *";
    const char* command = "true";
    std::uint32_t line_start = 1, line_end = 1;
};

/// The plugin's answer, where the release hands it on (not 22.05).
template <typename Response>
const char* plugin_message(const Response& response) {
    if constexpr (requires { response.job_submit_user_msg; }) return response.job_submit_user_msg;
    return nullptr;
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    slurm_init(nullptr);
    Bits minute{.size = 61}, hour{.size = 25}, day_of_month{.size = 32}, month{.size = 13}, day_of_week{.size = 8};
    CronEntry entry{.minute = &minute, .hour = &hour, .day_of_month = &day_of_month, .month = &month,
                    .day_of_week = &day_of_week};
    job_desc_msg_t job;
    slurm_init_job_desc_msg(&job);
    std::string script = "#!/bin/sh\ntrue\n", name = "scrontab", text = "* * * * * true\n", gpus = argv[2], folder = "/tmp";
    std::string variable = "PATH=/usr/bin:/bin";
    char* environment[] = {variable.data(), nullptr};
    job.name = name.data();
    job.account = argv[1];
    job.script = script.data();
    job.tres_per_job = gpus.data();
    job.work_dir = folder.data();
    job.environment = environment;
    job.env_size = 1;
    job.user_id = getuid();
    job.group_id = getgid();
    job.min_cpus = job.min_nodes = job.num_tasks = 1;
    job.bitflags |= CRON_JOB;
    job.crontab_entry = reinterpret_cast<decltype(job.crontab_entry)>(&entry);
    auto* jobs = slurm_list_create(nullptr);
    slurm_list_append(jobs, &job);
    const auto* answer = slurm_update_crontab(getuid(), getgid(), text.data(), jobs);
    if (answer == nullptr) return 1;
    if (answer->jobids_count > 0) std::printf("%u\n", answer->jobids[0]);
    if (const auto* message = plugin_message(*answer)) std::fprintf(stderr, "%s\n", message);
    if (answer->err_msg != nullptr) std::fprintf(stderr, "%s\n", answer->err_msg);
    if (answer->return_code != 0) std::fprintf(stderr, "%s\n", slurm_strerror(static_cast<int>(answer->return_code)));
    return answer->return_code == 0 && answer->jobids_count > 0 ? 0 : 1;
}
