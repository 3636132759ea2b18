// SPDX-License-Identifier: GPL-2.0-or-later
// How long a decision takes in the plugin, durable record included, and a policy's reload: with 10,000 contracts and
// 100,000 open claims. Prints figures; scripts/bench runs it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "../plugin/slurmctld.hpp"
#include "catch.hpp"
#include "contract/config_toml.hpp"
#include "munged.hpp"
#include "store/contracts_db.hpp"
#include "store/ledger_file.hpp"
#include "temp_dir.hpp"

using namespace accord;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int contracts = 10'000, members_each = 10, decisions = 20'000, cold_decisions = 2'000;
constexpr std::uint32_t first_uid = 100'000;
const Actor root_user{0, 0, "root"};

std::string account_of(int contract) { return fmt::format("lab-{:05}", contract); }

std::uint32_t uid_of(int contract, int member) {
    return first_uid + static_cast<std::uint32_t>(contract * members_each + member);
}

void write_settings(const std::string& path, const std::string& dir, const std::string& socket) {
    write_text(path, fmt::format(R"(cluster = "bench"
[store]
dir = "{}"
[munge]
socket = "{}"
[[pool]]
partition = "gpu"
lend_partition = "gpu-lend"
gpus = {{ a100 = 400000 }}
[governance]
acknowledgements = []
four_eyes = false
)",
                                 dir, socket));
}

Contract contract_number(int number) {
    Contract contract;
    contract.account = account_of(number);
    contract.partition = "gpu";
    contract.purpose = "What the bench decides on";
    contract.valid_until_s = 4'000'000'000;
    contract.owners = {"lab-pi", "gpu-ops", "lab-finance", "CC-1001"};
    contract.workloads.allowed = {WorkloadType::batch, WorkloadType::array, WorkloadType::interactive};
    contract.workloads.max_walltime_min = 2880;
    contract.capacity["a100"] = {40, std::nullopt, 8};
    contract.filesystem.hidden = {"/proj"};
    contract.filesystem.rw = {fmt::format("/proj/{}", contract.account)};
    return contract;
}

void fill_contracts(const std::string& path, const Config& config) {
    std::vector<ContractFile> files;
    ResolvedMembers members;
    for (int number = 0; number < contracts; ++number) {
        const Contract contract = contract_number(number);
        files.push_back({contract.account + ".toml", "text of " + contract.account, contract});
        for (int member = 0; member < members_each; ++member)
            members.uids_by_contract[contract.key()].push_back(uid_of(number, member));
    }
    auto db = ContractsDb::open(path, ContractsDb::Open::read_write);
    REQUIRE(db);
    REQUIRE(db->apply(files, config, root_user, 1'790'000'000));
    REQUIRE(db->set_members(members, root_user, 1'790'000'000));
}

void fill_ledger(const std::string& path) {
    LedgerBase base;
    base.shape.default_partition = "gpu";
    for (const char* name : {"gpu", "gpu-lend"}) {
        PartitionShape& partition = base.shape.partitions[name];
        partition.name = name;
        for (int node = 1; node <= 500; ++node)
            partition.nodes.push_back({fmt::format("n{}", node), {{"a100", 8}}, 128, 1'000'000, true});
    }
    for (int number = 0; number < contracts; ++number) {
        ContractClaims& claims = base.contracts[account_of(number) + "/gpu"];
        for (int member = 0; member < members_each; ++member)
            add_claim(claims, {account_of(number) + "/gpu", uid_of(number, member), JobClass::guaranteed, {{"a100", 1}}});
    }
    REQUIRE(write_ledger(path, base));
}

double microseconds(Clock::duration span) { return std::chrono::duration<double, std::micro>(span).count(); }

double quantile(std::vector<double> values, double q) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

/// Fills the core's own caches with other data, as what slurmctld does between two submissions does.
void chill() {
    static std::vector<char> other(8 << 20);
    for (std::size_t i = 0; i < other.size(); i += 64) ++other[i];
}

long resident_kib() {
    long pages = 0, resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    REQUIRE(file != nullptr);
    REQUIRE(std::fscanf(file, "%ld %ld", &pages, &resident) == 2);
    std::fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace

TEST_CASE("decisions with 10,000 contracts and 100,000 open claims") {
    const TempDir dir;
    const TestMunged munged;
    set_host({::geteuid(), true, 0});
    const std::string settings = dir / "accord.toml";
    write_settings(settings, dir.path(), munged.socket());
    const auto config = load_config(settings);
    REQUIRE(config);
    fill_contracts(dir / "contracts.db", *config);
    fill_ledger(dir / "ledger");

    const long before_kib = resident_kib();
    const OpenPlugin plugin(settings);
    const long after_kib = resident_kib();

    std::vector<double> spans, sealing, cold;
    int admitted = 0;
    for (int i = 0; i < decisions + cold_decisions; ++i) {
        const bool is_cold = i >= decisions;
        // Few people, so that seals are reused as they are on a cluster; their contracts lie apart.
        const int number = i % 100 * 97 % contracts;
        Request request(uid_of(number, 0));
        request.set(&job_desc_msg_t::account, account_of(number))
            .set(&job_desc_msg_t::partition, "gpu")
            .set(&job_desc_msg_t::tres_per_node, "gres:gpu:a100:1")
            .set(&job_desc_msg_t::work_dir, fmt::format("/proj/{}", account_of(number)));
        if (is_cold) chill();
        const auto begin = Clock::now();
        const HookAnswer answer = plugin.submit(request.desc(), uid_of(number, 0));
        (i < 100 ? sealing : is_cold ? cold : spans).push_back(microseconds(Clock::now() - begin));
        admitted += answer.code == SLURM_SUCCESS;
    }
    REQUIRE(admitted == decisions + cold_decisions);
    fmt::print("decision_us median {:.1f} p99 {:.1f} max {:.1f} ({} decisions)\n", quantile(spans, 0.5),
               quantile(spans, 0.99), quantile(spans, 1), spans.size());
    fmt::print("cold_decision_us median {:.1f} p99 {:.1f} (the core's caches full of other data)\n", quantile(cold, 0.5),
               quantile(cold, 0.99));
    fmt::print("first_decision_us median {:.1f} max {:.1f} (a new seal each)\n", quantile(sealing, 0.5),
               quantile(sealing, 1));
    fmt::print("memory_mib {:.1f} (what the plugin added to its process)\n",
               static_cast<double>(after_kib - before_kib) / 1024);
}

TEST_CASE("a policy of 10,000 contracts is read, and read again after one changed") {
    const TempDir dir;
    const std::string settings = dir / "accord.toml";
    write_settings(settings, dir.path(), "/nowhere");
    const auto config = load_config(settings);
    REQUIRE(config);
    fill_contracts(dir / "contracts.db", *config);
    const auto db = ContractsDb::open(dir / "contracts.db", ContractsDb::Open::read_only);
    REQUIRE(db);
    std::vector<StoredContract> known;
    auto begin = Clock::now();
    REQUIRE(load_policy(*config, *db, known));
    const double first = microseconds(Clock::now() - begin);

    Contract changed = contract_number(5);
    changed.capacity["a100"].guaranteed = 39;
    auto writer = ContractsDb::open(dir / "contracts.db", ContractsDb::Open::read_write);
    REQUIRE(writer);
    REQUIRE(writer->apply({{"changed.toml", "another text", changed}}, *config, root_user, 1'790'000'100));
    begin = Clock::now();
    REQUIRE(load_policy(*config, *db, known));
    fmt::print("policy_ms first {:.1f} again {:.1f}\n", first / 1000, microseconds(Clock::now() - begin) / 1000);
}
