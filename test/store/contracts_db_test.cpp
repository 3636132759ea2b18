// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/contracts_db.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "catch.hpp"
#include "fuse_mount.hpp"
#include "policy/utc.hpp"
#include "root.hpp"
#include "store/contract_json.hpp"
#include "store/hash.hpp"
#include "temp_dir.hpp"

using namespace accord;
using Kind = ContractChange::Kind;

namespace {

constexpr std::int64_t now_s = 1767225600;
const Actor operator_1{1000, 1001, "gpu-ops"};

Config site(bool governed = false) {
    Config config;
    config.pools.push_back({"gpu", "gpu-lend", "auto", {{"a100", 16}}});
    if (governed) return config;
    config.governance.acknowledgements.clear();
    config.governance.four_eyes = false;
    return config;
}

ContractFile file(const std::string& account, Gpus guaranteed = 4, const std::string& text = "") {
    Contract contract;
    contract.account = account;
    contract.partition = "gpu";
    contract.valid_from_s = now_s;
    contract.valid_until_s = now_s + 1000;
    contract.capacity["a100"].guaranteed = guaranteed;
    return {account + ".toml", text.empty() ? account + std::to_string(guaranteed) : text, contract};
}

ContractsDb writer(const std::string& path) {
    auto db = ContractsDb::open(path, ContractsDb::Open::read_write);
    INFO((db ? "" : db.error().what));
    REQUIRE(db);
    return std::move(*db);
}

std::vector<ContractChange> apply(ContractsDb& db, const std::vector<ContractFile>& files,
                                  const Config& config = site()) {
    auto changes = db.apply(files, config, operator_1, now_s);
    INFO((changes ? "" : changes.error().what));
    REQUIRE(changes);
    return *changes;
}

ContractsSnapshot snapshot(const ContractsDb& db) {
    auto found = db.snapshot();
    REQUIRE(found);
    return std::move(*found);
}

std::vector<std::string> event_names(const ContractsDb& db) {
    const auto events = db.events();
    REQUIRE(events);
    std::vector<std::string> names;
    for (const auto& event : *events)
        names.push_back(event.contract + " " + std::to_string(event.version) + " " + event.event);
    return names;
}

}  // namespace

TEST_CASE("a contract is active at once where governance asks for nobody") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    const auto changes = apply(db, {file("vision-lab")});
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].kind == Kind::added);
    const auto stored = snapshot(db).contracts;
    REQUIRE(stored.size() == 1);
    CHECK(stored[0].key == "vision-lab/gpu");
    CHECK(stored[0].version == 1);
    CHECK(stored[0].state == ContractState::active);
    CHECK(stored[0].changed_s == now_s);
    CHECK(stored[0].hash == blake2b_hex("vision-lab4"));
    CHECK(stored[0].contract->capacity.at("a100").guaranteed == 4);
    CHECK(event_names(db) == std::vector<std::string>{"vision-lab/gpu 1 proposed", "vision-lab/gpu 1 activated"});
}

TEST_CASE("the text that was applied is kept byte for byte, in every version") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    const std::string text = "# über\r\nx = 1\n\n";
    apply(db, {file("vision-lab", 4, text)});
    apply(db, {file("vision-lab", 5)});
    CHECK(db.text("vision-lab/gpu", 1).value() == text);
    CHECK(db.text("vision-lab/gpu", 2).value() == "vision-lab5");
    CHECK_FALSE(db.text("vision-lab/gpu", 3).value());
}

TEST_CASE("a changed text is a new version, an unchanged one is not, and others stay as they are") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab"), file("speech-lab")});
    const auto before = db.data_version().value();
    const auto changes = apply(db, {file("vision-lab"), file("speech-lab", 5)});
    CHECK(changes[0].kind == Kind::unchanged);
    CHECK(changes[1].kind == Kind::changed);
    CHECK(changes[1].version == 2);
    CHECK(db.data_version().value() > before);
    const auto stored = snapshot(db).contracts;
    REQUIRE(stored.size() == 2);
    CHECK(stored[0].key == "speech-lab/gpu");
    CHECK(stored[0].version == 2);
    CHECK(stored[1].version == 1);
    CHECK(event_names(db).back() == "speech-lab/gpu 2 replaced");
}

TEST_CASE("applying nothing new changes nothing that a policy would notice") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab")});
    const auto before = db.data_version().value();
    apply(db, {file("vision-lab")});
    CHECK(db.data_version().value() == before);
    CHECK(event_names(db).size() == 2);
}

TEST_CASE("under governance a contract is proposed, and one in force stays so beside a proposal") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("speech-lab")}, site(true));
    CHECK(snapshot(db).contracts[0].state == ContractState::proposed);
    CHECK(apply(db, {file("speech-lab")})[0].kind == Kind::activated);
    CHECK(snapshot(db).contracts[0].state == ContractState::active);
    apply(db, {file("speech-lab", 6)}, site(true));
    const auto stored = snapshot(db).contracts[0];
    CHECK(stored.version == 1);
    CHECK(stored.proposed_version == 2);
    CHECK(stored.contract->capacity.at("a100").guaranteed == 4);
    CHECK(event_names(db) == std::vector<std::string>{"speech-lab/gpu 1 proposed", "speech-lab/gpu 1 activated",
                                                      "speech-lab/gpu 2 proposed"});
}

TEST_CASE("guarantees beyond the pool are refused with the numbers, and nothing is applied") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab", 10)});
    const auto refused = db.apply({file("robotics", 1), file("speech-lab", 6)}, site(), operator_1, now_s);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.find("17 a100") != std::string::npos);
    CHECK(refused.error().what.find("16") != std::string::npos);
    CHECK(snapshot(db).contracts.size() == 1);
    CHECK(event_names(db).size() == 2);
}

TEST_CASE("every event names who did it, and the chain recomputes") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab"), file("speech-lab")});
    const auto events = db.events().value();
    REQUIRE(events.size() == 4);
    std::string before(no_hash);
    for (const auto& event : events) {
        CHECK(event.uid == 1000);
        CHECK(event.login_uid == 1001);
        CHECK(event.who == "gpu-ops");
        CHECK(event.time_s == now_s);
        CHECK(event.prev_hash == before);
        CHECK(hash_of(event) == event.hash);
        before = event.hash;
    }
    CHECK(events[0].contract_hash == blake2b_hex("vision-lab4"));
    CHECK(db.events("speech-lab/gpu").value().size() == 2);
}

TEST_CASE("versions and events can be added to only") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab")});
    SQLite::Database raw(dir / "contracts.db", SQLite::OPEN_READWRITE);
    for (const auto* statement :
         {"UPDATE event_record SET who = 'x'", "DELETE FROM event_record", "UPDATE contract_version SET text = 'x'",
          "DELETE FROM contract_version", "INSERT OR REPLACE INTO contract_version SELECT * FROM contract_version",
          "INSERT OR REPLACE INTO event_record SELECT * FROM event_record"}) {
        INFO(statement);
        CHECK_THROWS_AS(raw.exec(statement), SQLite::Exception);
    }
}

TEST_CASE("members are written where they differ, each change with an event that names them") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab"), file("speech-lab")});
    ResolvedMembers members;
    members.uids_by_contract = {{"vision-lab/gpu", {2001, 2002}}, {"unknown/gpu", {1}}};
    members.names = {{0, "root"}, {2001, "vision1"}, {2002, "vision2"}};
    members.exempt_uids = {0};
    CHECK(db.set_members(members, operator_1, now_s).value());
    CHECK_FALSE(db.set_members(members, operator_1, now_s).value());
    const auto found = snapshot(db);
    CHECK(found.contracts[0].member_uids.empty());
    CHECK(found.contracts[1].member_uids == std::vector<std::uint32_t>{2001, 2002});
    CHECK(found.user_names.at(2002) == "vision2");
    CHECK(found.exempt_uids == std::vector<std::uint32_t>{0});
    CHECK(db.events().value().back().detail == "added 2001 (vision1), 2002 (vision2)");
    members.uids_by_contract["vision-lab/gpu"] = {2002};
    CHECK(db.set_members(members, operator_1, now_s).value());
    CHECK(db.events().value().back().detail == "removed 2001 (vision1)");
}

TEST_CASE("members of contracts that have changed since they were looked up are not written") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab")});
    ResolvedMembers members;
    members.uids_by_contract = {{"vision-lab/gpu", {2001}}};
    members.of_version = db.data_version().value();
    apply(db, {file("speech-lab")});
    CHECK_FALSE(db.set_members(members, operator_1, now_s).value());
    for (const auto& contract : snapshot(db).contracts) CHECK(contract.member_uids.empty());
    members.of_version = db.data_version().value();
    CHECK(db.set_members(members, operator_1, now_s).value());
}

TEST_CASE("people of whom the name service could not say anything stay as they were") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab")});
    ResolvedMembers members;
    members.uids_by_contract = {{"vision-lab/gpu", {2001}}};
    members.names = {{0, "root"}, {2001, "vision1"}};
    members.exempt_uids = {0};
    CHECK(db.set_members(members, operator_1, now_s).value());
    ResolvedMembers nothing;
    nothing.complete = false;
    CHECK_FALSE(db.set_members(nothing, operator_1, now_s).value());
    CHECK(snapshot(db).contracts[0].member_uids == std::vector<std::uint32_t>{2001});
    CHECK(snapshot(db).exempt_uids == std::vector<std::uint32_t>{0});
}

TEST_CASE("the policy is what the store holds, and keeps the models that did not change") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab"), file("speech-lab")});
    ResolvedMembers members;
    members.uids_by_contract = {{"vision-lab/gpu", {2001}}};
    members.names = {{2001, "vision1"}};
    REQUIRE(db.set_members(members, operator_1, now_s));
    std::vector<StoredContract> known;
    const auto first = load_policy(site(), db, known).value();
    REQUIRE(first->contract("vision-lab", "gpu"));
    CHECK(first->contract("vision-lab", "gpu")->has_member(2001));
    CHECK(first->contract("vision-lab", "gpu")->version == 1);
    CHECK(first->user_name(2001) == "vision1");
    apply(db, {file("speech-lab", 5)});
    const auto second = load_policy(site(), db, known).value();
    CHECK(second->contract("vision-lab", "gpu")->contract == first->contract("vision-lab", "gpu")->contract);
    CHECK(second->contract("speech-lab", "gpu")->contract->capacity.at("a100").guaranteed == 5);
}

TEST_CASE("a store that is missing, damaged or empty is an error that says so") {
    const TempDir dir;
    const auto open = [&](const std::string& name) {
        return ContractsDb::open(dir / name, ContractsDb::Open::read_only);
    };
    const auto missing = open("missing.db");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == "unavailable");
    CHECK(missing.error().what.find("missing.db") != std::string::npos);
    std::ofstream(dir / "damaged.db") << std::string(8192, 'x');
    const auto damaged = open("damaged.db");
    REQUIRE_FALSE(damaged);
    CHECK(damaged.error().what.find("damaged") != std::string::npos);
    std::ofstream(dir / "empty.db");
    CHECK(open("empty.db").error().code == "unavailable");
}

TEST_CASE("a reader gives up on a store that another process keeps locked, and works again afterwards", "[E06]") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab")});
    const auto reader = ContractsDb::open(dir / "contracts.db", ContractsDb::Open::read_only);
    REQUIRE(reader);
    SQLite::Database other(dir / "contracts.db", SQLite::OPEN_READWRITE);
    other.exec("BEGIN EXCLUSIVE");
    const auto locked = reader->snapshot();
    REQUIRE_FALSE(locked);
    CHECK(locked.error().code == "unavailable");
    CHECK(locked.error().what.find("locked") != std::string::npos);
    CHECK(reader->data_version().error().code == "unavailable");
    other.exec("COMMIT");
    CHECK(reader->snapshot());
}

TEST_CASE("a change waits for a reader from outside and is not lost", "[E06]") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab")});
    SQLite::Database outside(dir / "contracts.db", SQLite::OPEN_READWRITE);
    outside.exec("BEGIN");
    outside.execAndGet("SELECT count(*) FROM contract");
    bool changed = false;
    std::thread change([&] { changed = db.apply({file("speech-lab")}, site(), operator_1, now_s).has_value(); });
    // the writer's reserved lock shows that it is under way
    SQLite::Database probe(dir / "contracts.db", SQLite::OPEN_READWRITE);
    for (bool waiting = false; !waiting;) try {
            probe.exec("BEGIN IMMEDIATE");
            probe.exec("ROLLBACK");
            std::this_thread::yield();
        } catch (const SQLite::Exception&) {
            waiting = true;
        }
    outside.exec("COMMIT");
    change.join();
    CHECK(changed);
    CHECK(snapshot(db).contracts.size() == 2);
}

TEST_CASE("a writer killed in the middle of a change leaves what was before", "[E06]") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab")});
    const auto child = ::fork();
    if (child == 0) {
        SQLite::Database half(dir / "contracts.db", SQLite::OPEN_READWRITE);
        half.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE");
        // more than the cache holds: the file itself is changed before the commit that never comes
        half.exec(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
            "INSERT INTO contract_version SELECT 'lost/' || i, 1, hex(zeroblob(500)), '', '', '' FROM n");
        ::kill(::getpid(), SIGKILL);
    }
    REQUIRE(child > 0);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    REQUIRE(std::filesystem::exists(dir / "contracts.db-journal"));
    const auto reader = ContractsDb::open(dir / "contracts.db", ContractsDb::Open::read_only);
    REQUIRE_FALSE(reader);
    CHECK(reader.error().code == "unavailable");
    CHECK(reader.error().what.find("a change to it was cut short") != std::string::npos);
    const auto again = writer(dir / "contracts.db");
    CHECK(snapshot(again).contracts.size() == 1);
    CHECK(ContractsDb::open(dir / "contracts.db", ContractsDb::Open::read_only));
}

TEST_CASE("two writers lose nothing", "[E06]") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    const auto add = [&](const std::string& prefix) {
        auto own = ContractsDb::open(dir / "contracts.db", ContractsDb::Open::read_write);
        for (int i = 0; own && i < 20; ++i) {
            const auto done = own->apply({file(prefix + std::to_string(i), 0)}, site(), operator_1, now_s);
            if (!done) return;
        }
    };
    std::thread left(add, "left"), right(add, "right");
    left.join();
    right.join();
    CHECK(snapshot(db).contracts.size() == 40);
    CHECK(event_names(db).size() == 80);
}

TEST_CASE("the store is readable by its group and nobody else") {
    const TempDir dir;
    writer(dir / "contracts.db");
    struct stat about {};
    REQUIRE(::stat((dir / "contracts.db").c_str(), &about) == 0);
    CHECK((about.st_mode & 07777) == 0640);
}

TEST_CASE("a store on a network file system is refused by its path", "[E03]") {
    if (!is_root()) return;
    const TempDir dir;
    const FuseMount mount(dir / "remote");
    const auto db = ContractsDb::open(dir / "remote/contracts.db", ContractsDb::Open::read_write);
    REQUIRE_FALSE(db);
    CHECK(db.error().what.find(dir / "remote") != std::string::npos);
    CHECK(db.error().what.find("fuse") != std::string::npos);
}

TEST_CASE("the views show contracts and their events to auditors") {
    const TempDir dir;
    auto db = writer(dir / "contracts.db");
    apply(db, {file("vision-lab")});
    SQLite::Database raw(dir / "contracts.db");
    SQLite::Statement row(raw,
                          "SELECT contract, account, partition, state, valid_from, guaranteed_gpus, gpu_types, members "
                          "FROM contract");
    REQUIRE(row.executeStep());
    CHECK(row.getColumn(0).getString() == "vision-lab/gpu");
    CHECK(row.getColumn(1).getString() == "vision-lab");
    CHECK(row.getColumn(2).getString() == "gpu");
    CHECK(row.getColumn(3).getString() == "active");
    CHECK(row.getColumn(4).getString() == utc_text(now_s));
    CHECK(row.getColumn(5).getInt() == 4);
    CHECK(row.getColumn(6).getString() == "a100");
    CHECK(row.getColumn(7).getInt() == 0);
    CHECK(raw.execAndGet("SELECT count(*) FROM contract_event").getInt() == 2);
}

TEST_CASE("an event's hash is that of its documented text") {
    ContractEvent event;
    event.id = 1;
    event.contract = "vision-lab/gpu";
    event.version = 1;
    event.time_s = now_s;
    event.event = "proposed";
    event.login_uid = 1000;
    event.who = "root";
    event.contract_hash = "7c1e";
    event.detail = "contracts/vision-lab.toml";
    event.prev_hash = "00";
    CHECK(hash_of(event) ==
          blake2b_hex(R"({"v":1,"id":1,"contract":"vision-lab/gpu","version":1,"time":"2026-01-01T00:00:00Z",)"
                      R"("event":"proposed","uid":0,"login_uid":1000,"who":"root","why":"","contract_hash":"7c1e",)"
                      R"("detail":"contracts/vision-lab.toml","prev_hash":"00"})"));
}
