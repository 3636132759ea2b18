// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshot and tail, and what a decision on record means for them.
#include "policy/ledger.hpp"

#include "catch.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

const std::string vision = "vision-lab/gpu";

Claim claim(Gpus gpus, JobClass cls = JobClass::guaranteed) { return {vision, vision1, cls, {{"a100", gpus}}}; }

std::shared_ptr<LedgerBase> base_with(Gpus guaranteed, std::uint64_t resolved_through) {
    auto base = std::make_shared<LedgerBase>();
    base->resolved_through = resolved_through;
    add_claim(base->contracts[vision], claim(guaranteed));
    return base;
}

Gpus guaranteed(const Ledger& ledger) { return amount_of(ledger.of(vision).guaranteed, "a100"); }

Decision admitted(JobClass cls, Gpus gpus) {
    Decision decision;
    decision.verdict = cls == JobClass::queued ? Verdict::queued : Verdict::admitted;
    decision.cls = cls;
    decision.uid = vision1;
    decision.contract = vision;
    if (gpus != 0) decision.claim = {{"a100", gpus}};
    return decision;
}

Decision modification(JobClass cls, Gpus gpus, std::uint64_t job_decision) {
    auto decision = admitted(cls, gpus);
    decision.kind = DecisionKind::modification;
    decision.job_decision = DecisionId{0, job_decision};
    return decision;
}

}  // namespace

TEST_CASE("the tail counts on top of the snapshot") {
    Ledger ledger;
    CHECK(guaranteed(ledger) == 0);
    ledger.rebase(base_with(4, 10));
    ledger.add(11, claim(2));
    ledger.add(12, claim(1, JobClass::borrowed));
    CHECK(guaranteed(ledger) == 6);
    CHECK(amount_of(ledger.of(vision).borrowed, "a100") == 1);
    CHECK(amount_of(ledger.of(vision).by_member.at(vision1), "a100") == 7);
    CHECK(ledger.of("speech/gpu").guaranteed.empty());
}

TEST_CASE("a decision counts once, whoever counts it") {
    Ledger ledger;
    ledger.rebase(base_with(4, 10));
    ledger.add(9, claim(2));
    ledger.add(11, claim(2));
    ledger.add(11, claim(2));
    CHECK(guaranteed(ledger) == 6);

    auto newer = base_with(6, 10);
    newer->counted = {11};
    ledger.add(12, claim(3));
    ledger.rebase(newer);
    CHECK(guaranteed(ledger) == 9);
    CHECK(ledger.tail_size() == 1);
    ledger.rebase(base_with(9, 12));
    CHECK(guaranteed(ledger) == 9);
    CHECK(ledger.tail_size() == 0);
}

TEST_CASE("a decision that came to nothing is counted no more once a snapshot accounts for it") {
    Ledger ledger;
    ledger.add(1, claim(8));
    CHECK(guaranteed(ledger) == 8);
    ledger.rebase(base_with(0, 1));
    CHECK(guaranteed(ledger) == 0);
}

TEST_CASE("a submission's class says what it claims") {
    Ledger ledger;
    apply_to_ledger(ledger, 1, admitted(JobClass::guaranteed, 4));
    apply_to_ledger(ledger, 2, admitted(JobClass::borrowed, 2));
    apply_to_ledger(ledger, 3, admitted(JobClass::queued, 0));
    apply_to_ledger(ledger, 4, admitted(JobClass::borrowed, 0));
    Decision rejected;
    rejected.contract = vision;
    apply_to_ledger(ledger, 5, rejected);
    CHECK(guaranteed(ledger) == 4);
    CHECK(amount_of(ledger.of(vision).borrowed, "a100") == 2);
    CHECK(ledger.of(vision).queued_jobs == 1);
    CHECK(ledger.is_queued(3));
    CHECK_FALSE(ledger.is_queued(2));
    CHECK(ledger.tail_size() == 3);
}

TEST_CASE("an exempt job counts for its account, with or without a contract") {
    Ledger ledger;
    auto decision = admitted(JobClass::exempt, 2);
    decision.contract.clear();
    decision.account = "vision-lab";
    decision.partition = "gpu";
    apply_to_ledger(ledger, 1, decision);
    CHECK(guaranteed(ledger) == 2);
}

TEST_CASE("a promotion claims on top until the next snapshot") {
    Ledger ledger;
    apply_to_ledger(ledger, 1, admitted(JobClass::borrowed, 2));
    apply_to_ledger(ledger, 2, modification(JobClass::guaranteed, 2, 1));
    CHECK(guaranteed(ledger) == 2);
    CHECK(amount_of(ledger.of(vision).borrowed, "a100") == 2);
    ledger.rebase(base_with(2, 2));
    CHECK(guaranteed(ledger) == 2);
    CHECK(ledger.of(vision).borrowed.empty());
}

TEST_CASE("a released job is queued no more, even while the snapshot still says so") {
    Ledger ledger;
    auto base = base_with(0, 1);
    base->queued = {1};
    ledger.rebase(base);
    CHECK(ledger.is_queued(1));
    apply_to_ledger(ledger, 2, modification(JobClass::borrowed, 2, 1));
    CHECK_FALSE(ledger.is_queued(1));

    auto taken_before = base_with(0, 1);
    taken_before->queued = {1};
    ledger.rebase(taken_before);
    CHECK_FALSE(ledger.is_queued(1));
    ledger.rebase(base_with(2, 2));
    CHECK_FALSE(ledger.is_queued(1));
}

TEST_CASE("a task of a queued array that is released leaves the rest of it queued") {
    Ledger ledger;
    apply_to_ledger(ledger, 1, admitted(JobClass::queued, 0));
    auto released = modification(JobClass::borrowed, 2, 1);
    released.job_id = 19;
    apply_to_ledger(ledger, 2, released);
    CHECK(ledger.is_queued(1, 17));
    CHECK_FALSE(ledger.is_queued(1, 19));
}

TEST_CASE("a released task of an array is not queued, although the snapshot has others of it that are") {
    Ledger ledger;
    auto base = base_with(0, 1);
    base->queued = {1};
    base->released = {{1, {19}}};
    ledger.rebase(base);
    CHECK(ledger.is_queued(1));
    CHECK(ledger.is_queued(1, 17));
    CHECK_FALSE(ledger.is_queued(1, 19));
}

TEST_CASE("a kept wish to hold leaves a queued job queued") {
    Ledger ledger;
    apply_to_ledger(ledger, 1, admitted(JobClass::queued, 0));
    apply_to_ledger(ledger, 2, modification(JobClass::queued, 0, 1));
    CHECK(ledger.is_queued(1));
    CHECK(ledger.of(vision).queued_jobs == 1);
}

TEST_CASE("an array's throttle is the one on record last, in the snapshot or after it") {
    Ledger ledger;
    auto base = std::make_shared<LedgerBase>();
    base->resolved_through = 5;
    base->throttles = {{3, 2}};
    ledger.rebase(base);
    CHECK(ledger.throttle_of(3) == 2);
    CHECK_FALSE(ledger.throttle_of(4));

    Decision change;
    change.kind = DecisionKind::modification;
    change.verdict = Verdict::admitted;
    change.job_decision = DecisionId{0, 3};
    change.throttle = 4;
    apply_to_ledger(ledger, 5, change);
    CHECK(ledger.throttle_of(3) == 2);
    apply_to_ledger(ledger, 6, change);
    CHECK(ledger.throttle_of(3) == 4);
    change.verdict = Verdict::rejected;
    change.throttle = 9;
    apply_to_ledger(ledger, 7, change);
    CHECK(ledger.throttle_of(3) == 4);

    auto later = std::make_shared<LedgerBase>();
    later->resolved_through = 7;
    later->throttles = {{3, 4}};
    ledger.rebase(later);
    CHECK(ledger.throttle_of(3) == 4);
}

TEST_CASE("in observe mode a claim counts where the job runs, and nothing is queued") {
    Ledger ledger;
    auto borrowed = admitted(JobClass::borrowed, 4), queued = admitted(JobClass::queued, 0);
    borrowed.mode = queued.mode = Mode::observe;
    apply_to_ledger(ledger, 1, borrowed);
    apply_to_ledger(ledger, 2, queued);
    CHECK(guaranteed(ledger) == 4);
    CHECK_FALSE(ledger.is_queued(2));
    CHECK(ledger.of(vision).queued_jobs == 0);
}

TEST_CASE("headroom and excess are counted from the guarantee and are never negative") {
    const auto contract = contract_for("vision-lab", 8);
    ContractClaims claims;
    CHECK(headroom_of(contract, claims, "a100") == 8);
    CHECK(excess_of(contract, claims, "a100") == 0);
    CHECK(excess_of(contract, claims, "a100", 10) == 2);
    claims.guaranteed = {{"a100", 10}};
    claims.borrowed = {{"a100", 3}, {"v100", 2}};
    CHECK(headroom_of(contract, claims, "a100") == 0);
    CHECK(excess_of(contract, claims, "a100") == 5);
    CHECK(headroom_of(contract, claims, "v100") == 0);
    CHECK(excess_of(contract, claims, "v100") == 2);
}
