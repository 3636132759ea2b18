// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of a trace as the requests that sbatch would make of them.
#pragma once

#include <map>
#include <tuple>

#include "policy/request.hpp"
#include "sim/people.hpp"
#include "sim/trace.hpp"

namespace accord::sim {

/// Keeps the request of each kind of row, since most rows are like others but for their times.
class Requests {
public:
    Requests(const Trace& trace, const People& people) : trace_(trace), people_(people) {}

    /// Valid until the next call. A heterogeneous job's place among its components is the caller's to fill in.
    JobRequest& of(const TraceJob& job);

private:
    using Kind = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t, std::int64_t,
                            std::uint32_t, WorkloadType, bool>;
    [[nodiscard]] JobRequest made_of(const TraceJob& job) const;

    const Trace& trace_;
    const People& people_;
    std::map<Kind, JobRequest> known_;
};

}  // namespace accord::sim
