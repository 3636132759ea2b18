// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld with the plugin's engine, ledger and journal in it, over real stores in a folder; and accordd beside it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon.hpp"
#include "policy/classify.hpp"
#include "policy/decide.hpp"
#include "policy/modify.hpp"
#include "policy/world.hpp"
#include "store/contracts_db.hpp"
#include "store/journal.hpp"
#include "store/ledger_file.hpp"
#include "temp_dir.hpp"

namespace accord::test {

/// The one user whom every machine has.
inline constexpr std::uint32_t nobody = 65534;

/// One pool of 16 a100; contracts as a test wants them, all with `nobody` as their member. Time stands still but for
/// `wait`, and a microsecond whenever accordd looks at it. accordd and the plugin share nothing but the files.
class Model final : public Cluster {
public:
    explicit Model(std::vector<Contract> contracts, const std::string& settings = "");

    // What users and slurmctld do.

    /// `sbatch`; the job's number, or 0 where it is rejected. `made` false: slurmctld refuses it after the hook's yes.
    std::uint32_t submit(Gpus gpus, bool made = true, const std::string& account = "vision-lab");
    /// `sbatch --array`, each task with one GPU.
    std::uint32_t submit_array(const char* indices);
    /// `scontrol update ArrayTaskThrottle=`: in force before the hook is asked, as in Slurm. Whether the hook lets it.
    bool set_throttle(std::uint32_t array_job_id, std::int64_t throttle, bool by_operator = false);
    /// The same once the task with the array's own number has ended: nobody is asked.
    void throttle(std::uint32_t array_job_id, std::int64_t throttle);
    /// A user's update: what Slurm does to the job when the hook lets it.
    bool user_change(std::uint32_t job_id, PriorityChange priority);
    void start(std::uint32_t job_id);
    /// Preempted for `owner`, which takes its node.
    void preempt(std::uint32_t job_id, std::uint32_t owner);
    void end(std::uint32_t job_id) { jobs_.erase(job_id); }
    void apply(std::vector<Contract> contracts);
    void restart_slurmctld();

    // accordd.

    /// Passes until it has fetched a list, acted on it and fetched another.
    void follow();
    void pass();
    void start_accordd();
    void stop_accordd() { daemon_.reset(); }
    void wait(std::int64_t seconds) { steady_ += std::chrono::seconds(seconds), wall_s_ += seconds; }

    // What comes of it.

    [[nodiscard]] JobView& job(std::uint32_t job_id) { return jobs_.at(job_id); }
    [[nodiscard]] ContractClaims counted(const std::string& contract = "vision-lab/gpu");
    [[nodiscard]] LedgerBase ledger_file() const;
    [[nodiscard]] std::vector<ActionRecord> actions() const;
    [[nodiscard]] std::vector<JournalRecord> journal() const;
    [[nodiscard]] const TempDir& dir() const { return dir_; }
    [[nodiscard]] std::string status() const { return daemon_->status(); }

    bool down = false;                        ///< slurmctld does not answer
    bool prolog_at_allocation = true;
    bool sees_no_change = false;              ///< slurmctld lists jobs only where accordd expects a change
    std::function<void()> before_update;      ///< what comes between a plan and its update
    std::function<bool()> refuses_after_hook; ///< slurmctld's own no to an update
    int updates = 0;

    Result<ClusterSettings> settings() override;
    Result<ClusterShape> shape() override;
    Result<bool> jobs(std::vector<JobView>& list) override;
    void expect_change() override { change_expected_ = true; }
    Result<void> update(const JobUpdate& update) override;
    Result<void> cancel(std::uint32_t job_id) override;

private:
    DecisionId record(Decision decision);
    std::uint32_t admit(const JobRequest& request, const Decision& decision, const DecisionId& id);
    std::optional<Decision> modify(std::uint32_t job_id, const Change& change, bool by_operator);
    std::uint32_t split(std::uint32_t array_job_id, std::uint32_t task);
    void take_over_files();

    TempDir dir_;
    std::shared_ptr<const Policy> policy_;
    std::optional<JournalWriter> writer_;
    Ledger ledger_;
    std::map<std::uint32_t, JobView> jobs_;
    std::uint32_t last_job_ = 0;
    bool change_expected_ = false;
    Clock::time_point steady_{std::chrono::hours(1)};
    std::int64_t wall_s_ = noon;
    std::unique_ptr<Daemon> daemon_;
};

}  // namespace accord::test
