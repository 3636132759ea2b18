// SPDX-License-Identifier: GPL-2.0-or-later
// R10 to R16 and R19 over histories in which contracts change, nodes come and go and users requeue what has ended.
#include "catch.hpp"
#include "policy/classify.hpp"
#include "policy/governed.hpp"
#include "property/scenario.hpp"

using namespace accord;
using namespace accord::test;

namespace {

Gpus a100(const GpuVector& gpus) { return amount_of(gpus, "a100"); }

std::string told(const std::vector<Action>& actions) {
    std::string text;
    for (const auto& action : actions)
        text += std::string(to_string(action.kind)) + " " + std::to_string(action.job_id) + " to " + to_string(action.to) + " ";
    return text;
}

/// Snapshots and passes until there is nothing to do. How many passes did something; more than `most` is a cycle.
int settle(Model& model, int most = 60) {
    for (int pass = 0; pass < most; ++pass) {
        model.take_snapshot();
        if (model.planned().empty()) return pass;
        any_pass(model);
    }
    RC_FAIL("no end of actions: " + told(model.planned()));
    return most;
}

bool in_force(const Model& model, const std::string& contract) {
    const auto* found = model.policy().contract(contract);
    return found != nullptr && found->active_at(model.now_s());
}

/// R14, of a job that has just been let in, or released, to borrow: by what is counted with it.
void assert_may_borrow(const Model& model, const Decision& decision) {
    if (decision.cls != JobClass::borrowed || decision.claim.empty() || decision.reason == Reason::not_eligible) return;
    const auto& contract = *model.policy().contract(decision.contract)->contract;
    const auto excess = excess_of(contract, model.ledger().of(decision.contract), "a100");
    if (excess == 0) return;
    const auto& limit = contract.capacity.at("a100").borrow_limit;
    if (limit) RC_ASSERT(excess <= *limit);
    const auto& loans = model.ledger().loans(model.policy(), model.world().config.pools[0], model.now_s());
    RC_ASSERT(!loans.of("a100")->overdrawn());
    RC_ASSERT(!loans.of("a100")->short_of_guarantees());
}

/// R14 counted anew, contract by contract.
LoanSums summed(const Model& model) {
    LoanSums sums;
    sums.available = a100(model.ledger().shape().partition("gpu")->available_capacity());
    for (const auto& one : model.policy().contracts()) {
        const auto& claims = model.ledger().of(one.contract->key());
        const auto claimed = a100(claims.guaranteed) + a100(claims.borrowed);
        const auto& capacity = one.contract->capacity.at("a100");
        const auto guaranteed = one.active_at(model.now_s()) ? capacity.guaranteed : 0;
        sums.excess += std::max<Gpus>(0, claimed - guaranteed);
        if (!one.active_at(model.now_s())) continue;
        sums.terms.limits += capacity.lend_limit ? 1 : 0;
        sums.terms.guaranteed += guaranteed;
        sums.terms.lendable += std::min(capacity.lend_limit.value_or(guaranteed), std::max<Gpus>(0, guaranteed - claimed));
    }
    return sums;
}

}  // namespace

TEST_CASE("a borrowed job is let in only within what its contract may borrow and what the pool lends") {
    CHECK(rc::check([] {
        auto model = any_history(40, Histories::wild);
        model.take_snapshot();
        assert_may_borrow(model, model.submit(any_request(model.policy())));
        model.take_snapshot();
        model.pass([&](const Action& action, const Decision& decision) {
            if (action.kind == ActionKind::release && decision.allows()) assert_may_borrow(model, decision);
        });
    }));
}

TEST_CASE("the sums of loans are those of all contracts, however they came about") {
    CHECK(rc::check([] {
        any_history(40, Histories::wild, [](const Model& model) {
            const auto& loans = *model.ledger().loans(model.policy(), model.world().config.pools[0], model.now_s()).of("a100");
            const auto sums = summed(model);
            RC_ASSERT(loans.limited() == sums.limited());
            RC_ASSERT(loans.short_of_guarantees() == sums.short_of_guarantees());
            if (!sums.limited()) return;
            RC_ASSERT(loans.excess == sums.excess);
            RC_ASSERT(loans.lendable() == sums.lendable());
        });
    }));
}

TEST_CASE("plans come to an end: nothing is promoted and demoted, or released and sent back, for ever") {
    CHECK(rc::check([] {
        auto model = any_history(40, Histories::wild);
        settle(model);
        model.take_snapshot();
        RC_ASSERT(told(model.planned()) == "");
    }));
}

TEST_CASE("what pends as guaranteed is within the guarantee once accordd has been there") {
    CHECK(rc::check([] {
        auto model = any_history(40, Histories::wild);
        settle(model);
        std::map<std::string, Gpus> holding, pending;
        for (const auto& one : model.governed())
            if (one.cls == JobClass::guaranteed)
                (one.job->holds_resources() ? holding : pending)[one.contract] += a100(one.claim);
        for (const auto& [contract, gpus] : pending) {
            RC_ASSERT(in_force(model, contract) || gpus == 0);
            const auto guaranteed = model.policy().contract(contract)->contract->capacity.at("a100").guaranteed;
            RC_ASSERT(gpus == 0 || gpus + holding[contract] <= guaranteed);
        }
    }));
}

TEST_CASE("of a contract that is not in force nothing pends but what is held, of a revoked one nothing", "[G03]") {
    CHECK(rc::check([] {
        auto model = any_history(40, Histories::wild);
        settle(model);
        for (const auto& one : model.governed()) {
            if (one.job->state != JobState::pending || in_force(model, one.contract)) continue;
            RC_ASSERT(one.cls == JobClass::queued);
            RC_ASSERT(one.job->is_kept());
            RC_ASSERT(model.policy().contract(one.contract)->state != ContractState::revoked);
        }
    }));
}

TEST_CASE("a ledger from the job list alone gives the same claims, and more only for what is not eligible yet") {
    CHECK(rc::check([] {
        auto model = any_history(40, Histories::wild);
        settle(model);
        const auto nothing_known = [](const JobView&) { return std::optional<JobFacts>{}; };
        const auto listed = governed_jobs(model.policy(), model.shape(), model.jobs(), model.now_s(), nothing_known);
        auto alone = claims_of(listed);
        for (const auto& contract : model.policy().contracts()) {
            const auto& key = contract.contract->key();
            const auto& counted = model.ledger().of(key);
            RC_ASSERT(a100(alone[key].guaranteed) == a100(counted.guaranteed));
            RC_ASSERT(a100(alone[key].borrowed) >= a100(counted.borrowed));
        }
    }));
}

TEST_CASE("no job of another contract is acted on otherwise because of a contract that has nothing to do with it") {
    CHECK(rc::check([] {
        auto model = any_history(40, Histories::wild);
        model.take_snapshot();
        // What one lends, and what is idle for those that go back behind others (R14), concerns all.
        const auto before = model.governed();
        const bool released = std::any_of(before.begin(), before.end(), [](const GovernedJob& one) {
            return one.facts && one.facts->released_s != 0;
        });
        if (released || summed(model).limited() || summed(model).short_of_guarantees()) return;
        const auto actions_of_others = [&](const std::vector<GovernedJob>& jobs, const Policy& policy) {
            std::vector<Action> actions;
            for (auto& action : plan(policy, model.shape(), jobs, claims_of(jobs), {}, model.now_s()))
                if (action.contract != "stranger/gpu") actions.push_back(action);
            return told(actions);
        };
        auto wider = model.world();
        wider.contracts.push_back(accord::test::in_force(contract_for("stranger", 0), {outsider}));
        auto jobs = model.jobs();
        const auto strangers = *rc::gen::inRange<std::uint32_t>(1, 4);
        for (std::uint32_t number = 1; number <= strangers; ++number) {
            auto job = listed(10'000 + number, "gpu-lend", *rc::gen::inRange<Gpus>(0, 5),
                              *rc::gen::element(JobState::pending, JobState::running));
            job.account = "stranger";
            job.hold = *rc::gen::element(Hold::none, Hold::admin);
            jobs.push_back(job);
        }
        const auto facts = [&](const JobView& job) -> std::optional<JobFacts> {
            for (const auto& one : before)
                if (one.job->job_id == job.job_id) return one.facts;
            return std::nullopt;
        };
        const auto policy = wider.policy();
        const auto with = governed_jobs(policy, model.shape(), jobs, model.now_s(), facts);
        RC_ASSERT(actions_of_others(with, policy) == actions_of_others(before, model.policy()));
    }));
}

namespace {

/// Everything as it was at first, all nodes there, and nobody asks for anything any more.
void come_to_rest(Model& model, const World& at_first) {
    for (std::size_t node = 0; node < 4; ++node) model.set_available(node, true);
    for (std::size_t index = 0; index < at_first.contracts.size(); ++index)
        model.change_contract(index, *at_first.contracts[index].contract, ContractState::active);
    for (std::size_t index = 0; index < model.jobs().size(); ++index)
        if (model.jobs()[index].state != JobState::ended) model.owner_changes(index, PriorityChange::release);
}

void start_all(Model& model) {
    for (std::size_t index = 0; index < model.jobs().size(); ++index) model.start(index);
}

void end_all(Model& model) {
    for (std::size_t index = 0; index < model.jobs().size(); ++index)
        if (model.jobs()[index].holds_resources()) model.end(index);
}

}  // namespace

TEST_CASE("every job that is let in runs in the end, where its contract can give what it asks for") {
    CHECK(rc::check([] {
        Model model(any_world());
        const auto at_first = model.world();
        const auto steps = *rc::gen::inRange(1, 40);
        for (int step = 0; step < steps; ++step) any_step(model, Histories::wild);
        come_to_rest(model, at_first);
        // Terms that were in force for a while may have let in what those of the beginning could never give.
        const auto hopeless = [&](const GovernedJob& one) {
            const auto& contract = *model.policy().contract(one.contract)->contract;
            const auto& pool = at_first.config.pools[0];
            const auto& loans = model.ledger().loans(model.policy(), pool, model.now_s());
            const bool borrows = may_borrow(contract, one.job->type, one.job->requeueable);
            const auto of_one = model.gpus_of_one(*one.job);
            const auto& most = contract.members.max_gpus_per_user;
            return of_one > most_ever(contract, pool, "a100", borrows, &loans) || (most && of_one > *most);
        };
        for (int round = 0; round < 300; ++round) {
            settle(model);
            start_all(model);
            end_all(model);
            model.wait(90'000);
            const auto jobs = model.governed();
            const bool all_done = std::all_of(jobs.begin(), jobs.end(), hopeless);
            if (all_done) return;
        }
        for (const auto& one : model.governed())
            if (!hopeless(one))
                RC_LOG() << "job " << one.job->job_id << " waits as " << to_string(one.cls) << " with "
                         << describe(one.would_claim) << " for " << one.at_once << " tasks, preempted "
                         << one.facts->preemptions << " times, held " << static_cast<int>(one.job->hold) << ", wish "
                         << one.facts->user_wants_hold << ", not eligible " << one.facts->not_eligible << "\n";
        RC_FAIL("a job waits for ever");
    }));
}

TEST_CASE("a job whose loans are always taken back is preempted a few times, then once a day at most", "[B08]") {
    for (const Gpus guaranteed : {0, 3}) {
        for (const std::int64_t max_preemptions : {1, 3}) {
            World world;
            auto borrower = contract_for("lab0", guaranteed);
            borrower.reclaim.max_preemptions = max_preemptions;
            world.contracts = {accord::test::in_force(borrower, {vision1}),
                               accord::test::in_force(contract_for("lab1", 12), {speech1})};
            Model model(world);
            model.submit(batch("gres:gpu:8", "lab0", vision1));
            constexpr int days = 3, rounds = days * 86'400 / 130;
            for (int round = 0; round < rounds; ++round) {
                model.take_snapshot();
                model.pass();
                start_all(model);
                model.submit(batch("gres:gpu:12", "lab1", speech1));
                start_all(model);
                model.end(model.jobs().size() - 1);
                model.wait(130);
            }
            const std::int64_t preemptions = model.jobs().front().restarts;
            CHECK(preemptions >= max_preemptions + 8);
            CHECK(preemptions <= max_preemptions + 11 + days);
        }
    }
}
