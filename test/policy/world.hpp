// SPDX-License-Identifier: GPL-2.0-or-later
// A small governed cluster to judge jobs on: four nodes of four a100, and contracts as a test wants them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/decide.hpp"
#include "policy/job.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"

namespace accord::test {

inline constexpr std::uint32_t vision1 = 1001, speech1 = 1002, outsider = 1003;
inline constexpr std::int64_t noon = 1'780'000'000;  ///< within the contracts' dates

inline NodeShape node(const std::string& name, GpuVector gpus, std::int64_t cpus = 16, std::int64_t memory_mb = 20'000) {
    return {name, std::move(gpus), cpus, memory_mb, true};
}

inline PartitionShape partition_of(const std::string& name, const std::string& type, int nodes, Gpus gpus) {
    PartitionShape shape;
    shape.name = name;
    for (int index = 1; index <= nodes; ++index) shape.nodes.push_back(node(name + std::to_string(index), {{type, gpus}}));
    return shape;
}

inline PoolConfig pool_named(const std::string& partition, GpuVector gpus) {
    PoolConfig pool;
    pool.partition = partition;
    pool.lend_partition = partition + "-lend";
    pool.gpus = std::move(gpus);
    return pool;
}

inline Contract contract_for(const std::string& account, Gpus guaranteed, std::optional<Gpus> borrow_limit = {}) {
    Contract contract;
    contract.account = account;
    contract.partition = "gpu";
    contract.valid_from_s = 1'767'225'600;   // 2026-01-01T00:00:00Z
    contract.valid_until_s = 1'798'761'599;  // 2026-12-31T23:59:59Z
    contract.owners = {"vision-pi", "gpu-ops", "vision-finance", "CC-1001"};
    contract.workloads.allowed = {WorkloadType::batch, WorkloadType::array, WorkloadType::interactive};
    contract.capacity["a100"] = {guaranteed, {}, borrow_limit};
    return contract;
}

inline PolicyContract in_force(Contract contract, std::vector<std::uint32_t> members) {
    return {std::make_shared<const Contract>(std::move(contract)), 3, ContractState::active, std::move(members), {}};
}

/// Settings, contracts, shape and ledger that a test changes before it asks.
struct World {
    Config config;
    std::vector<PolicyContract> contracts;
    ClusterShape shape;
    Ledger ledger;
    std::uint64_t decided = 0;

    World() {
        config.cluster = "demo";
        config.admin_group = "accord-admin";
        config.pools.push_back(pool_named("gpu", {{"a100", 16}}));
        shape.default_partition = "gpu";
        shape.partitions["gpu"] = partition_of("gpu", "a100", 4, 4);
        take_shape();
    }

    /// Hands the shape to the ledger, whose claims start anew.
    void take_shape() {
        auto base = std::make_shared<LedgerBase>();
        base->shape = shape;
        ledger = {};
        ledger.rebase(std::move(base));
    }

    [[nodiscard]] Policy policy() const {
        return {config, contracts, {{vision1, "vision1"}, {speech1, "speech1"}, {outsider, "outsider"}}, {0}};
    }

    [[nodiscard]] std::optional<Decision> ask(const JobRequest& request, std::int64_t now_s = noon) const {
        return decide(policy(), ledger, request, now_s);
    }

    /// Asks, and claims what the answer says.
    Decision submit(const JobRequest& request, std::int64_t now_s = noon) {
        auto decision = ask(request, now_s).value();
        apply_to_ledger(ledger, ++decided, decision);
        return decision;
    }
};

/// `sbatch --account=ACCOUNT --gpus=TRES` by vision1.
inline JobRequest batch(const std::string& tres_per_job, const std::string& account = "vision-lab",
                        std::uint32_t uid = vision1) {
    JobRequest request;
    request.uid = uid;
    request.account = account;
    request.partitions = {"gpu"};
    request.gpus.min_cpus = 1;
    if (!tres_per_job.empty()) request.gpus.tres_per_job = tres_per_job;
    return request;
}

/// A record of slurmctld's list: a job of vision-lab with `gpus` GPUs.
inline JobView listed(std::uint32_t job_id, const std::string& partition, Gpus gpus,
                      JobState state = JobState::pending) {
    JobView job;
    job.job_id = job_id;
    job.uid = vision1;
    job.account = "vision-lab";
    job.partition = partition;
    job.state = state;
    if (gpus != 0) job.gpus.tres_per_job = "gres:gpu:" + std::to_string(gpus);
    return job;
}

}  // namespace accord::test
