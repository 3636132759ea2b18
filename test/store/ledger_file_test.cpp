// SPDX-License-Identifier: GPL-2.0-or-later
// The ledger file keeps a snapshot whole, or refuses it.
#include "store/ledger_file.hpp"

#include <sys/stat.h>

#include <rapidcheck.h>

#include "catch.hpp"
#include "temp_dir.hpp"

using namespace accord;

namespace {

LedgerBase example() {
    LedgerBase base;
    base.taken_s = 1'790'000'000;
    base.resolved_through = 17;
    base.counted = {19, 20};
    base.queued = {20};
    base.throttles = {{3, 0}, {19, 2}};
    base.released = {{19, {17, 23}}};
    base.node_limits = {{7, 2}};
    ContractClaims& claims = base.contracts["vision-lab/gpu"];
    claims.guaranteed = {{"a100", 4}};
    claims.borrowed = {{"a100", 2}, {"v100", 1}};
    claims.by_member = {{1001, {{"a100", 6}}}, {1002, {{"v100", 1}}}};
    claims.queued_jobs = 1;
    base.contracts["speech-lab/gpu"] = {};
    base.crons = {{{"vision-lab/gpu", 1001, JobClass::guaranteed, {{"a100", 1}}}, 1'790'000'060},
                  {{"vision-lab/gpu", 1002, JobClass::borrowed, {{"v100", 1}}}, 1'790'003'600}};
    base.metered_s = 1'789'999'999;
    base.budgets["vision-lab/gpu"] = {{1'788'000'000, 1'790'500'000}, 36'000, 7200};
    base.budgets["speech-lab/gpu"] = {};
    base.shape.default_partition = "gpu";
    PartitionShape& gpu = base.shape.partitions["gpu"];
    gpu.name = "gpu";
    gpu.max_nodes = 4;
    gpu.default_time_min = 60;
    gpu.priority_tier = 100;
    gpu.nodes = {{"n1", {{"a100", 4}}, 16, 20000, true}, {"n2", {}, 16, 20000, false}};
    base.shape.partitions["gpu-lend"].exclusive = true;
    return base;
}

bool equal(const PartitionShape& a, const PartitionShape& b) {
    const auto same_node = [](const NodeShape& x, const NodeShape& y) {
        return x.name == y.name && x.gpus == y.gpus && x.cpus == y.cpus && x.memory_mb == y.memory_mb &&
               x.available == y.available;
    };
    return a.name == b.name && a.min_nodes == b.min_nodes && a.max_nodes == b.max_nodes && a.exclusive == b.exclusive &&
           a.default_time_min == b.default_time_min && a.max_time_min == b.max_time_min &&
           a.priority_tier == b.priority_tier &&
           std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node);
}

bool equal(const ContractClaims& a, const ContractClaims& b) {
    return a.guaranteed == b.guaranteed && a.borrowed == b.borrowed && a.by_member == b.by_member &&
           a.queued_jobs == b.queued_jobs;
}

template <typename Map>
bool equal_maps(const Map& a, const Map& b) {
    if (a.size() != b.size()) return false;
    for (const auto& [key, value] : a)
        if (const auto found = b.find(key); found == b.end() || !equal(value, found->second)) return false;
    return true;
}

bool equal(const LedgerBase& a, const LedgerBase& b) {
    return a.taken_s == b.taken_s && a.resolved_through == b.resolved_through && a.counted == b.counted &&
           a.queued == b.queued && a.throttles == b.throttles && a.released == b.released &&
           a.node_limits == b.node_limits && a.crons == b.crons && a.metered_s == b.metered_s && a.budgets == b.budgets &&
           equal_maps(a.contracts, b.contracts) &&
           a.shape.default_partition == b.shape.default_partition &&
           equal_maps(a.shape.partitions, b.shape.partitions);
}

}  // namespace

TEST_CASE("a ledger reads back as it was written") {
    const TempDir dir;
    const std::string path = dir / "ledger";
    for (const LedgerBase& base : {example(), LedgerBase{}}) {
        REQUIRE(write_ledger(path, base));
        const auto read = read_ledger(path);
        REQUIRE(read);
        CHECK(equal(*read, base));
    }
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("any claims read back as they were written") {
    const TempDir dir;
    CHECK(rc::check([&](const std::string& key, const std::map<std::string, Gpus>& gpus, std::uint32_t uid,
                        const std::set<std::uint64_t>& counted) {
        LedgerBase base;
        base.counted = counted;
        const std::string text = "account" + std::to_string(key.size());
        base.contracts[text].guaranteed["a100"] = static_cast<Gpus>(gpus.size());
        for (const auto& [type, count] : gpus) base.contracts[text].by_member[uid]["t" + std::to_string(type.size())] += count;
        RC_ASSERT(write_ledger(dir / "ledger", base).has_value());
        const auto read = read_ledger(dir / "ledger");
        RC_ASSERT(read.has_value());
        RC_ASSERT(equal(*read, base));
    }));
}

TEST_CASE("a damaged ledger is refused with what is wrong") {
    const TempDir dir;
    const std::string path = dir / "ledger";
    REQUIRE(write_ledger(path, example()));
    const std::string good = read_text(path);

    const auto error_of = [&](const std::string& text) {
        write_text(path, text);
        const auto read = read_ledger(path);
        REQUIRE_FALSE(read);
        CHECK(read.error().where == path);
        CHECK(read.error().code == "invalid");
        return read.error().what;
    };
    CHECK(error_of("") == "ledger: cannot read: it is not a ledger of this version");
    CHECK(error_of("{}") == "ledger: cannot read: it is not a ledger of this version");
    CHECK(error_of(good.substr(0, good.size() / 2)) == "ledger: cannot read: it is cut off");
    std::string flipped = good;
    flipped[flipped.find("\"a100\":4") + 7] = '9';
    CHECK(error_of(flipped) == "ledger: cannot read: its checksum does not match");
}

TEST_CASE("no prefix and no single changed byte of a ledger is read") {
    const TempDir dir;
    const std::string path = dir / "ledger";
    REQUIRE(write_ledger(path, example()));
    const std::string good = read_text(path);
    CHECK(rc::check([&] {
        std::string text = good;
        const auto at = *rc::gen::inRange<std::size_t>(0, good.size());
        const auto byte = *rc::gen::arbitrary<char>();
        if (*rc::gen::arbitrary<bool>()) text.resize(at);
        else text[at] = byte;
        RC_PRE(text != good);
        write_text(path, text);
        RC_ASSERT_FALSE(read_ledger(path).has_value());
    }));
}

TEST_CASE("a missing ledger says so") {
    const TempDir dir;
    const auto read = read_ledger(dir / "ledger");
    REQUIRE_FALSE(read);
    CHECK(read.error().code == "io");
    CHECK(read.error().what == (dir / "ledger") + ": cannot open: No such file or directory");
}

TEST_CASE("what is no ledger by its kind or size is refused unread") {
    const TempDir dir;
    REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
    const auto pipe = read_ledger(dir / "pipe");
    REQUIRE_FALSE(pipe);
    CHECK(pipe.error().what == (dir / "pipe") + ": cannot use it: it is not a regular file");

    write_text(dir / "vast", "");
    std::filesystem::resize_file(dir / "vast", std::uintmax_t{1} << 40);
    const auto vast = read_ledger(dir / "vast");
    REQUIRE_FALSE(vast);
    CHECK(vast.error().what == (dir / "vast") + ": cannot read: 1099511627776 bytes are no ledger's size");
}

TEST_CASE("a ledger that cannot be written leaves the old one") {
    const TempDir dir;
    const std::string path = dir / "ledger";
    REQUIRE(write_ledger(path, example()));
    std::filesystem::create_directory(path + ".new");
    const auto written = write_ledger(path, LedgerBase{});
    REQUIRE_FALSE(written);
    CHECK(written.error().code == "io");
    CHECK(equal(*read_ledger(path), example()));
}
