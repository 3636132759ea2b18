// SPDX-License-Identifier: GPL-2.0-or-later
// A job's story in sentences: what was decided, what accordd did, when it ran, who took its GPUs, what it waits for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/config.hpp"
#include "policy/job.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"
#include "store/decisions_db.hpp"
#include "store/usage_db.hpp"

namespace accord {

struct StoryEvent {
    std::int64_t time_s = 0;
    std::string event;  ///< "decision", "modification", "action", "start", "end", "now"
    std::string text;   ///< a sentence without its full stop
};

/// What the record holds about one job.
struct StoryInput {
    std::vector<DecisionRow> decisions;  ///< its submission and the modifications since
    std::vector<ActionRecord> actions;
    std::vector<UsageInterval> intervals;
    std::map<std::uint32_t, std::string> contracts_of_jobs;  ///< of the jobs that it was preempted for
    std::map<std::uint32_t, std::uint32_t> tasks_of_jobs;    ///< of an array: which task each of its records is
};

/// In the order of their times.
[[nodiscard]] std::vector<StoryEvent> story_of(const StoryInput& input);

/// The job as slurmctld has it now, and what its class and its wait depend on.
struct Present {
    const Config& config;
    const JobView& job;
    const Contract* contract = nullptr;  ///< null when it is not there
    const ContractClaims& claims;        ///< the contract's, as they are now
    JobClass cls = JobClass::borrowed;
    GpuVector ask;  ///< what it claims, or would claim
    std::optional<JobFacts> facts;  ///< none: it never passed the plugin
    std::int64_t now_s = 0;
    BudgetStanding budget{};
};
/// What it is doing, or what it waits for.
[[nodiscard]] std::string present_state(const Present& present);

}  // namespace accord
