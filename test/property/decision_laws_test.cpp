// SPDX-License-Identifier: GPL-2.0-or-later
// What one decision depends on, and what the record of all of them comes to.
#include "catch.hpp"
#include "property/scenario.hpp"

using namespace accord;
using namespace accord::test;

namespace {

void assert_same(const Decision& left, const Decision& right) {
    RC_ASSERT(left.message == right.message);
    RC_ASSERT(left.verdict == right.verdict);
    RC_ASSERT(left.cls == right.cls);
    RC_ASSERT(left.reason == right.reason);
    RC_ASSERT(left.claim == right.claim);
    RC_ASSERT(left.rewrite.partition == right.rewrite.partition);
    RC_ASSERT(left.rewrite.site_factor == right.rewrite.site_factor);
    RC_ASSERT(left.rewrite.array_limit == right.rewrite.array_limit);
}

}  // namespace

TEST_CASE("an unrelated contract and its claims change no decision") {
    CHECK(rc::check([] {
        const auto world = any_world(LendLimits::none);
        const auto policy = world.policy();
        auto ledger = world.ledger;
        const auto claims = *rc::gen::inRange<std::uint64_t>(0, 5);
        for (std::uint64_t number = 1; number <= claims; ++number)
            ledger.add(number, {"lab0/gpu", vision1, JobClass::guaranteed, {{"a100", 1}}});

        auto wider = world;
        Gpus left = 16;  // R10
        for (const auto& one : world.contracts) left -= one.contract->capacity.at("a100").guaranteed;
        wider.contracts.push_back(in_force(contract_for("stranger", *rc::gen::inRange<Gpus>(0, left + 1)), {outsider}));
        auto busier = ledger;
        busier.add(99, {"stranger/gpu", outsider, *rc::gen::element(JobClass::guaranteed, JobClass::borrowed),
                        {{"a100", *rc::gen::inRange<Gpus>(1, 17)}}});

        const auto request = any_request(policy);
        assert_same(*decide(policy, ledger, request, noon), *decide(wider.policy(), busier, request, noon));
    }));
}

TEST_CASE("replaying the journal gives the ledger, however often a snapshot came between") {
    CHECK(rc::check([] {
        const auto model = any_history(40);
        const auto& journal = model.journal();
        Ledger replayed;
        replayed.rebase(std::make_shared<LedgerBase>(model.ledger().base()));
        for (int round = 0; round < 2; ++round)
            for (std::size_t index = 0; index < journal.size(); ++index)
                apply_to_ledger(replayed, index + 1, journal[index]);
        for (const auto& one : model.policy().contracts()) {
            const auto &left = replayed.of(one.contract->key()), &right = model.ledger().of(one.contract->key());
            RC_ASSERT(left.guaranteed == right.guaranteed);
            RC_ASSERT(left.borrowed == right.borrowed);
            RC_ASSERT(left.by_member == right.by_member);
            RC_ASSERT(left.queued_jobs == right.queued_jobs);
        }
        for (std::size_t number = 1; number <= journal.size(); ++number)
            RC_ASSERT(replayed.is_queued(number) == model.ledger().is_queued(number));
    }));
}

TEST_CASE("no request, no claim") {
    CHECK(rc::check([] {
        auto model = any_history(20);
        auto request = any_request(model.policy());
        request.gpus.tres_per_job.reset();
        const auto decision = model.submit(request);
        RC_ASSERT(decision.claim.empty());
        RC_ASSERT(decision.cls == JobClass::borrowed);
    }));
}

TEST_CASE("every answer is one line that says what it is, whatever bytes are asked with") {
    CHECK(rc::check([](const std::string& bytes) {
        auto model = any_history(10);
        auto request = any_request(model.policy());
        if (*rc::gen::arbitrary<bool>()) request.account = bytes;
        if (*rc::gen::arbitrary<bool>()) request.gpus.tres_per_node = bytes;
        if (*rc::gen::arbitrary<bool>()) request.partitions = {"gpu", bytes};
        request.work_dir = bytes;
        const auto decision = decide(model.policy(), model.ledger(), request, noon).value();
        RC_ASSERT(decision.message.starts_with("accord: "));
        RC_ASSERT(decision.message.find('\n') == std::string::npos);
        if (decision.verdict == Verdict::rejected) {
            RC_ASSERT(decision.message.ends_with(std::string(" [") + to_string(decision.reason) + "]"));
            RC_ASSERT(decision.claim.empty());
            RC_ASSERT(!decision.cls);
        } else {
            RC_ASSERT(decision.message.starts_with(std::string("accord: ") + to_string(*decision.cls) + ": "));
        }
    }));
}

TEST_CASE("the same question gets the same answer") {
    CHECK(rc::check([] {
        const auto model = any_history(20);
        const auto request = any_request(model.policy());
        assert_same(*decide(model.policy(), model.ledger(), request, noon),
                    *decide(model.policy(), model.ledger(), request, noon));
    }));
}
