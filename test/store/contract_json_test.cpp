// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/contract_json.hpp"

#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "contract/contract_toml.hpp"

using namespace accord;

namespace {

Contract reference() {
    std::ifstream file(ACCORD_SRCDIR "/contracts/reference.toml");
    std::ostringstream text;
    text << file.rdbuf();
    const auto judged = judge_contract(text.str(), "reference.toml", nullptr);
    REQUIRE(judged.contract);
    return *judged.contract;
}

}  // namespace

TEST_CASE("a contract with every key comes back from the store's form as it was") {
    const auto contract = reference();
    const auto json = to_json(contract);
    const auto again = contract_from_json(json);
    REQUIRE(again);
    CHECK(to_json(*again) == json);
    CHECK(again->key() == "reference-lab/gpu");
    CHECK(again->purpose == contract.purpose);
    CHECK(again->valid_until_s == contract.valid_until_s);
    CHECK(again->owners.cost_center == "CC-1001");
    CHECK(again->organization.isolation == "shared nodes");
    CHECK(again->members.max_gpus_per_user == 8);
    CHECK(again->workloads.allowed == contract.workloads.allowed);
    CHECK(again->workloads.max_walltime_min == 2880);
    CHECK(again->external_controls.at(0).reviewed_s == contract.external_controls.at(0).reviewed_s);
    CHECK(again->capacity.at("a100").borrow_limit == 8);
    CHECK(again->revocation.narrowed_jobs == NarrowedJobs::hold);
    CHECK(again->budget.value().gpu_hours == 20000);
    CHECK(again->filesystem == contract.filesystem);
    CHECK(again->credentials.helpers.at(0).renew_s == 900);
    CHECK(again->network.value().egress == contract.network.value().egress);
    CHECK(again->review_every_s == 90 * 86400);
    CHECK(again->signals.at(1).below == "60%");
}

TEST_CASE("what is unset stays unset, and a limit of 0 stays 0") {
    Contract contract;
    contract.capacity["a100"].borrow_limit = 0;
    const auto again = contract_from_json(to_json(contract));
    REQUIRE(again);
    CHECK(again->capacity.at("a100").borrow_limit == 0);
    CHECK_FALSE(again->capacity.at("a100").lend_limit);
    CHECK_FALSE(again->budget);
    CHECK_FALSE(again->network);
    CHECK(again->reclaim.interactive_may_borrow);
}

TEST_CASE("what is no contract is refused") {
    CHECK(contract_from_json("").error().code == "invalid");
    CHECK(contract_from_json("[]").error().code == "invalid");
    CHECK(contract_from_json(R"({"account": 7})").error().code == "invalid");
    CHECK(contract_from_json(R"({"workloads": {"allowed": ["mining"]}})").error().code == "invalid");
}
