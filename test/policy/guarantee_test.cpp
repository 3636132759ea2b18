// SPDX-License-Identifier: GPL-2.0-or-later
// R10: what all contracts together may guarantee.
#include "catch.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

PolicyContract between(const std::string& account, Gpus guaranteed, std::int64_t from_s, std::int64_t until_s) {
    auto contract = contract_for(account, guaranteed);
    contract.valid_from_s = from_s;
    contract.valid_until_s = until_s;
    return in_force(std::move(contract), {});
}

}  // namespace

TEST_CASE("guarantees that fill the pool are within it") {
    World world;
    world.contracts = {in_force(contract_for("vision-lab", 8), {}), in_force(contract_for("speech", 8), {})};
    CHECK(guarantee_breaches(world.config, world.contracts).empty());
}

TEST_CASE("guarantees beyond the pool are refused with the numbers") {
    World world;
    world.contracts = {in_force(contract_for("vision-lab", 8), {}), in_force(contract_for("speech", 9), {})};
    CHECK(guarantee_breaches(world.config, world.contracts) ==
          std::vector<std::string>{"partition gpu: its contracts together would guarantee 17 a100 from "
                                   "2026-01-01T00:00:00Z on, and the pool has 16: lower guarantees by 1"});
}

TEST_CASE("guarantees count only while their contracts are in force together") {
    World world;
    world.contracts = {between("vision-lab", 16, 100, 199), between("speech", 16, 200, 299)};
    CHECK(guarantee_breaches(world.config, world.contracts).empty());
    world.contracts.push_back(between("audio", 1, 150, 250));
    const auto breaches = guarantee_breaches(world.config, world.contracts);
    REQUIRE(breaches.size() == 1);
    CHECK(breaches.front().find("17 a100 from 1970-01-01T00:02:30Z on") != std::string::npos);
}

TEST_CASE("contracts that are not active and other partitions' do not count") {
    World world;
    auto elsewhere = contract_for("audio", 16);
    elsewhere.partition = "other";
    auto suspended = in_force(contract_for("speech", 16), {});
    suspended.state = ContractState::suspended;
    world.contracts = {in_force(contract_for("vision-lab", 16), {}), suspended, in_force(elsewhere, {})};
    CHECK(guarantee_breaches(world.config, world.contracts).empty());
}

TEST_CASE("a type that the pool does not have cannot be guaranteed") {
    World world;
    auto contract = contract_for("vision-lab", 8);
    contract.capacity["v100"] = {2, {}, {}};
    world.contracts = {in_force(std::move(contract), {})};
    const auto breaches = guarantee_breaches(world.config, world.contracts);
    REQUIRE(breaches.size() == 1);
    CHECK(breaches.front().find("2 v100") != std::string::npos);
    CHECK(breaches.front().find("the pool has 0") != std::string::npos);
}
