// SPDX-License-Identifier: GPL-2.0-or-later
// What a budget changes in decisions and plans, and what it never does.
#include "catch.hpp"
#include "property/scenario.hpp"

using namespace accord;
using namespace accord::test;

namespace {

constexpr std::int64_t hour = 3600;
constexpr Period period{noon - 86400, noon + 86400};

/// lab0 has a budget of 100 GPU-hours and has used some of it; the ledger holds some claims.
struct Budgeted {
    World world = any_world();
    Budget budget;
    std::int64_t used_gpu_s = *rc::gen::inRange<std::int64_t>(0, 200 * hour);

    Budgeted() {
        budget.gpu_hours = 100;
        budget.on_exhausted = *rc::gen::element(OnExhausted::reject, OnExhausted::borrow_only);
        budget.overrun_percent = *rc::gen::element(100, 125);
        auto contract = *world.contracts[0].contract;
        contract.budget = budget;
        world.contracts[0] = in_force(std::move(contract), {vision1, speech1});
    }

    [[nodiscard]] Ledger ledger(std::int64_t used, std::uint64_t claims) const {
        auto base = std::make_shared<LedgerBase>();
        base->shape = world.shape;
        base->budgets["lab0/gpu"] = {period, used, 0};
        Ledger made;
        made.rebase(std::move(base));
        for (std::uint64_t number = 1; number <= claims; ++number)
            made.add(number, {"lab0/gpu", vision1, JobClass::guaranteed, {{"a100", 1}}});
        return made;
    }
};

bool same(const Decision& left, const Decision& right) {
    return left.verdict == right.verdict && left.cls == right.cls && left.reason == right.reason &&
           left.claim == right.claim && left.rewrite.partition == right.rewrite.partition;
}

}  // namespace

TEST_CASE("a budget that is used up lets nothing be guaranteed, and one that is not changes no decision", "[G07]") {
    CHECK(rc::check([] {
        const Budgeted given;
        const auto policy = given.world.policy();
        const auto claims = *rc::gen::inRange<std::uint64_t>(0, 5);
        const auto request = any_request(policy);
        const auto without = *decide(policy, given.ledger(0, claims), request, noon);
        const auto decision = *decide(policy, given.ledger(given.used_gpu_s, claims), request, noon);
        RC_LOG() << decision.message << "\n";
        const auto percent = given.used_gpu_s * 100;
        const bool used = percent >= 100 * 100 * hour && decision.contract == "lab0/gpu";
        const bool asks = !maxima(decision.gpus).empty();
        if (!used || !asks) {
            RC_ASSERT(same(decision, without));
            return;
        }
        RC_ASSERT(decision.cls != JobClass::guaranteed);
        if (decision.reason == Reason::gpus_per_user) return;
        const bool borrows = given.budget.on_exhausted == OnExhausted::borrow_only ||
                             (given.budget.overrun_percent > 100 && percent <= 125 * 100 * hour);
        RC_ASSERT(borrows == (decision.reason != Reason::budget_exhausted || decision.verdict == Verdict::admitted));
        if (!borrows) RC_ASSERT(decision.verdict == Verdict::rejected);
        // It never turns a job away that would have been let in, but by what on_exhausted says.
        if (borrows && without.verdict != Verdict::rejected) RC_ASSERT(decision.verdict != Verdict::rejected);
        RC_ASSERT(same(*decide(policy, given.ledger(given.used_gpu_s, claims), request, period.end_s), without));
    }));
}

TEST_CASE("a plan promotes and releases nothing to guaranteed for a budget that is used up, and the engine agrees") {
    CHECK(rc::check([] {
        const Budgeted given;
        const auto policy = given.world.policy();
        const auto ledger = given.ledger(given.used_gpu_s, 0);
        std::vector<JobView> jobs;
        const auto count = *rc::gen::inRange<std::uint32_t>(1, 8);
        for (std::uint32_t job_id = 1; job_id <= count; ++job_id) {
            auto job = listed(job_id, "gpu-lend", *rc::gen::inRange<Gpus>(0, 5));
            job.account = *rc::gen::element<std::string>("lab0", "lab0", "lab1");
            job.hold = *rc::gen::element(Hold::none, Hold::admin);
            jobs.push_back(job);
        }
        const auto governed = governed_jobs(policy, given.world.shape, jobs, noon,
                                            [](const JobView&) { return std::optional<JobFacts>{}; });
        const auto limit = standing_of(*policy.contracts()[0].contract, ledger.base().budgets, noon).limit;
        for (const auto& action :
             plan(policy, given.world.shape, governed, claims_of(governed), ledger.base().budgets, noon)) {
            if (action.contract != "lab0/gpu" || action.gpus.empty() || limit == BudgetLimit::none) continue;
            RC_ASSERT(action.to != JobClass::guaranteed);
            if (limit == BudgetLimit::reject) RC_ASSERT(action.kind != ActionKind::release);
        }
    }));
}
