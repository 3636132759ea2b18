// SPDX-License-Identifier: GPL-2.0-or-later
#include "site.hpp"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "catch.hpp"
#include "munged.hpp"
#include "seal/munge.hpp"
#include "slurmctld.hpp"
#include "store/contracts_db.hpp"
#include "store/ledger_file.hpp"

using namespace accord;

namespace {

std::unique_ptr<TestMunged>& munged() {
    static std::unique_ptr<TestMunged> one;
    if (!one) one = std::make_unique<TestMunged>();
    return one;
}

const Actor root_user{0, 0, "root"};

Config ungoverned() {
    Config config;
    config.pools.push_back({"gpu", "gpu-lend", "auto", {{"a100", 16}, {"v100", 8}}});
    config.governance.acknowledgements.clear();
    config.governance.four_eyes = false;
    return config;
}

ContractsDb writer(const std::string& path) {
    auto db = ContractsDb::open(path, ContractsDb::Open::read_write);
    INFO((db ? "" : db.error().what));
    REQUIRE(db);
    return std::move(*db);
}

/// The members are known by uid here, so that no name service is asked.
void add_members(ContractsDb& db, const std::string& key, std::uint32_t uid) {
    ResolvedMembers members;
    members.uids_by_contract[key] = {uid};
    members.names = {{0, "root"}, {vision1, "vision1"}, {speech1, "speech1"}};
    members.exempt_uids = {0};
    REQUIRE(db.set_members(members, root_user, 1'790'000'000));
}

}  // namespace

Site::Site() {
    set_host({::geteuid(), true, 0});
    write_config();
    write_ledger();
    static_cast<void>(take_log());
}

void Site::write_config(const std::string& more, const std::string& store, const std::string& gpus) const {
    write_text(config_path(), fmt::format(R"({}
cluster = "demo"
[store]
dir = "{}"
{}
[munge]
socket = "{}"
[node]
scope_roots = ["/proj", "/tmp"]
[[pool]]
partition = "gpu"
lend_partition = "gpu-lend"
gpus = {}
cpus_per_gpu = 4
mem_per_gpu = "4G"
[governance]
acknowledgements = []
four_eyes = false
)",
                                          more, dir_.path(), store, munge_socket(), gpus));
}

void Site::apply(const std::string& account, std::uint32_t user, Gpus guaranteed,
                 const std::function<void(Contract&)>& edit) const {
    Contract contract;
    contract.account = account;
    contract.partition = "gpu";
    contract.valid_from_s = 0;
    contract.valid_until_s = 4'000'000'000;
    contract.owners = {"vision-pi", "gpu-ops", "vision-finance", "CC-1001"};
    contract.workloads.allowed = {WorkloadType::batch, WorkloadType::array, WorkloadType::interactive};
    contract.capacity["a100"].guaranteed = guaranteed;
    if (edit) edit(contract);
    ContractsDb db = writer(file("contracts.db"));
    static int text = 0;
    const auto applied = db.apply({{account + ".toml", fmt::format("text {}", ++text), contract}}, ungoverned(), root_user,
                                  1'790'000'000);
    INFO((applied ? "" : applied.error().what));
    REQUIRE(applied);
    add_members(db, contract.key(), user);
}

void Site::make_contracts_db() const {
    ContractsDb db = writer(file("contracts.db"));
    add_members(db, "nobody/gpu", vision1);
}

void Site::write_ledger(std::uint64_t through, const std::unordered_map<std::string, ContractClaims>& claims,
                        const GpuVector& on_each_node) const {
    LedgerBase base;
    base.resolved_through = through;
    base.contracts = claims;
    base.shape.default_partition = "gpu";
    for (const char* name : {"gpu", "gpu-lend"}) {
        PartitionShape& partition = base.shape.partitions[name];
        partition.name = name;
        for (int node = 1; node <= 4; ++node)
            partition.nodes.push_back({fmt::format("n{}", node), on_each_node, 16, 20'000, true});
    }
    REQUIRE(accord::write_ledger(file("ledger"), base));
}

std::vector<JournalRecord> Site::journal() const {
    std::vector<JournalRecord> records;
    JournalReader reader(journal_dir());
    REQUIRE(reader.read_new(0, [&](const JournalRecord& record) { records.push_back(record); }));
    return records;
}

Grant Site::unseal(const std::string& sealed) const {
    const auto opened = Munge(munge_socket()).unseal(sealed);
    REQUIRE(opened);
    const auto grant = grant_from_json(opened->payload);
    REQUIRE(grant);
    return *grant;
}

std::string Site::munge_socket() { return munged()->socket(); }

void Site::stop_munged() { munged()->stop(); }

bool wait_for(const std::function<bool()>& true_then) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < end) {
        if (true_then()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true_then();
}

std::vector<std::string> next_log(std::size_t count) {
    std::vector<std::string> lines;
    static_cast<void>(wait_for([&] {
        for (std::string& line : take_log()) lines.push_back(std::move(line));
        return lines.size() >= count;
    }));
    return lines;
}
