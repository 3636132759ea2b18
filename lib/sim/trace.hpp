// SPDX-License-Identifier: GPL-2.0-or-later
// A trace: jobs as they were, or might be, submitted, from a CSV file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/error.hpp"
#include "policy/request.hpp"

namespace accord::sim {

/// Stands for a name, an array or a group that a job does not have.
inline constexpr std::uint32_t none = 0xffffffff;

/// One row. Names are places in Trace::names.
struct TraceJob {
    std::string_view id;
    std::int64_t submit_s = 0;
    std::int64_t duration_s = 0;
    std::int64_t time_limit_s = 0;  ///< 0: none named
    std::int64_t gpus = 0;          ///< over all nodes; per task for arrays
    std::int64_t cpus = 0;          ///< over all nodes; 0: the GPUs' share
    std::int64_t priority = 0;
    std::uint32_t nodes = 0;        ///< 0: as few as it takes
    std::uint32_t account = none, partition = none, user = none, gpu_type = none;
    std::uint32_t array = none;  ///< a place in Trace::arrays
    std::uint32_t het = none;    ///< jobs with the same are the components of one
    std::uint32_t line = 0;
    WorkloadType kind = WorkloadType::batch;
    bool requeue = true;
};

struct Trace {
    std::unique_ptr<const std::string> text;  ///< what the ids look into
    std::vector<std::string> names;
    std::vector<ArraySpec> arrays;
    std::uint32_t het_groups = 0;
    bool has_users = false;  ///< there is a column of users
    std::vector<TraceJob> jobs;  ///< by submit_s
};

/// Reads the text of a CSV file with a header. `path` is for messages. Fails ("invalid") at the first row that is not one
/// of a trace, with file and line: an unknown or a missing column, a value that its column does not take, an id that was
/// there before, a submission before the one above it.
[[nodiscard]] Result<Trace> read_trace(std::string text, const std::string& path);

}  // namespace accord::sim
