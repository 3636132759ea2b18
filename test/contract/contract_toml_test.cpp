// SPDX-License-Identifier: GPL-2.0-or-later
// Contract files, good and bad, through the parser that reads them everywhere.
#include "contract/contract_toml.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "contract/config_toml.hpp"
#include "contract/contract_set.hpp"
#include "policy/utc.hpp"

using namespace accord;
namespace fs = std::filesystem;

namespace {

fs::path source_dir() { return ACCORD_SRCDIR; }
fs::path fixtures() { return source_dir() / "test/fixtures/contracts"; }

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Config site() {
    auto config = load_config(fixtures() / "accord.toml");
    REQUIRE(config);
    return *config;
}

std::vector<fs::path> in_order(const fs::path& folder, const std::string& extension) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == extension) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    REQUIRE_FALSE(paths.empty());
    return paths;
}

JudgedContract judge(const fs::path& path, const Config* config) {
    return judge_contract(text_of(path), path.filename().string(), config);
}

std::string lines_of(const std::vector<Error>& errors) {
    std::string lines;
    for (const auto& error : errors) lines += one_line(error) + "\n";
    return lines;
}

/// The good file `name` with one text replaced.
Contract changed(const std::string& from, const std::string& to) {
    auto text = text_of(fixtures() / "good/minimal.toml");
    const auto found = text.find(from);
    REQUIRE(found != std::string::npos);
    text.replace(found, from.size(), to);
    const auto config = site();
    const auto judged = judge_contract(text, "changed.toml", &config);
    INFO(lines_of(judged.report.errors));
    REQUIRE(judged.contract);
    return *judged.contract;
}

}  // namespace

TEST_CASE("every good contract file is accepted without a warning") {
    const auto config = site();
    for (const auto& path : in_order(fixtures() / "good", ".toml")) {
        INFO(path.string());
        const auto judged = judge(path, &config);
        CHECK(lines_of(judged.report.errors).empty());
        CHECK(lines_of(judged.report.warnings).empty());
        CHECK(judged.contract);
    }
}

TEST_CASE("every bad contract file is refused with exactly the message beside it", "[H01][H02][H03][H04]") {
    const auto config = site();
    for (const auto& path : in_order(fixtures() / "bad", ".toml")) {
        INFO(path.string());
        const auto judged = judge(path, &config);
        auto expected = path;
        CHECK(lines_of(judged.report.errors) == text_of(expected.replace_extension(".expected")));
        CHECK_FALSE(judged.contract);
    }
}

TEST_CASE("contracts that do not go together are refused with exactly the messages beside them", "[G05]") {
    const auto config = site();
    for (const auto& entry : fs::directory_iterator(fixtures() / "together")) {
        INFO(entry.path().string());
        std::vector<JudgedContract> files;
        for (const auto& path : in_order(entry.path(), ".toml")) files.push_back(judge(path, &config));
        judge_together(files, &config, {});
        CHECK(lines_of(errors_of(files)) == text_of(entry.path() / "expected"));
    }
}

TEST_CASE("a bare date is the start or the end of that day in the cluster's time zone", "[H03]") {
    const auto config = site();
    const auto judged = judge(fixtures() / "good/minimal.toml", &config);
    REQUIRE(judged.contract);
    CHECK(utc_text(judged.contract->valid_from_s) == "2025-12-31T23:00:00Z");
    CHECK(utc_text(judged.contract->valid_until_s) == "2026-12-31T22:59:59Z");
}

TEST_CASE("the end of a day is right on days on which the clock changes", "[H03]") {
    CHECK(utc_text(changed("valid_until = 2026-12-31", "valid_until = 2026-03-29").valid_until_s) ==
          "2026-03-29T21:59:59Z");
    CHECK(utc_text(changed("valid_until = 2026-12-31", "valid_until = 2026-10-25").valid_until_s) ==
          "2026-10-25T22:59:59Z");
    CHECK(utc_text(changed("valid_until = 2026-12-31", "valid_until = 2026-02-28").valid_until_s) ==
          "2026-02-28T22:59:59Z");
}

TEST_CASE("a time with an offset is taken as it is, one without in the zone of accord.toml", "[H03]") {
    const auto config = site();
    const auto judged = judge(fixtures() / "good/times.toml", &config);
    REQUIRE(judged.contract);
    CHECK(utc_text(judged.contract->valid_from_s) == "2026-01-01T05:30:00Z");
    CHECK(utc_text(judged.contract->valid_until_s) == "2026-12-31T16:00:00Z");
}

TEST_CASE("a time without an offset is refused where accord.toml sets no time zone", "[H03]") {
    auto config = site();
    config.timezone.clear();
    const auto judged = judge(fixtures() / "good/times.toml", &config);
    CHECK(
        lines_of(judged.report.errors) ==
        "times.toml:5: valid_from: found the date-time 2026-01-01T06:30:00, which has no zone, and accord.toml sets no "
        "timezone: write 2026-01-01T06:30:00Z for UTC\n");
}

TEST_CASE("an account is taken in lower case") {
    const auto config = site();
    const auto judged = judge(fixtures() / "good/times.toml", &config);
    REQUIRE(judged.contract);
    CHECK(judged.contract->key() == "speech-lab/gpu");
}

TEST_CASE("a limit left out is no limit, and 0 is none") {
    const auto config = site();
    const auto judged = judge(fixtures() / "good/two-types.toml", &config);
    REQUIRE(judged.contract);
    CHECK(judged.contract->capacity.at("a100").borrow_limit == 0);
    CHECK_FALSE(judged.contract->capacity.at("v100").borrow_limit);
    CHECK_FALSE(judged.contract->workloads.max_walltime_min);
    CHECK(judged.contract->share == 2);
}

TEST_CASE("what a contract leaves out has the documented default") {
    const auto config = site();
    const auto judged = judge(fixtures() / "good/minimal.toml", &config);
    REQUIRE(judged.contract);
    const auto& contract = *judged.contract;
    CHECK(contract.environment == "production");
    CHECK(contract.reclaim.interactive_may_borrow);
    CHECK(contract.reclaim.max_preemptions == 3);
    CHECK(contract.revocation.running_jobs == RunningJobs::drain);
    CHECK(contract.revocation.grace_s == 600);
    CHECK(contract.revocation.narrowed_jobs == NarrowedJobs::hold);
    CHECK_FALSE(contract.filesystem.restricts());
    CHECK_FALSE(contract.budget);
    CHECK_FALSE(contract.network);
}

TEST_CASE("a contract can be judged without accord.toml, but for its pool") {
    auto text = text_of(fixtures() / "bad/unknown-pool.toml");
    CHECK(judge_contract(text, "x.toml", nullptr).contract);
    CHECK_FALSE(judge_contract(text_of(fixtures() / "bad/scope-etc.toml"), "x.toml", nullptr).contract);
}

TEST_CASE("every key that is set and not in force is named by a warning") {
    const auto config = site();
    auto text = text_of(fixtures() / "good/minimal.toml") + "lend_limit = 4\n[revocation]\ngrace = \"5m\"\n";
    const auto judged = judge_contract(text, "x.toml", &config);
    CHECK(judged.contract);
    CHECK(lines_of(judged.report.warnings) ==
          "x.toml:24: revocation.grace: recorded, not enforced by this version\n");
}

TEST_CASE("the example contracts are valid together on the cluster of the example accord.toml") {
    const auto config = load_config(source_dir() / "etc/accord.toml");
    REQUIRE(config);
    std::vector<JudgedContract> files;
    for (const auto& path : in_order(source_dir() / "contracts", ".toml")) files.push_back(judge(path, &*config));
    judge_together(files, &*config, {});
    CHECK(lines_of(errors_of(files)).empty());
    CHECK(files.size() == 4);
    for (const auto& file : files)
        if (file.report.path != "reference.toml") CHECK(lines_of(file.report.warnings).empty());
}

TEST_CASE("the reference of every key is a valid contract and leaves no key out") {
    const auto text = text_of(source_dir() / "contracts/reference.toml");
    const auto config = site();
    const auto judged = judge_contract(text, "reference.toml", &config);
    CHECK(lines_of(judged.report.errors).empty());
    std::set<std::string> set;
    for (const auto& [key, line] : judged.report.lines) {
        std::string path;
        for (std::size_t i = 0; i < key.size(); ++i) {
            path += key[i];
            if (key[i] == '[') i = key.find(']', i) - 1;
        }
        if (path.starts_with("capacity.a100")) path.replace(9, 4, "*");
        set.insert(path);
    }
    Contract unused;
    for (const auto& key : contract_schema(unused, {}).keys) {
        INFO(key.path);
        CHECK(set.contains(key.path));
    }
}

TEST_CASE("the manual explains every key") {
    const auto explained = [](const Schema& schema, const std::string& page) {
        const auto text = text_of(source_dir() / "doc" / page);
        for (const auto& key : schema.keys) {
            auto name = key.path.ends_with(".*") ? key.path.substr(0, key.path.size() - 2) : key.path;
            name = name.substr(name.rfind('.') + 1);
            INFO(page + ": " + name);
            CHECK(text.find("*" + name + "*") != std::string::npos);
        }
    };
    Contract contract;
    explained(contract_schema(contract, {}), "accord-contract.5.scd");
    Config config;
    explained(config_schema(config), "accord.toml.5.scd");
}
