// SPDX-License-Identifier: GPL-2.0-or-later
// usage.db: what accordd did (actions) and how jobs fared (starts, ends, preemptions). Written by accordd alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/budget.hpp"
#include "policy/error.hpp"
#include "policy/plan.hpp"

namespace accord {

/// An action on record; append-only and hash-chained like decisions.
struct ActionRecord {
    std::uint64_t id = 0;
    std::int64_t time_s = 0;
    std::uint32_t job_id = 0;
    Gpus gpus = 0;
    std::string contract;
    std::string action;  ///< "promote", "release", "hold", "park", "demote", "cancel", "throttle"
    std::optional<JobClass> from_class, to_class;
    std::string reason;
    std::optional<std::uint32_t> beneficiary_job;
    std::string outcome;  ///< "done", "stale", or Slurm's error; not part of the chain
    std::string prev_hash, hash;
};

/// The hash that the record should carry: of its fields but `outcome` and `hash`, as one JSON object.
[[nodiscard]] std::string hash_of(const ActionRecord& record);

/// A stretch of a job's life as seen in the job list.
struct UsageInterval {
    std::uint32_t job_id = 0;
    std::uint32_t restart = 0;
    std::string contract;
    std::uint32_t uid = 0;
    JobClass cls = JobClass::borrowed;
    GpuVector gpus;
    std::int64_t start_s = 0;
    std::optional<std::int64_t> end_s;
    std::string ended;  ///< "", "completed", "preempted", "cancelled", "failed", "requeued"
    std::optional<std::uint32_t> beneficiary_job;
};

class UsageDb {
public:
    enum class Open { read_only, read_write };
    /// As DecisionsDb::open.
    static Result<UsageDb> open(const std::string& path, Open how);
    UsageDb(UsageDb&&) noexcept;
    UsageDb& operator=(UsageDb&&) noexcept;
    ~UsageDb();

    /// Records an action before it is tried; gives its number. Its GPUs are the sum over the types.
    [[nodiscard]] Result<std::uint64_t> begin_action(const Action& action, std::int64_t now_s);
    /// What became of it; the first outcome stands.
    [[nodiscard]] Result<void> set_outcome(std::uint64_t action, const std::string& outcome);
    /// By number.
    [[nodiscard]] Result<std::vector<ActionRecord>> actions(std::optional<std::uint32_t> job_id = {}) const;
    [[nodiscard]] Result<std::optional<ActionRecord>> last_action() const;

    /// Inserts or replaces by (job_id, restart, start), in one transaction.
    [[nodiscard]] Result<void> put_intervals(const std::vector<UsageInterval>& intervals);
    /// By start.
    [[nodiscard]] Result<std::vector<UsageInterval>> intervals(std::optional<std::uint32_t> job_id = {}) const;
    [[nodiscard]] Result<std::vector<UsageInterval>> open_intervals() const;

    enum class Stretches {
        ended,
        all,  ///< open ones as well, as if they ended with the period
    };
    /// The contract's GPU-seconds within the period, over all types and classes. Where stretches of one job overlap, the
    /// time counts once.
    [[nodiscard]] Result<std::int64_t> gpu_seconds(const std::string& contract, const Period& period,
                                                   Stretches which) const;

private:
    struct State;
    explicit UsageDb(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace accord
