// SPDX-License-Identifier: GPL-2.0-or-later
// Hooks that run side by side, as slurmctld calls them from 23.02 on, while accordd's snapshot and the contracts change.
// scripts/check-threads runs this under the thread sanitizer.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "catch.hpp"
#include "root.hpp"
#include "site.hpp"
#include "slurm/slurm_strings.hpp"
#include "slurmctld.hpp"

using namespace accord;

namespace {

constexpr std::uint32_t slurm_user = 0;
constexpr Gpus guarantee = 8;
constexpr int rounds = 20, submitters = 4, promoters = 2, jobs_to_promote = 10, fewest_submissions = 50;

HookAnswer submit_one_gpu(const OpenPlugin& plugin) {
    Request request(vision1);
    request.set(&job_desc_msg_t::tres_per_job, "gres:gpu:1");
    return plugin.submit(request.desc(), vision1);
}

/// accordd's promotion of a borrowed job of one GPU, which carries that decision.
bool promote(const OpenPlugin& plugin, int decision) {
    SlurmStrings text;
    slurm_job_info_t job{};
    job.job_id = 100 + static_cast<std::uint32_t>(decision);
    job.user_id = vision1;
    job.array_task_id = NO_VAL;
    job.batch_flag = 1;
    job.job_state = JOB_PENDING;
    job.priority = 100'000;
    job.state_reason = WAIT_RESOURCES;
    job.requeue = 1;
    job.shared = job.core_spec = NO_VAL16;
    job.num_tasks = job.num_nodes = 1;
    job.time_limit = 60;
    job.site_factor = NICE_OFFSET;
    job.account = text("vision-lab");
    job.partition = text("gpu-lend");
    job.admin_comment = text(fmt::format("accord:v1 decision=0-{}", decision));
    job.tres_per_job = text("gres:gpu:1");
    Request update(vision1);
    update.set(&job_desc_msg_t::script, "").set(&job_desc_msg_t::job_id_str, fmt::format("{}", job.job_id));
    update.set(&job_desc_msg_t::admin_comment, fmt::format("accord:v1 action={} to=guaranteed", decision));
    update.set(&job_desc_msg_t::partition, "gpu");
    update->priority = INFINITE;
    return plugin.modify(update.desc(), &job, slurm_user).code == SLURM_SUCCESS;
}

/// All GPUs that the contract was ever given as guaranteed; nothing is given back here.
Gpus given(const std::vector<JournalRecord>& journal) {
    Gpus sum = 0;
    for (const auto& record : journal)
        if (record.decision.verdict == Verdict::admitted && record.decision.cls == JobClass::guaranteed)
            for (const auto& [type, gpus] : record.decision.claim) sum += gpus;
    return sum;
}

}  // namespace

TEST_CASE("hooks side by side give no more than the guarantee while contracts and ledger change", "[A29]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 0);
    const OpenPlugin plugin(site.config_path());
    // the first one has the grant sealed, for which a hook waits no longer than 50 ms
    REQUIRE(wait_for([&] { return submit_one_gpu(plugin).code == SLURM_SUCCESS; }));
    for (int i = 0; i < promoters * jobs_to_promote; ++i) REQUIRE(submit_one_gpu(plugin).code == SLURM_SUCCESS);
    REQUIRE(given(site.journal()) == 0);

    // so does the first one of a new version
    site.apply("vision-lab", vision1, guarantee);
    REQUIRE(wait_for([&] { return submit_one_gpu(plugin).message.starts_with("accord: guaranteed"); }));
    std::atomic<bool> over{false};
    std::mutex failures_mutex;
    std::vector<std::string> failures;
    std::vector<std::thread> threads;
    for (int i = 0; i < submitters; ++i)
        threads.emplace_back([&] {
            for (int done = 0; done < fewest_submissions || !over; ++done)
                if (const auto answer = submit_one_gpu(plugin); answer.code != SLURM_SUCCESS) {
                    const std::lock_guard lock(failures_mutex);
                    failures.push_back(answer.message);
                }
        });
    for (int i = 0; i < promoters; ++i)
        threads.emplace_back([&, i] {
            const int first = 1 + i * jobs_to_promote;
            for (int job = first; job < first + jobs_to_promote && !over;)
                if (promote(plugin, job)) ++job;
        });
    for (int i = 0; i < rounds; ++i) {
        site.apply("speech-lab", speech1, 1 + i % 4);
        site.write_ledger();
    }
    over = true;
    for (auto& thread : threads) thread.join();

    CHECK(failures == std::vector<std::string>());
    CHECK(wait_for([&] { return submit_one_gpu(plugin).message.starts_with("accord: borrowed"); }));
    const auto journal = site.journal();
    CHECK(given(journal) == guarantee);
    std::set<std::uint64_t> numbers;
    for (const auto& record : journal) numbers.insert(record.id.number);
    CHECK(numbers.size() == journal.size());
}
