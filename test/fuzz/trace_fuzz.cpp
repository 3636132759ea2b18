// SPDX-License-Identifier: GPL-2.0-or-later
// A trace as accord simulate reads it: refused with a line and a reason, or one that holds what the simulation relies on.
#include <cstdlib>
#include <set>

#include "sim/trace.hpp"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

void check(const accord::sim::Trace& trace) {
    std::set<std::string_view> ids;
    std::int64_t submit_s = 0;
    for (const auto& job : trace.jobs) {
        require(ids.insert(job.id).second);
        require(job.submit_s >= submit_s && job.duration_s >= 0 && job.gpus >= 0 && job.time_limit_s >= 0);
        submit_s = job.submit_s;
        for (const auto name : {job.account, job.partition, job.user, job.gpu_type})
            require(name == accord::sim::none || name < trace.names.size());
        require(job.array == accord::sim::none || trace.arrays.at(job.array).tasks > 0);
        require(job.het == accord::sim::none || job.het < trace.het_groups);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto trace = accord::sim::read_trace(std::string(reinterpret_cast<const char*>(data), size), "jobs.csv");
    if (trace)
        check(*trace);
    else
        require(!trace.error().what.empty() && trace.error().where.starts_with("jobs.csv:"));
    return 0;
}
