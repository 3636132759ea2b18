// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's plan and ledger over 100,000 jobs, without Slurm's own load: CPU time of each part, and peak memory.
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "policy/plan.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

constexpr int contracts = 1'000, jobs = 100'000, rounds = 9;
constexpr Gpus guarantee = 8;

double cpu_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

std::string account_of(int number) { return "lab" + std::to_string(number); }

/// A pool of 1,000 nodes that its contracts own whole; every other one limits what it borrows, one in ten what it lends.
World large_world(bool lend_limits) {
    World world;
    world.config.pools[0].gpus = {{"a100", contracts * guarantee}};
    world.shape.partitions["gpu"] = partition_of("gpu", "a100", contracts, guarantee);
    for (int number = 0; number < contracts; ++number) {
        auto contract = contract_for(account_of(number), guarantee, number % 2 == 0 ? std::optional<Gpus>(16) : std::nullopt);
        if (lend_limits && number % 10 == 0) contract.capacity["a100"].lend_limit = 4;
        world.contracts.push_back(in_force(contract, {vision1}));
    }
    return world;
}

/// A tenth of the jobs runs, the others wait: queued ones and borrowed ones, of 1 to 4 GPUs.
std::vector<JobView> large_list() {
    std::vector<JobView> list;
    for (int number = 0; number < jobs; ++number) {
        const bool runs = number < jobs / 10;
        auto job = listed(static_cast<std::uint32_t>(number + 1), runs && number % 3 != 0 ? "gpu" : "gpu-lend",
                          runs ? 1 : 1 + number % 4, runs ? JobState::running : JobState::pending);
        job.account = account_of(number % contracts);
        job.admin_comment = comment_of(DecisionId{0, static_cast<std::uint64_t>(number + 1)});
        if (!runs && number % 2 == 0) job.hold = Hold::admin;
        list.push_back(std::move(job));
    }
    return list;
}

void measure(bool lend_limits) {
    const auto world = large_world(lend_limits);
    const auto policy = world.policy();
    const auto list = large_list();
    const auto facts = [](const JobView& job) -> std::optional<JobFacts> {
        JobFacts known{{0, job.job_id}, job.job_id};
        known.cls = job.hold == Hold::admin ? JobClass::queued : job.partition == "gpu" ? JobClass::guaranteed : JobClass::borrowed;
        return known;
    };
    std::vector<double> ledger, planning;
    std::size_t actions = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto begin = cpu_ms();
        const auto governed = governed_jobs(policy, world.shape, list, noon, facts);
        auto claims = claims_of(governed);
        const auto counted = cpu_ms();
        actions = plan(policy, world.shape, governed, std::move(claims), {}, noon).size();
        ledger.push_back(counted - begin);
        planning.push_back(cpu_ms() - counted);
    }
    std::sort(ledger.begin(), ledger.end());
    std::sort(planning.begin(), planning.end());
    fmt::print("pass_cpu_ms ledger {:.0f} plan {:.0f} ({} jobs, {} contracts, {} actions{})\n", ledger[rounds / 2],
               planning[rounds / 2], jobs, contracts, actions, lend_limits ? ", lend limits" : "");
}

}  // namespace

int main() {
    measure(false);
    measure(true);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    fmt::print("pass_peak_mib {} (the list and all that a pass makes of it)\n", usage.ru_maxrss / 1024);
}
