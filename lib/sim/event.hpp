// SPDX-License-Identifier: GPL-2.0-or-later
// What a simulation tells: events as they happen, and totals at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/decision.hpp"

namespace accord::sim {

enum class EventKind { reject, queue, admit, release, start, promote, demote, hold, cancel, preempt, end };
[[nodiscard]] const char* to_string(EventKind kind);

/// A job, or one task of an array.
struct JobName {
    std::string_view id;
    std::int64_t task = -1;  ///< -1: the whole job
};

struct Event {
    std::int64_t time_s = 0;  ///< as submit_s counts
    JobName job;
    EventKind kind = EventKind::reject;
    std::optional<JobClass> cls;    ///< after the event; of a preempted job the one it lost
    std::string_view contract;      ///< empty: none
    Reason reason = Reason::none;
    std::optional<JobName> beneficiary;  ///< of a preemption
};

/// Takes events in the order in which they happen. What an event looks into lives as long as the trace and the
/// simulation.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void take(const Event& event) = 0;
};

/// Tasks of arrays count as jobs. Waits are from submission to first start, of jobs that started.
struct ContractTotals {
    std::string contract;  ///< empty: of jobs that have none
    std::int64_t jobs = 0, started = 0, rejected = 0, preempted = 0;
    double wait_s_mean = 0;
    std::int64_t wait_s_p90 = 0;  ///< the least wait that nine in ten jobs do not exceed
    std::int64_t allocated_gpu_s = 0, borrowed_gpu_s = 0, lent_gpu_s = 0;
    std::int64_t lost_gpu_s = 0;  ///< what its preempted jobs had done
};

/// From the first submission to the last event.
struct PoolTotals {
    std::string pool;  ///< empty: of all pools
    std::int64_t unowned_gpu_s = 0, capacity_gpu_s = 0;
    double utilisation = 0;  ///< GPU-seconds used ÷ capacity
};

struct Totals {
    std::vector<ContractTotals> contracts;  ///< by name
    std::vector<PoolTotals> pools;          ///< in the order of accord.toml
    PoolTotals all;
    std::int64_t ungoverned = 0;  ///< jobs of partitions that are no pool's, left out
};

}  // namespace accord::sim
