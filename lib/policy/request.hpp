// SPDX-License-Identifier: GPL-2.0-or-later
// What a job asks for, in plain values: from a submission, a modification or the job list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/contract.hpp"
#include "policy/gpus.hpp"

namespace accord {

/// Everything that decides how many GPUs a request may come to hold (R4). Strings are Slurm's TRES strings in any
/// release's spelling; an absent optional is Slurm's NO_VAL, 0-for-unset or NULL.
struct GpuAsk {
    std::optional<std::string> tres_per_job, tres_per_node, tres_per_socket, tres_per_task;
    std::optional<std::int64_t> min_nodes, max_nodes;
    std::optional<std::int64_t> num_tasks, ntasks_per_node, ntasks_per_socket, ntasks_per_tres;
    std::optional<std::int64_t> cpus_per_task, min_cpus, sockets_per_node;
    std::optional<std::int64_t> required_nodes;  ///< hosts named by --nodelist
    std::optional<std::int64_t> min_cpus_per_node;                 ///< --mincpus
    std::optional<std::int64_t> mem_per_node_mb, mem_per_cpu_mb;  ///< --mem (0: all of a node's), --mem-per-cpu
    std::optional<std::string> cpus_per_tres, mem_per_tres;  ///< --cpus-per-gpu, --mem-per-gpu (MiB), as TRES strings
    bool whole_node = false;  ///< --exclusive, core specialisation or --reboot
    std::optional<std::string> features;  ///< --constraint and --prefer where they count nodes ("[fast*2&slow*1]")
    std::optional<std::string> job_size;  ///< node counts as a list ("2,4,8"), newer releases
    bool operator==(const GpuAsk&) const = default;
};

/// `--array` in numbers.
struct ArraySpec {
    std::string indices;      ///< without the %limit, as submitted
    std::int64_t tasks = 0;   ///< size of the union of the indices
    std::optional<std::int64_t> limit;  ///< %limit

    /// Tasks that may run at once.
    [[nodiscard]] std::int64_t concurrent() const;
    /// Whether the task is among the indices.
    [[nodiscard]] bool contains(std::int64_t task) const;
    /// The first indices as they are written, at most `most` of them.
    [[nodiscard]] std::vector<std::uint32_t> first(std::size_t most) const;
};
/// Reads "0-9:3,20%4", with or without brackets; nothing when it is not one that Slurm would take.
[[nodiscard]] std::optional<ArraySpec> parse_array(const std::string& text);

/// R5: a queued job that depends on others is not held, since Slurm leaves the dependencies of held jobs untested
/// (job_independent, 22.05 and 24.11); it is parked: its begin time is put off by this much, past any date that is meant as one.
inline constexpr std::int64_t parking_s = std::int64_t{1000} * 365 * 86400;
[[nodiscard]] constexpr bool is_parked(std::int64_t begin_s) { return begin_s >= parking_s; }
/// The begin time of a parked job, and the one that its user asked for.
[[nodiscard]] constexpr std::int64_t parked(std::int64_t begin_s) {
    return is_parked(begin_s) ? begin_s : begin_s + parking_s;
}
[[nodiscard]] constexpr std::int64_t own_begin(std::int64_t begin_s) {
    return is_parked(begin_s) ? begin_s - parking_s : begin_s;
}

/// A component of a heterogeneous job. Slurm asks for one after the other, and the job is created when all have passed.
struct HetPart {
    std::uint32_t offset = 0;
    std::map<std::string, GpuIntervals> earlier;  ///< what the components before it ask for, by contract
};

struct JobRequest {
    std::uint32_t uid = 0;  ///< whose job it is, not who typed
    std::optional<std::string> account;
    std::vector<std::string> partitions;  ///< as named; empty: none named
    WorkloadType type = WorkloadType::batch;
    GpuAsk gpus;
    std::optional<ArraySpec> array;
    bool array_malformed = false;
    std::string node_list, excluded_nodes;  ///< --nodelist and --exclude, as submitted
    bool node_list_malformed = false;  ///< the nodes of --nodelist could not be counted
    std::optional<std::int64_t> time_limit_min;
    bool requeueable = true;
    bool held = false;  ///< the user asked for a hold
    bool dependent = false;     ///< --dependency
    bool deadline = false;      ///< --deadline
    std::int64_t begin_s = 0;   ///< --begin, seconds since the epoch; 0: none
    std::optional<HetPart> het;  ///< of a heterogeneous job
    std::string work_dir, std_out, std_err, std_in;
    bool login_env = false;          ///< --get-user-env
    std::int64_t spank_env_bytes = 0;  ///< size of the request's own spank_job_env
};

}  // namespace accord
