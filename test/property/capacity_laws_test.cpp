// SPDX-License-Identifier: GPL-2.0-or-later
// R11 and R14 over whatever happens, and the plans that must keep to them.
#include "catch.hpp"
#include "property/scenario.hpp"

using namespace accord;
using namespace accord::test;

namespace {

bool within_guarantee(const Contract& contract, const ContractClaims& claims) {
    for (const auto& [type, claimed] : claims.guaranteed)
        if (claimed > contract.capacity.at(type).guaranteed) return false;
    return true;
}

/// R11, in what the plugin counts and in what slurmctld really has.
void assert_guarantees_hold(const Model& model) {
    auto listed = claims_of(model.governed());
    for (const auto& one : model.policy().contracts()) {
        const auto& contract = *one.contract;
        RC_ASSERT(within_guarantee(contract, model.ledger().of(contract.key())));
        RC_ASSERT(within_guarantee(contract, listed[contract.key()]));
    }
}

bool covers(const GpuVector& counted, const GpuVector& real) {
    for (const auto& [type, gpus] : real)
        if (amount_of(counted, type) < gpus) return false;
    return true;
}

}  // namespace

TEST_CASE("guaranteed claims never exceed the guarantee, whatever happens") {
    CHECK(rc::check([] { any_history(40, Histories::steady, assert_guarantees_hold); }));
}

TEST_CASE("the ledger never counts less than what slurmctld has") {
    CHECK(rc::check([] {
        any_history(40, Histories::steady, [](const Model& model) {
            for (const auto& [key, real] : claims_of(model.governed())) {
                const auto& counted = model.ledger().of(key);
                RC_ASSERT(covers(counted.guaranteed, real.guaranteed));
                // R5: a job that waits unlimited in the lend partition counts from the first snapshot that shows it eligible
                const auto& capacity = model.policy().contract(key)->contract->capacity;
                if (capacity.at("a100").borrow_limit) RC_ASSERT(covers(counted.borrowed, real.borrowed));
            }
        });
    }));
}

TEST_CASE("a borrowed job is admitted only within the borrow limit") {
    CHECK(rc::check([] {
        auto model = any_history(40);
        const auto decision = model.submit(any_request(model.policy()));
        if (decision.cls != JobClass::borrowed || decision.claim.empty()) return;
        const auto& contract = *model.policy().contract(decision.contract)->contract;
        const auto limit = contract.capacity.at("a100").borrow_limit;
        if (limit) RC_ASSERT(excess_of(contract, model.ledger().of(decision.contract), "a100") <= *limit);
    }));
}

TEST_CASE("a plan made on a fresh snapshot is overtaken by nothing but its own promotions") {
    CHECK(rc::check([] {
        auto model = any_history(40);
        model.take_snapshot();
        const auto actions = model.planned();
        const auto decisions = model.pass();
        RC_ASSERT(actions.size() == decisions.size());
        bool promoted = false;
        for (std::size_t index = 0; index < actions.size(); ++index) {
            RC_LOG() << "accordd: " << decisions[index].message << "\n";
            if (decisions[index].verdict == Verdict::rejected) {
                RC_ASSERT(decisions[index].reason == Reason::stale);
                RC_ASSERT(promoted);
                // A member's claims, too, count twice until the next snapshot.
                const auto& members = model.policy().contract(actions[index].contract)->contract->members;
                RC_ASSERT(actions[index].to == JobClass::borrowed || members.max_gpus_per_user);
            }
            promoted = promoted || actions[index].kind == ActionKind::promote;
        }
        assert_guarantees_hold(model);
    }));
}

TEST_CASE("an owner never frees a queued job") {
    CHECK(rc::check([] {
        auto model = any_history(40);
        std::vector<std::size_t> queued;
        for (const auto& one : model.governed())
            if (one.cls == JobClass::queued) queued.push_back(static_cast<std::size_t>(one.job - model.jobs().data()));
        for (const auto index : queued) {
            const auto decision = model.owner_changes(index, PriorityChange::release);
            RC_ASSERT(decision.has_value());
            RC_ASSERT(decision->reason == Reason::queued);
            RC_ASSERT(model.jobs()[index].hold != Hold::none);
        }
    }));
}

TEST_CASE("an array claims what may run at once, and never less than what runs") {
    CHECK(rc::check([] {
        World world;
        world.contracts = {in_force(contract_for("vision-lab", 16), {vision1})};
        const auto limit = *rc::gen::inRange<std::int64_t>(1, 6);
        std::vector<JobView> jobs;
        std::map<std::string, Gpus> running, alive;
        const auto tasks = *rc::gen::inRange<std::uint32_t>(0, 8);
        for (std::uint32_t index = 0; index < tasks; ++index) {
            auto task = listed(11 + index, *rc::gen::element<std::string>("gpu", "gpu-lend"), 2,
                               *rc::gen::element(JobState::running, JobState::pending, JobState::ended));
            task.array_job_id = 10;
            task.array_task_id = index;
            task.array_limit = limit;
            if (task.state != JobState::ended) ++alive[task.partition];
            if (task.state == JobState::running) ++running[task.partition];
            jobs.push_back(std::move(task));
        }
        auto rest = listed(10, "gpu-lend", 2);
        rest.array_job_id = 10;
        rest.array = ArraySpec{"", *rc::gen::inRange<std::int64_t>(1, 9), limit};
        if (*rc::gen::arbitrary<bool>()) {
            alive["gpu-lend"] += rest.array->tasks;
            jobs.push_back(std::move(rest));
        }
        const auto nothing_known = [](const JobView&) { return std::optional<JobFacts>{}; };
        const auto claims = claims_of(governed_jobs(world.policy(), world.shape, jobs, noon, nothing_known))["vision-lab/gpu"];
        const auto claimed = [&](const std::string& partition) {
            return 2 * std::max(running[partition], std::min(limit, alive[partition]));
        };
        RC_ASSERT(amount_of(claims.borrowed, "a100") == claimed("gpu-lend"));
        RC_ASSERT(amount_of(claims.guaranteed, "a100") == claimed("gpu"));
    }));
}
