// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/status.hpp"

#include <rapidcheck.h>

#include <numeric>

#include "catch.hpp"

using namespace accord;

namespace {

constexpr std::int64_t now_s = 1767225600;

PolicyContract contract(const std::string& account, Gpus guaranteed, ContractState state = ContractState::active) {
    auto terms = std::make_shared<Contract>();
    terms->account = account;
    terms->partition = "gpu";
    terms->valid_from_s = now_s - 100;
    terms->valid_until_s = now_s + 100;
    terms->capacity["a100"].guaranteed = guaranteed;
    PolicyContract made;
    made.contract = terms;
    made.state = state;
    return made;
}

UsageInterval running(const std::string& key, JobClass cls, Gpus gpus) {
    UsageInterval interval;
    interval.contract = key;
    interval.cls = cls;
    interval.gpus = {{"a100", gpus}};
    return interval;
}

/// A pool of 16 a100.
struct Site {
    Config config;
    std::vector<PolicyContract> contracts{contract("speech", 4), contract("vision", 8)};
    LedgerNow now;
    std::vector<UsageInterval> in_use;

    Site() { config.pools.push_back({"gpu", "gpu-lend", "auto", {{"a100", 16}}}); }
    void claim(const std::string& key, JobClass cls, Gpus gpus) {
        if (std::find(now.contracts.begin(), now.contracts.end(), key) == now.contracts.end()) now.contracts.push_back(key);
        now.ledger.add(++decisions_, {key, 1001, cls, {{"a100", gpus}}});
    }
    [[nodiscard]] Status status(const std::string& pool = "") const {
        return status_of({config, contracts, now, in_use, now_s, pool});
    }

private:
    std::uint64_t decisions_ = 0;
};

}  // namespace

TEST_CASE("a contract's rows tell what is used of its budget") {
    Site site;
    auto terms = *site.contracts[1].contract;
    terms.budget = Budget{10, "month", OnExhausted::borrow_only, 100};
    site.contracts[1].contract = std::make_shared<const Contract>(terms);
    CHECK(site.status().rows[1].budget->budget_gpu_s == 36'000);
    CHECK_FALSE(site.status().rows[1].budget->period_end_s);
    auto base = std::make_shared<LedgerBase>();
    base->budgets["vision/gpu"] = {{now_s - 1000, now_s + 1000}, 36'000, 0};
    site.now.ledger.rebase(std::move(base));
    const auto rows = site.status().rows;
    REQUIRE(rows.size() == 2);
    CHECK_FALSE(rows[0].budget);
    CHECK(rows[1].budget->used_gpu_s == 36'000);
    CHECK(rows[1].budget->limit == BudgetLimit::borrow_only);
    CHECK(rows[1].budget->period_end_s == now_s + 1000);
}

TEST_CASE("a contract's row holds its guarantee, claims, headroom, excess and use") {
    Site site;
    site.claim("vision/gpu", JobClass::guaranteed, 6);
    site.claim("vision/gpu", JobClass::borrowed, 4);
    site.in_use = {running("vision/gpu", JobClass::guaranteed, 6), running("vision/gpu", JobClass::borrowed, 2)};
    const auto status = site.status();
    REQUIRE(status.rows.size() == 2);
    const auto& speech = status.rows[0];
    const auto& vision = status.rows[1];
    CHECK(speech.contract == "speech/gpu");
    CHECK(speech.headroom == 4);
    CHECK(vision.contract == "vision/gpu");
    CHECK(vision.pool == "gpu");
    CHECK(vision.state == "active");
    CHECK(vision.gpu_type == "a100");
    CHECK(vision.guaranteed == 8);
    CHECK(vision.claimed == 6);
    CHECK(vision.headroom == 2);
    CHECK(vision.borrowed == 4);
    CHECK(vision.excess == 2);
    CHECK(vision.in_use == 8);
    CHECK(vision.lent == 0);
}

TEST_CASE("GPUs that no contract owns are lent first, idle guarantees after them") {
    Site site;
    site.in_use = {running("vision/gpu", JobClass::guaranteed, 8), running("vision/gpu", JobClass::borrowed, 4)};
    CHECK(site.status().rows[0].lent == 0);
    site.in_use.push_back(running("vision/gpu", JobClass::borrowed, 3));
    const auto status = site.status();
    CHECK(status.rows[0].lent == 3);
    CHECK(status.rows[1].lent == 0);
    REQUIRE(status.pools.size() == 1);
    CHECK(status.pools[0].capacity == 16);
    CHECK(status.pools[0].guaranteed == 12);
    CHECK(status.pools[0].in_use == 15);
    CHECK(status.pools[0].lent == 3);
}

TEST_CASE("a contract out of force guarantees nothing, and jobs without a contract are shown as such") {
    Site site;
    site.contracts[0] = contract("speech", 4, ContractState::suspended);
    site.claim("guests/gpu", JobClass::guaranteed, 2);
    site.in_use = {running("guests/gpu", JobClass::guaranteed, 2)};
    const auto status = site.status();
    REQUIRE(status.rows.size() == 3);
    CHECK(status.rows[0].contract == "guests/gpu");
    CHECK(status.rows[0].state == "none");
    CHECK(status.rows[0].excess == 2);
    CHECK(status.rows[1].state == "suspended");
    CHECK(status.pools[0].guaranteed == 8);
    CHECK(status.pools[0].lent == 0);
}

TEST_CASE("a contract past its dates is not in force") {
    Site site;
    auto terms = *site.contracts[0].contract;
    terms.valid_until_s = now_s - 1;
    site.contracts[0].contract = std::make_shared<Contract>(terms);
    CHECK(site.status().rows[0].state == "not in force");
    CHECK(site.status().pools[0].guaranteed == 8);
}

TEST_CASE("one pool can be asked for") {
    Site site;
    site.config.pools.push_back({"big", "big-lend", "auto", {{"h100", 8}}});
    CHECK(site.status().pools.size() == 2);
    const auto big = site.status("big");
    CHECK(big.rows.empty());
    REQUIRE(big.pools.size() == 1);
    CHECK(big.pools[0].gpu_type == "h100");
}

TEST_CASE("a total is shared out in proportion, whole and within the parts") {
    CHECK(share_out(3, {4, 4}) == std::vector<Gpus>{2, 1});
    CHECK(share_out(5, {1, 9}) == std::vector<Gpus>{1, 4});
    CHECK(share_out(0, {4, 4}) == std::vector<Gpus>{0, 0});
    CHECK(share_out(9, {4, 4}) == std::vector<Gpus>{4, 4});
    CHECK(share_out(3, {}).empty());
    CHECK(rc::check("shares add up and stay within their parts", [] {
        const auto most = *rc::gen::container<std::vector<Gpus>>(rc::gen::inRange<Gpus>(0, 100));
        const auto total = *rc::gen::inRange<Gpus>(0, 2000);
        const auto parts = share_out(total, most);
        RC_ASSERT(parts.size() == most.size());
        for (std::size_t i = 0; i < most.size(); ++i) RC_ASSERT(parts[i] >= 0 && parts[i] <= most[i]);
        RC_ASSERT(std::accumulate(parts.begin(), parts.end(), Gpus{0}) ==
                  std::min(total, std::accumulate(most.begin(), most.end(), Gpus{0})));
    }));
}
