// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm makes of a request on idle nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/gpus.hpp"
#include "request.hpp"

namespace accord::test {

/// What one job, or one task of an array, was given.
struct Allocation {
    GpuVector gpus;       ///< whole ones, by type
    GpuVector read;       ///< the same, as Accord reads it from the job list
    Gpus parted = 0;      ///< GPUs of which it has a share only
    Gpus unusable = 0;    ///< GPUs that others can have no more, its own included, by the CPUs and memory that are left
    std::int64_t cpus = 0, memory_mb = 0;
    std::int64_t share_cpus = 0;  ///< that go with each of its GPUs
    bool within_share = true;  ///< has no more CPUs and memory in all than go with its GPUs
};

/// Empty where Slurm refused the request, or has no room for it even on idle nodes.
struct Placement {
    std::vector<Allocation> allocations;
    std::string words;  ///< what the client said
};

/// Submits as an ordinary user, reads what is allocated, and ends the job; all nodes are idle again when it returns.
class Slurm {
public:
    /// `share` is what a GPU's share of a node is in CPUs and MiB.
    struct Share {
        std::int64_t cpus, memory_mb;
    };
    Slurm(std::string user, Share share);

    Placement place(const Request& request) const;

private:
    void add_nodes(Allocation& allocation, std::string_view nodes) const;
    [[nodiscard]] Allocation allocation_of(std::string_view record) const;
    [[nodiscard]] std::vector<Allocation> allocations_of(std::uint32_t job_id) const;

    std::string user_;
    Share share_;
};

}  // namespace accord::test
