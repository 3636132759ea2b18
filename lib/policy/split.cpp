// SPDX-License-Identifier: GPL-2.0-or-later
// R7: an array that does not fit as a whole is promoted or released task by task.
#include <algorithm>

#include "policy/governed.hpp"
#include "policy/planning.hpp"

namespace accord {

namespace {

/// Tasks that one pass splits off one array: each is an update of its own.
constexpr std::size_t most_tasks_split = 64;

/// Tasks of the array that have records of their own and have not ended: they count against its throttle.
std::int64_t tasks_alive(Planning& planning, std::uint32_t array_job_id) {
    if (!planning.tasks_alive) {
        planning.tasks_alive.emplace();
        for (const auto& governed : planning.jobs)
            if (governed.job->array_job_id != 0 && governed.job->array_task_id)
                ++(*planning.tasks_alive)[governed.job->array_job_id];
    }
    const auto found = planning.tasks_alive->find(array_job_id);
    return found == planning.tasks_alive->end() ? 0 : found->second;
}

/// One task of the rest, as a job that has no claim of its own yet: what the rest claims is shared by those that may run at
/// once, and is counted anew with the next list.
GovernedJob task_of(const GovernedJob& rest) {
    auto task = rest;
    task.at_once = 1;
    task.claim.clear();
    for (auto& [type, gpus] : task.would_claim) gpus /= rest.at_once;
    return task;
}

}  // namespace

void split_array(Planning& planning, const GovernedJob& rest) {
    const auto& job = *rest.job;
    if (!job.array || job.array_task_id || rest.at_once <= 1) return;
    const auto throttle = throttle_of(job);
    const auto room = throttle ? std::max<std::int64_t>(0, *throttle - tasks_alive(planning, job.array_job_id)) : rest.at_once;
    const auto most = std::min(most_tasks_split, static_cast<std::size_t>(room));
    const auto task = task_of(rest);
    for (const auto index : job.array->first(most)) {
        const auto to = class_for(planning, task);
        if (!to) return;
        give(planning, task, *to, index);
    }
}

}  // namespace accord
