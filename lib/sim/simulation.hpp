// SPDX-License-Identifier: GPL-2.0-or-later
// A trace under a set of contracts: the engine admits, accordd's plan promotes and releases, the scheduler's model starts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "policy/budget.hpp"
#include "policy/policy.hpp"
#include "policy/shape.hpp"
#include "sim/event.hpp"
#include "sim/people.hpp"
#include "sim/scheduler.hpp"
#include "sim/trace.hpp"

namespace accord::sim {

struct Setting {
    const Policy& policy;
    const ClusterShape& shape;
    const Trace& trace;
    const People& people;
    std::int64_t start_s = 0;  ///< when submit_s 0 is, since the epoch
    ReclaimMode reclaim = ReclaimMode::live;
    /// The period of a budget that a moment lies in. Without it, and outside of what it knows, budgets are not metered.
    std::function<std::optional<Period>(const Budget&, std::int64_t now_s)> period_of;
};

/// Runs the trace to the end of its last job. The same setting gives the same events and totals. Jobs that never can start
/// stay as they are.
[[nodiscard]] Totals simulate(const Setting& setting, EventSink& sink);

}  // namespace accord::sim
