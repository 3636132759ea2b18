// SPDX-License-Identifier: GPL-2.0-or-later
// The ledger: what each contract's jobs claim. The plugin's is accordd's last snapshot plus its own later decisions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "policy/budget.hpp"
#include "policy/contract.hpp"
#include "policy/decision.hpp"
#include "policy/gpus.hpp"
#include "policy/loans.hpp"
#include "policy/shape.hpp"

namespace accord {

/// One contract's claims by class, and by member over both classes.
struct ContractClaims {
    GpuVector guaranteed;
    GpuVector borrowed;
    std::map<std::uint32_t, GpuVector> by_member;
    std::int64_t queued_jobs = 0;
    bool operator==(const ContractClaims&) const = default;
};

struct Claim {
    std::string contract;
    std::uint32_t uid = 0;
    JobClass cls = JobClass::guaranteed;
    GpuVector gpus;
    bool operator==(const Claim&) const = default;
};

/// R6: what a scrontab job claims until its next start, before which Slurm does not start it.
struct CronClaim {
    Claim claim;
    std::int64_t begin_s = 0;
    bool operator==(const CronClaim&) const = default;
};

/// What accordd's snapshot file holds: claims of the jobs that slurmctld really has, and how far it has seen the
/// journal. Decisions up to `resolved_through` are all accounted for (matched to a job, or void); those in `counted`
/// are too.
struct LedgerBase {
    std::int64_t taken_s = 0;
    std::uint64_t resolved_through = 0;
    std::set<std::uint64_t> counted;
    std::set<std::uint64_t> queued;  ///< decisions whose jobs are queued (R17)
    /// By a decision in `queued`: the pending jobs of it that are not, of an array that is released task by task.
    std::map<std::uint64_t, std::set<std::uint32_t>> released;
    std::map<std::uint64_t, std::int64_t> node_limits;  ///< by the decision of a requeued job, which slurmctld lists without
    std::map<std::uint64_t, std::int64_t> throttles;  ///< by an array's decision: its throttle on record, 0 for none (R7)
    std::unordered_map<std::string, ContractClaims> contracts;
    std::vector<CronClaim> crons;  ///< of pending scrontab jobs, which `contracts` has as well
    std::int64_t metered_s = 0;  ///< up to when `budgets` are metered; not later than taken_s
    BudgetUses budgets;
    ClusterShape shape;

    [[nodiscard]] bool accounts_for(std::uint64_t decision) const {
        return decision <= resolved_through || counted.contains(decision);
    }
};

/// Snapshot and tail. Not synchronised: the owner holds a lock from the question to the claim.
class Ledger {
public:
    Ledger();

    /// Takes a newer snapshot; drops from the tail what it accounts for.
    void rebase(std::shared_ptr<const LedgerBase> base);
    /// Counts a decision that is in no snapshot yet. Ignored when the snapshot, or the tail, accounts for it.
    void add(std::uint64_t decision, Claim claim);
    /// Notes that the job of `decision` is queued, or is so no more, as `record` says (the decision itself, or a later
    /// modification of its job). `job_id` is of the one record that it is about, of an array that has several; 0: of all.
    /// Ignored when the snapshot accounts for the record.
    void set_queued(std::uint64_t decision, bool queued, std::uint64_t record, std::uint32_t job_id = 0);

    /// Notes the throttle that the record knows of the array of `decision`, 0 for none, as `record` says.
    void set_throttle(std::uint64_t decision, std::int64_t throttle, std::uint64_t record);

    /// R6: this ledger without the scrontab jobs of `uid` that the snapshot shows and that Slurm cannot have started
    /// before `now_s`; none where there are no such jobs. Storing a scrontab cancels them after the new one's jobs have been
    /// judged, and within the same lock (crontab_submit, 22.05).
    [[nodiscard]] std::optional<Ledger> without_crons_of(std::uint32_t uid, std::int64_t now_s) const;

    [[nodiscard]] const ContractClaims& of(const std::string& contract) const;
    [[nodiscard]] bool is_queued(std::uint64_t decision, std::uint32_t job_id = 0) const;
    /// R7: unset where the record is silent, or not known here.
    [[nodiscard]] std::optional<std::int64_t> throttle_of(std::uint64_t decision) const;
    /// The owner of the snapshot has changed this contract's claims in it, instead of adding to the tail.
    void recount(const std::string& contract);
    /// R14: of the pool, by all that is counted. Kept from call to call, and brought up to date by what was counted since.
    [[nodiscard]] const PoolLoans& loans(const Policy& policy, const PoolConfig& pool, std::int64_t now_s) const;
    /// R4: the limit of nodes of a job that was requeued; unset where it has none, or it is not known here.
    [[nodiscard]] std::optional<std::int64_t> node_limit_of(std::uint64_t decision) const;
    [[nodiscard]] const ClusterShape& shape() const { return base_->shape; }
    [[nodiscard]] const LedgerBase& base() const { return *base_; }
    [[nodiscard]] std::size_t tail_size() const { return tail_.size(); }

private:
    void count(const Claim& claim, int sign = 1);
    [[nodiscard]] PoolLoans loans_anew(const Policy& policy, const PoolConfig& pool, std::int64_t now_s) const;

    std::shared_ptr<const LedgerBase> base_;
    std::map<std::uint64_t, Claim> tail_;
    struct QueueChange {
        bool queued = false;
        std::uint64_t record = 0;
    };
    /// By decision and job, 0 for all of its jobs: queued or released since the snapshot.
    std::map<std::pair<std::uint64_t, std::uint32_t>, QueueChange> queued_tail_;
    struct ThrottleChange {
        std::int64_t throttle = 0;
        std::uint64_t record = 0;
    };
    std::map<std::uint64_t, ThrottleChange> throttle_tail_;  ///< by decision: set since the snapshot
    std::unordered_map<std::string, ContractClaims> touched_;  ///< base plus tail, of the contracts in the tail
    mutable std::map<std::string, PoolLoans> loans_;           ///< by pool, as far as they were asked for
    mutable std::unordered_set<std::string> loans_lack_;       ///< contracts whose claims have changed since
};

/// What a recorded decision adds to the claims: nothing when it was rejected or names no class. In observe mode (R18) a
/// claim counts as the job runs, in the governed partition.
[[nodiscard]] std::optional<Claim> claim_of(const Decision& decision);

/// What a recorded decision means for the ledger: the claim it adds, whether the job it is about is queued, and its
/// array's throttle. Used
/// alike for a decision just made and for one read back from the journal; `number` is the record's own. A promotion's
/// claim comes on top of the borrowed one, which stays until the next snapshot: too much is counted for a moment, never
/// too little.
void apply_to_ledger(Ledger& ledger, std::uint64_t number, const Decision& decision);

/// Adds a claim to one contract's sums, or with `sign` -1 takes it away. An exempt job runs in the governed partition and
/// counts as guaranteed there.
void add_claim(ContractClaims& to, const Claim& claim, int sign = 1);

/// The partition of a contract's key, account/partition.
[[nodiscard]] std::string_view partition_of(std::string_view key);

/// headroom: guarantee minus guaranteed claims, at least 0. excess: all claims, and `more`, beyond the guarantee, at
/// least 0.
[[nodiscard]] Gpus headroom_of(const Contract& contract, const ContractClaims& claims, const std::string& type);
[[nodiscard]] Gpus excess_of(const Contract& contract, const ContractClaims& claims, const std::string& type,
                             Gpus more = 0);

}  // namespace accord
