// SPDX-License-Identifier: GPL-2.0-or-later
// accord why: a job's story, from its submission to this moment.
#include <algorithm>
#include <charconv>
#include <ctime>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "command.hpp"
#include "policy/utc.hpp"
#include "report/story.hpp"
#include "site_now.hpp"
#include "slurm_access.hpp"
#include "table.hpp"

namespace accord {

namespace {

struct Options {
    std::string job;
    bool json = false;
};

/// "17", or of an array "17_3".
struct JobName {
    std::uint32_t job_id = 0;
    std::optional<std::uint32_t> task;
};

std::optional<JobName> job_name_from(const std::string& text) {
    JobName name;
    const char* end = text.data() + text.size();
    auto read = std::from_chars(text.data(), end, name.job_id);
    if (read.ec != std::errc{} || name.job_id == 0) return {};
    if (read.ptr == end) return name;
    if (*read.ptr != '_') return {};
    read = std::from_chars(read.ptr + 1, end, name.task.emplace());
    if (read.ec != std::errc{} || read.ptr != end) return {};
    return name;
}

/// The records that slurmctld shows of the job: several of an array that is named as a whole.
Result<std::vector<JobView>> jobs_named(Cluster& cluster, const JobName& name) {
    std::vector<JobView> all;
    if (const auto listed = cluster.jobs(all); !listed) return tl::unexpected<Error>(listed.error());
    std::vector<JobView> found;
    for (const auto& job : all) {
        const bool has_task = job.array_task_id == name.task || (job.array && name.task && job.array->contains(*name.task));
        const bool of_array = job.array_job_id == name.job_id && (!name.task || has_task);
        if (of_array || (job.job_id == name.job_id && !name.task)) found.push_back(job);
    }
    return found;
}

/// What the record holds about the job, by the decision that it carries, or by its number where slurmctld has forgotten
/// it.
Result<StoryInput> story_input(const Record& record, const JobName& name, const std::vector<JobView>& jobs) {
    StoryInput input;
    std::set<std::uint32_t> own{name.job_id}, runs;
    for (const auto& job : jobs) {
        own.insert(job.job_id);
        runs.insert(job.job_id);
        if (job.array_task_id) input.tasks_of_jobs[job.job_id] = *job.array_task_id;
    }
    // the record with the array's own number is one of its tasks', too
    if (!name.task || runs.empty()) runs.insert(name.job_id);
    const auto carried = jobs.empty() ? std::nullopt : decision_in_comment(jobs.front().admin_comment);
    const auto rows = carried ? record.decisions({.about = carried}) : record.decisions({.job_id = name.job_id});
    if (!rows) return tl::unexpected<Error>(rows.error());
    for (const auto& row : *rows)
        if (row.kind == "submission" || !row.job_id || own.contains(*row.job_id)) input.decisions.push_back(row);
    for (const auto id : own) {
        const auto actions = record.actions(id);
        if (!actions) return tl::unexpected<Error>(actions.error());
        input.actions.insert(input.actions.end(), actions->begin(), actions->end());
    }
    for (const auto id : runs) {
        const auto intervals = record.intervals(id);
        if (!intervals) return tl::unexpected<Error>(intervals.error());
        input.intervals.insert(input.intervals.end(), intervals->begin(), intervals->end());
    }
    for (const auto& interval : input.intervals) {
        if (!interval.beneficiary_job) continue;
        const auto owner = record.decisions({.job_id = *interval.beneficiary_job});
        if (owner && !owner->empty()) input.contracts_of_jobs[*interval.beneficiary_job] = owner->front().contract;
    }
    return input;
}

/// The job as the ledger would count it, and what it waits for.
std::string state_now(const SiteNow& site, const Policy& policy, const JobView& job) {
    const std::vector<JobView> jobs{job};
    const std::int64_t now_s = std::time(nullptr);
    const auto governed = governed_jobs(policy, site.now.ledger.shape(), jobs, now_s, [&](const JobView& view) {
        const auto decision = decision_in_comment(view.admin_comment);
        const auto facts = decision ? site.record.facts(*decision, view.job_id) : std::nullopt;
        return facts ? *facts : std::nullopt;
    });
    const auto key = governed.empty() ? std::string() : governed.front().contract;
    const auto* contract = policy.contract(key);
    const auto& claims = site.now.ledger.of(key);
    Present present{site.config, job, contract ? contract->contract.get() : nullptr, claims, JobClass::borrowed, {}, {},
                    now_s};
    if (contract) present.budget = standing_of(*contract->contract, site.now.ledger.base().budgets, now_s);
    if (!governed.empty()) {
        present.cls = governed.front().cls;
        present.facts = governed.front().facts;
        present.ask = present.cls == JobClass::queued ? governed.front().would_claim : governed.front().claim;
    }
    const auto task = job.array_task_id ? fmt::format("task {}: ", *job.array_task_id)
                      : job.array       ? fmt::format("tasks {}: ", job.array->indices)
                                        : std::string();
    return task + present_state(present);
}

bool in_a_pool(const Config& config, const JobView& job) {
    return config.pool_of(job.partition) != nullptr || config.pool_lending_in(job.partition) != nullptr;
}

void print(const std::vector<StoryEvent>& story, bool json) {
    Table table({"time", "event", "text"});
    for (const auto& event : story) {
        if (json)
            table.add({utc_text(event.time_s), event.event, event.text});
        else
            fmt::print("{}  {}.\n", utc_text(event.time_s), event.text);
    }
    if (json) table.print(true);
}

int tell(const Options& options, const JobName& name) {
    const auto site = read_site_now();
    if (!site) return complain(site.error());
    const auto cluster = slurm_if_there();
    Result<std::vector<JobView>> jobs = std::vector<JobView>{};
    if (cluster) jobs = jobs_named(*cluster, name);
    if (!jobs) complain(jobs.error());
    const auto seen = jobs ? *jobs : std::vector<JobView>{};
    const auto input = story_input(site->record, name, seen);
    if (!input) return complain(input.error());
    auto story = story_of(*input);
    if (story.empty() && seen.empty())
        return complain(fmt::format("job {}: {}", options.job,
                                    cluster && jobs ? "neither the record nor slurmctld knows it"
                                                    : "the record does not know it"));
    const Policy policy(site->config, site->contracts, {}, {});
    for (const auto& job : seen) {
        const auto state = in_a_pool(site->config, job) || !story.empty()
                               ? "now " + state_now(*site, policy, job)
                               : fmt::format("now it is in partition {}, which is no pool's: Accord does not judge it",
                                             job.partition);
        story.push_back({std::time(nullptr), "now", state});
    }
    print(story, options.json);
    return done;
}

}  // namespace

void add_why(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("why", "A job's story: what was decided, what it waits for, who took its GPUs back");
    const auto options = std::make_shared<Options>();
    command->add_option("JOBID", options->job, "A job, such as 17, or an array's task, such as 17_3")->required();
    command->add_flag("--json", options->json, "An array of flat objects");
    command->callback([options, &run] {
        run = [options] {
            if (const auto name = job_name_from(options->job)) return tell(*options, *name);
            complain(fmt::format("{}: expected a job's number, such as 17, or 17_3 for a task of an array", options->job));
            return wrong_usage;
        };
    });
}

}  // namespace accord
