// SPDX-License-Identifier: GPL-2.0-or-later
// Looking up contracts and people.
#include "policy/policy.hpp"

#include "catch.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

TEST_CASE("a contract is found by its account and partition, and by its key") {
    World world;
    world.contracts = {in_force(contract_for("vision-lab", 8), {vision1}), in_force(contract_for("speech", 4), {speech1})};
    const auto policy = world.policy();
    REQUIRE(policy.contract("vision-lab", "gpu") != nullptr);
    CHECK(policy.contract("vision-lab", "gpu")->contract->account == "vision-lab");
    CHECK(policy.contract("vision-lab", "gpu") == policy.contract("vision-lab/gpu"));
    CHECK(policy.contract("vision-lab", "gp") == nullptr);
    CHECK(policy.contract("vision-la", "b/gpu") == nullptr);
    CHECK(policy.contract("", "") == nullptr);
    CHECK(policy.contract("VISION-LAB", "gpu") == nullptr);
}

TEST_CASE("ten thousand contracts are each found") {
    World world;
    for (int index = 0; index < 10'000; ++index)
        world.contracts.push_back(in_force(contract_for("lab" + std::to_string(index), 0), {}));
    const auto policy = world.policy();
    for (int index = 0; index < 10'000; index += 7)
        CHECK(policy.contract("lab" + std::to_string(index), "gpu")->contract->account == "lab" + std::to_string(index));
}

TEST_CASE("a member's contracts in a partition are listed by account") {
    World world;
    auto elsewhere = contract_for("audio", 4);
    elsewhere.partition = "cpu";
    world.contracts = {in_force(contract_for("vision-lab", 8), {speech1, vision1}), in_force(elsewhere, {vision1}),
                       in_force(contract_for("speech", 4), {vision1, vision1})};
    const auto policy = world.policy();
    const auto theirs = policy.contracts_of(vision1, "gpu");
    REQUIRE(theirs.size() == 2);
    CHECK(theirs[0]->contract->account == "speech");
    CHECK(theirs[1]->contract->account == "vision-lab");
    CHECK(policy.contracts_of(outsider, "gpu").empty());
    CHECK(theirs[1]->has_member(speech1));
    CHECK_FALSE(theirs[1]->has_member(outsider));
}

TEST_CASE("a contract is active by its state and from its first second to its last") {
    auto contract = in_force(contract_for("vision-lab", 8), {});
    CHECK(contract.active_at(contract.contract->valid_from_s));
    CHECK(contract.active_at(contract.contract->valid_until_s));
    CHECK_FALSE(contract.active_at(contract.contract->valid_from_s - 1));
    CHECK_FALSE(contract.active_at(contract.contract->valid_until_s + 1));
    contract.state = ContractState::suspended;
    CHECK_FALSE(contract.active_at(noon));
}

TEST_CASE("a user without a known name is told by number") {
    const auto policy = World().policy();
    CHECK(policy.user_name(vision1) == "vision1");
    CHECK(policy.user_name(4242) == "4242");
    CHECK(policy.exempt(0));
    CHECK_FALSE(policy.exempt(vision1));
}
