// SPDX-License-Identifier: GPL-2.0-or-later
// A node's records of its jobs: BASE/CLUSTER/NODE/JOB.RESTART/, root's alone.
//
// The node's folder is mounted onto itself, privately: a namespace can only be kept by a file on a mount that passes
// nothing on. That mount is there while a job is; so a node's folder without it holds nothing but leftovers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/error.hpp"
#include "scope/verdict.hpp"
#include "sys/fd.hpp"

namespace accord {

/// Where the records of one node's jobs are.
struct NodePlace {
    std::string base = "/run/accord";
    std::string cluster, node;
};

/// One start of one job.
struct JobStart {
    std::uint32_t job = 0;
    std::uint32_t restart = 0;
};
[[nodiscard]] std::string to_string(const JobStart& start);  ///< "42.0"

/// The records as the prolog and the epilog use them. While one is open, its mount stays.
class NodeState {
public:
    /// Makes what is missing. Fails ("io") where a folder on the way is not root's own; `base` itself may be SlurmUser's.
    [[nodiscard]] static Result<NodeState> open(const NodePlace& place);

    /// An empty folder for the start. Earlier starts of the job, leftovers by now, are removed before: none of their
    /// verdicts outlives this call, whatever it returns.
    [[nodiscard]] Result<Fd> make(const JobStart& start);

    /// Removes the job's folders of all its starts, with their views and private folders; success when there are none.
    [[nodiscard]] Result<void> remove(std::uint32_t job);

    [[nodiscard]] bool has(const std::string& start) const;
    [[nodiscard]] const NodePlace& place() const { return place_; }

    /// Ends this use, and with the last job the node's mount and folders.
    void close();

private:
    NodeState(NodePlace place, Fd folder) : place_(std::move(place)), folder_(std::move(folder)) {}
    [[nodiscard]] Result<void> remove_leftovers();
    [[nodiscard]] Result<void> remove_start(const std::string& start);

    NodePlace place_;
    Fd folder_;
};

/// Writes a file of a job's folder, whole or not at all.
[[nodiscard]] Result<void> write_record(int job_folder, const char* name, std::string_view text);

/// The private folders to remove with the job; written before the first of them is made.
[[nodiscard]] Result<void> record_private_dirs(int job_folder, const std::vector<std::string>& paths);

/// An empty file for the view, or the view itself once it is pinned there.
[[nodiscard]] Result<Fd> make_pin(int job_folder);

/// A job's record as its tasks read it.
struct JobRecord {
    Verdict verdict;
    Fd view;  ///< none unless the verdict has one
};
/// Fails ("missing") when the node has no verdict of the job's only start. Where the process is in a namespace in
/// which views cannot be seen, `parent` (a process id) is one that is not.
[[nodiscard]] Result<JobRecord> read_job_record(const NodePlace& place, std::uint32_t job, int parent);

}  // namespace accord
