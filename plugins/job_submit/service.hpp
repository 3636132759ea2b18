// SPDX-License-Identifier: GPL-2.0-or-later
// The plugin's one object: answers the hooks, and keeps policy, ledger and seals up to date in one thread.
#pragma once

#include <slurm/slurm.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "arbiter.hpp"
#include "complaints.hpp"
#include "decision_log.hpp"
#include "grant_mint.hpp"
#include "het_parts.hpp"
#include "policy_source.hpp"
#include "slurm/job_record.hpp"
#include "slurm_host.hpp"

namespace accord {

/// What a hook gives back to slurmctld.
struct Answer {
    int code = SLURM_SUCCESS;
    std::string message;  ///< for the user; empty: none
};

class Service {
public:
    /// Reads settings, contracts, ledger and journal, then starts the thread. Comes up whatever is missing, and says so.
    explicit Service(std::string config_path);
    /// Ends the thread.
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// `caller_uid` is who submits; the job's user may be another (sbatch --uid).
    [[nodiscard]] Answer submit(job_desc_msg_t& desc, std::uint32_t caller_uid);
    /// `job_record` is slurmctld's job_record_t *.
    [[nodiscard]] Answer modify(job_desc_msg_t& desc, void* job_record, std::uint32_t caller_uid);

private:
    using Clock = std::chrono::steady_clock;
    void run();
    void serve_until(Clock::time_point end);
    void seal_grants();
    void look(bool wait);
    void take(Rules rules);
    void follow_store();
    void tell_served();
    void open_store();
    void rebuild_ledger(std::optional<JournalWriter> journal);

    const SlurmHost host_;
    const Result<JobRecordReader> records_;
    Complaints complaints_;
    PolicySource source_;
    GrantMint mint_;
    Arbiter arbiter_;
    HetParts het_parts_;
    DecisionLog decision_log_;

    // of the thread, and before it of the constructor
    std::shared_ptr<const Policy> policy_;
    std::optional<Munge> munge_;
    std::string store_dir_;
    bool journal_open_ = false;
    std::optional<std::int64_t> generation_, told_;  ///< of the contracts in force, and the last that was told to others
    std::optional<FileStamp> ledger_stamp_;
    std::shared_ptr<const LedgerBase> base_;

    std::thread thread_;
};

}  // namespace accord
