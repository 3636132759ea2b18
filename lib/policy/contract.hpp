// SPDX-License-Identifier: GPL-2.0-or-later
// A connection contract: who may use a partition, with what, on whose budget.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/gpus.hpp"

namespace accord {

enum class WorkloadType { batch, array, interactive, het, cron };
enum class ContractState { proposed, approved, active, suspended, expired, revoked };
enum class RunningJobs { drain, grace, cancel };
enum class NarrowedJobs { hold, cancel, run };
enum class OnExhausted { reject, borrow_only };

[[nodiscard]] const char* to_string(WorkloadType type);
[[nodiscard]] const char* to_string(ContractState state);
[[nodiscard]] const char* to_string(RunningJobs what);
[[nodiscard]] const char* to_string(NarrowedJobs what);
[[nodiscard]] const char* to_string(OnExhausted what);
[[nodiscard]] std::optional<WorkloadType> workload_type_from(const std::string& text);
[[nodiscard]] std::optional<ContractState> contract_state_from(const std::string& text);

struct Owners {
    std::string business, operations, cost;  ///< Unix users
    std::string cost_center;
};

struct Organization {
    std::string domain_unit, project, capacity_account, data_account, region, network_path, isolation;
};

struct Members {
    std::vector<std::string> users, groups;
    std::optional<Gpus> max_gpus_per_user;
};

struct Workloads {
    std::set<WorkloadType> allowed;
    std::optional<std::int64_t> max_walltime_min;  ///< minutes, rounded down from Slurm's time format
    std::optional<Gpus> max_gpus_per_job;
    std::optional<std::int64_t> max_cpus_per_gpu;
};

struct ExternalControl {
    std::string name, owner;
    std::int64_t reviewed_s = 0;  ///< seconds since the epoch, 0 when never
};

/// One `[capacity.TYPE]` table. An unset limit is no limit (R14).
struct Capacity {
    Gpus guaranteed = 0;
    std::optional<Gpus> lend_limit;
    std::optional<Gpus> borrow_limit;
};

struct Reclaim {
    std::int64_t max_preemptions = 3;
    bool interactive_may_borrow = true;
};

struct Revocation {
    RunningJobs running_jobs = RunningJobs::drain;
    std::int64_t grace_s = 600;
    NarrowedJobs narrowed_jobs = NarrowedJobs::hold;
};

struct Budget {
    std::int64_t gpu_hours = 0;
    std::string period = "month";
    OnExhausted on_exhausted = OnExhausted::reject;
    std::int64_t overrun_percent = 100;
};

/// What a job of the contract sees of the node's file system; absolute, normalised paths without a trailing slash.
struct FilesystemScope {
    std::vector<std::string> hidden, rw, ro, private_dirs;
    bool login_env = false;
    bool landlock = false;
    bool operator==(const FilesystemScope&) const = default;
    /// True when the contract says anything at all about files; otherwise a job's view is the node's own.
    [[nodiscard]] bool restricts() const {
        return !(hidden.empty() && rw.empty() && ro.empty() && private_dirs.empty());
    }
};

struct CredentialFile {
    std::string name, env;
};
struct CredentialHelper {
    std::string name, env;
    std::int64_t renew_s = 0;
};
struct Credentials {
    bool job_token = false;
    std::vector<CredentialFile> files;
    std::vector<CredentialHelper> helpers;
};

struct NetworkRule {
    std::string fallback;  ///< `default`: "deny" or "allow"
    std::vector<std::string> egress, ingress;
};

struct Signal {
    std::string name, above, below, owner, response;
};

/// The contract as its file states it. Its life (state, version, members as resolved) is kept beside it, by
/// PolicyContract and the store.
struct Contract {
    std::string account;    ///< lower case
    std::string partition;  ///< the governed partition
    std::string purpose;
    std::string environment = "production";
    std::string priority_class;  ///< empty: none
    std::int64_t valid_from_s = 0;   ///< first second in force
    std::int64_t valid_until_s = 0;  ///< last second in force
    Owners owners;
    Organization organization;
    Members members;
    Workloads workloads;
    std::string classification;
    std::vector<ExternalControl> external_controls;
    std::int64_t share = 1;
    std::vector<std::string> fallback;
    std::map<std::string, Capacity> capacity;
    Reclaim reclaim;
    Revocation revocation;
    std::optional<Budget> budget;
    FilesystemScope filesystem;
    Credentials credentials;
    std::optional<NetworkRule> network;
    std::optional<std::int64_t> review_every_s;
    std::vector<Signal> signals;

    [[nodiscard]] std::string key() const { return account + "/" + partition; }
};

}  // namespace accord
