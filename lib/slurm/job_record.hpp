// SPDX-License-Identifier: GPL-2.0-or-later
// The present state of a job, read from the job_record_t that slurmctld hands to job_modify.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

#include "policy/error.hpp"
#include "policy/job.hpp"

namespace accord {

/// job_record_t's layout is not in the installed headers. slurmctld's own pack_job() writes the record as it would go
/// over the wire, and libslurmfull's unpack_msg() reads that back into slurm.h's job_info_msg_t, which the job list
/// uses, too. Everything is looked up at run time and checks itself: every byte written must have been read.
class JobRecordReader {
public:
    /// Inside slurmctld only: "unavailable" elsewhere, and for a release whose messages are not understood.
    static Result<JobRecordReader> find();

    /// `job_record` is slurmctld's job_record_t *; the caller holds the job lock. Error{"unavailable"} when what was
    /// written cannot be read back.
    [[nodiscard]] Result<JobView> read(void* job_record) const;

private:
    JobRecordReader() = default;

    void* (*init_buf_)(std::uint32_t) = nullptr;
    void (*free_buf_)(void*) = nullptr;
    void (*pack32_)(std::uint32_t, void*) = nullptr;
    void (*pack_time_)(std::time_t, void*) = nullptr;
    void (*pack_job_)(void*, std::uint16_t, void*, std::uint16_t, uid_t, bool) = nullptr;
    int (*unpack_msg_)(void*, void*) = nullptr;
    void (*msg_init_)(void*) = nullptr;
    void (*free_jobs_)(void*) = nullptr;
    std::uint16_t protocol_ = 0;
    std::size_t type_at_ = 0;  ///< where slurm_msg_t keeps msg_type; protocol_version follows
};

}  // namespace accord
