// SPDX-License-Identifier: GPL-2.0-or-later
// R7: what the components of a heterogeneous job ask for, remembered from one hook to the next.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "policy/decision.hpp"
#include "policy/request.hpp"

namespace accord {

/// slurmctld asks for the components of one job one after the other, in one thread, from offset 0 on
/// (_slurm_rpc_submit_batch_het_job and _slurm_rpc_allocate_het_job, 22.05 and 24.11), and tells no more of what belongs
/// together. Other threads may ask in between.
class HetParts {
public:
    /// What this thread asked for before, if `het` goes on from there; else a new job begins.
    void recall(HetPart& het, std::uint32_t uid);
    /// The component of `het` may go on to the next.
    void note(const HetPart& het, std::uint32_t uid, const Decision& decision);

private:
    struct Known {
        std::uint32_t uid = 0;
        std::uint32_t next = 0;  ///< the offset that goes on
        std::map<std::string, GpuIntervals> asked;
    };

    std::mutex mutex_;
    std::map<std::thread::id, Known> by_thread_;  ///< threads in the middle of such a job, and some that left one off
};

}  // namespace accord
