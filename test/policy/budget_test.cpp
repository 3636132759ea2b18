// SPDX-License-Identifier: GPL-2.0-or-later
// R5 of budgets: what metered use keeps a contract's jobs from, and what it does not.
#include "policy/budget.hpp"

#include "catch.hpp"
#include "policy/modify.hpp"
#include "policy/plan.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

constexpr std::int64_t hour = 3600;
constexpr std::uint32_t slurm_user = 64030;
const std::string vision = "vision-lab/gpu";
/// May of 2026.
constexpr Period month{1'780'272'000 - 31 * 86400, 1'780'272'000};

Contract with_budget(std::int64_t gpu_hours, OnExhausted on_exhausted, std::int64_t overrun_percent = 100,
                     std::optional<Gpus> borrow_limit = {}) {
    auto contract = contract_for("vision-lab", 8, borrow_limit);
    contract.budget = Budget{gpu_hours, "month", on_exhausted, overrun_percent};
    return contract;
}

/// vision-lab with 8 guaranteed, which has used so much of its budget.
World world_with(Contract contract, std::int64_t used_gpu_s, std::int64_t outstanding_gpu_s = 0) {
    World world;
    world.contracts = {in_force(std::move(contract), {vision1})};
    auto base = std::make_shared<LedgerBase>();
    base->shape = world.shape;
    base->budgets[vision] = {month, used_gpu_s, outstanding_gpu_s};
    world.ledger.rebase(std::move(base));
    return world;
}

BudgetLimit limit_at(const Contract& contract, std::int64_t used_gpu_s, std::int64_t now_s = noon) {
    return standing_of(contract, {{vision, {month, used_gpu_s, 0}}}, now_s).limit;
}

}  // namespace

TEST_CASE("a budget is reached when all of it is used, and an overrun ends above its percentage", "[G07]") {
    struct Row {
        OnExhausted on_exhausted;
        std::int64_t overrun_percent, used_gpu_s;
        BudgetLimit limit;
    };
    const auto reject = OnExhausted::reject, borrow_only = OnExhausted::borrow_only;
    for (const auto& [on_exhausted, overrun_percent, used_gpu_s, limit] : {
             Row{reject, 100, 0, BudgetLimit::none},
             Row{reject, 100, 100 * hour - 1, BudgetLimit::none},
             Row{reject, 100, 100 * hour, BudgetLimit::reject},
             Row{reject, 125, 100 * hour - 1, BudgetLimit::none},
             Row{reject, 125, 100 * hour, BudgetLimit::borrow_only},
             Row{reject, 125, 125 * hour, BudgetLimit::borrow_only},
             Row{reject, 125, 125 * hour + 1, BudgetLimit::reject},
             Row{borrow_only, 100, 100 * hour - 1, BudgetLimit::none},
             Row{borrow_only, 100, 100 * hour, BudgetLimit::borrow_only},
             Row{borrow_only, 125, 1000 * hour, BudgetLimit::borrow_only},
         }) {
        INFO(to_string(on_exhausted) << " " << overrun_percent << " " << used_gpu_s);
        CHECK(limit_at(with_budget(100, on_exhausted, overrun_percent), used_gpu_s) == limit);
    }
    CHECK(limit_at(with_budget(1'000'000'000, reject, 1000), gpus_max) == BudgetLimit::reject);
    CHECK(limit_at(contract_for("vision-lab", 8), 100 * hour) == BudgetLimit::none);
}

TEST_CASE("what was used in a period counts until its end, and a clock before its start makes no difference") {
    const auto contract = with_budget(100, OnExhausted::reject);
    CHECK(limit_at(contract, 100 * hour, month.end_s - 1) == BudgetLimit::reject);
    CHECK(limit_at(contract, 100 * hour, month.end_s) == BudgetLimit::none);
    CHECK(limit_at(contract, 100 * hour, month.start_s - 1) == BudgetLimit::reject);
    const auto after = standing_of(contract, {{vision, {month, 100 * hour, 5}}}, month.end_s);
    CHECK(after.used_gpu_s == 0);
    CHECK(after.outstanding_gpu_s == 0);
    CHECK_FALSE(after.period_end_s);
    CHECK(standing_of(contract, {}, noon).budget_gpu_s == 100 * hour);
}

TEST_CASE("GPU-hours are told to a tenth, rounded down") {
    CHECK(gpu_hours_text(0) == "0");
    CHECK(gpu_hours_text(359) == "0");
    CHECK(gpu_hours_text(360) == "0.1");
    CHECK(gpu_hours_text(hour - 1) == "0.9");
    CHECK(gpu_hours_text(20'000 * hour) == "20000");
}

TEST_CASE("a job with GPUs is rejected when the budget says so, with use, budget, end and whom to ask", "[G07]") {
    const auto world = world_with(with_budget(100, OnExhausted::reject), 100 * hour + 1800);
    const auto decision = world.ask(batch("gres:gpu:4")).value();
    CHECK(decision.verdict == Verdict::rejected);
    CHECK(decision.reason == Reason::budget_exhausted);
    CHECK(decision.message ==
          "accord: contract vision-lab/gpu: 100.5 of the 100 GPU-hours of its budget are used, and the next period begins "
          "at 2026-06-01T00:00:00Z: submit it again then, or ask vision-finance [budget_exhausted]");
    CHECK(world.ask(batch("gres:gpu:4"), month.end_s)->cls == JobClass::guaranteed);
}

TEST_CASE("between its budget and its overrun a contract borrows, above it is rejected", "[G07]") {
    const auto contract = with_budget(100, OnExhausted::reject, 125);
    CHECK(world_with(contract, 100 * hour - 1).ask(batch("gres:gpu:4"))->cls == JobClass::guaranteed);
    for (const auto used : {100 * hour, 125 * hour}) {
        const auto decision = world_with(contract, used).ask(batch("gres:gpu:4")).value();
        CHECK(decision.verdict == Verdict::admitted);
        CHECK(decision.cls == JobClass::borrowed);
        CHECK(decision.reason == Reason::budget_exhausted);
        CHECK(decision.rewrite.partition == "gpu-lend");
    }
    CHECK(world_with(contract, 100 * hour).ask(batch("gres:gpu:4"))->message ==
          "accord: borrowed: 4 a100 for vision-lab/gpu (100 of the 100 GPU-hours of its budget are used, and the next "
          "period begins at 2026-06-01T00:00:00Z); may be preempted and requeued");
    CHECK(world_with(contract, 125 * hour + 1).ask(batch("gres:gpu:4"))->reason == Reason::budget_exhausted);
    CHECK(world_with(contract, 125 * hour + 1).ask(batch("gres:gpu:4"))->verdict == Verdict::rejected);
}

TEST_CASE("a job that may not borrow while the budget is used waits for guaranteed GPUs") {
    const auto world = world_with(with_budget(100, OnExhausted::borrow_only), 100 * hour);
    auto request = batch("gres:gpu:4");
    request.requeueable = false;
    const auto decision = world.ask(request).value();
    CHECK(decision.verdict == Verdict::queued);
    CHECK(decision.reason == Reason::not_requeueable);
    CHECK(decision.message ==
          "accord: queued: 4 a100 for vision-lab/gpu (100 of the 100 GPU-hours of its budget are used, and the next "
          "period begins at 2026-06-01T00:00:00Z); waits for guaranteed GPUs, since it could not be requeued if it were "
          "preempted");
}

TEST_CASE("the borrow limit holds while the budget is used, too") {
    auto world = world_with(with_budget(100, OnExhausted::borrow_only, 100, 4), 100 * hour);
    CHECK(world.submit(batch("gres:gpu:8")).cls == JobClass::borrowed);  // no excess yet
    CHECK(world.submit(batch("gres:gpu:4")).cls == JobClass::borrowed);
    const auto decision = world.ask(batch("gres:gpu:1")).value();
    CHECK(decision.reason == Reason::borrow_limit);
    CHECK(decision.message ==
          "accord: queued: 1 a100 for vision-lab/gpu (100 of the 100 GPU-hours of its budget are used, and the next "
          "period begins at 2026-06-01T00:00:00Z); waits for that or for room within the borrow limit (4 of 4 in use)");
    CHECK(world.ask(batch("gres:gpu:13"))->reason == Reason::impossible);
}

TEST_CASE("a job without GPUs uses none of the budget and is not stopped by it") {
    for (const auto on_exhausted : {OnExhausted::reject, OnExhausted::borrow_only}) {
        const auto decision = world_with(with_budget(100, on_exhausted), 200 * hour).ask(batch("")).value();
        CHECK(decision.verdict == Verdict::admitted);
        CHECK(decision.reason == Reason::no_gpu);
        CHECK(decision.message.find("budget") == std::string::npos);
    }
}

TEST_CASE("what jobs may still use only warns") {
    const auto contract = with_budget(100, OnExhausted::reject);
    auto request = batch("gres:gpu:4");
    request.time_limit_min = 5 * 60;
    const auto quiet = world_with(contract, 80 * hour).ask(request).value();
    CHECK(quiet.cls == JobClass::guaranteed);
    CHECK(quiet.message == "accord: guaranteed: 4 a100 of vision-lab/gpu (4 of 8 in use)");
    CHECK(world_with(contract, 80 * hour + 1).ask(request)->message ==
          quiet.message + "; may pass the budget: 80 of 100 GPU-hours used, and its jobs may use 20 more");
    const auto with_others = world_with(contract, 50 * hour, 31 * hour).ask(request).value();
    CHECK(with_others.cls == JobClass::guaranteed);
    CHECK(with_others.message ==
          quiet.message + "; may pass the budget: 50 of 100 GPU-hours used, and its jobs may use 51 more");
}

TEST_CASE("a job may use no more of a period than is left of it") {
    const auto world = world_with(with_budget(100, OnExhausted::reject), 90 * hour);
    auto request = batch("gres:gpu:4");
    request.time_limit_min = 1'000'000;
    CHECK(world.ask(request, month.end_s - 2 * hour)->message.find("budget") == std::string::npos);
    CHECK(world.ask(request, month.end_s - 3 * hour)->message.ends_with("its jobs may use 12 more"));
    request.time_limit_min.reset();
    CHECK(world.ask(request, month.end_s - 3 * hour)->message.ends_with("its jobs may use 12 more"));
}

TEST_CASE("an action is stale when the budget was used up meanwhile") {
    const auto ask = [](const World& world, const JobView& job, const char* to) {
        const Modification change{job, "18", slurm_user, true,
                                  {.admin_comment = std::string("accord:v1 action=5 to=") + to}};
        return decide_modification(world.policy(), world.ledger, change, noon).value();
    };
    const auto borrowed = listed(18, "gpu-lend", 4);
    auto held = borrowed;
    held.hold = Hold::admin;
    const auto in_time = world_with(with_budget(100, OnExhausted::borrow_only), 99 * hour);
    CHECK(ask(in_time, borrowed, "guaranteed").verdict == Verdict::admitted);

    const auto borrows = world_with(with_budget(100, OnExhausted::borrow_only), 100 * hour);
    CHECK(ask(borrows, borrowed, "guaranteed").message ==
          "accord: job 18: action 5 to guaranteed is overtaken: its contract's budget is used up [stale]");
    const auto released = ask(borrows, held, "borrowed");
    CHECK(released.verdict == Verdict::admitted);
    CHECK(released.reason == Reason::budget_exhausted);

    const auto rejects = world_with(with_budget(100, OnExhausted::reject), 100 * hour);
    CHECK(ask(rejects, held, "borrowed").reason == Reason::stale);
    CHECK(ask(rejects, held, "queued").verdict == Verdict::admitted);
    held.gpus = {};
    CHECK(ask(rejects, held, "borrowed").verdict == Verdict::admitted);
}

TEST_CASE("a job that its user holds since it was admitted is not released while the budget keeps new ones from starting") {
    const auto release = [](const World& world, const std::string& partition, Gpus gpus) {
        auto job = listed(17, partition, gpus);
        job.hold = Hold::user;
        job.admin_comment = "accord:v1 decision=0-1";
        Modification modification{job, "17", vision1, false, {}};
        modification.change.priority = PriorityChange::release;
        return decide_modification(world.policy(), world.ledger, modification, noon);
    };
    const auto rejects = world_with(with_budget(100, OnExhausted::reject), 100 * hour);
    CHECK(release(rejects, "gpu-lend", 2)->message ==
          "accord: job 17 is borrowed and stays held: 100 of the 100 GPU-hours of its budget are used, and the next period "
          "begins at 2026-06-01T00:00:00Z: release it then, or ask vision-finance [budget_exhausted]");
    CHECK(release(rejects, "gpu", 2)->reason == Reason::budget_exhausted);
    CHECK_FALSE(release(rejects, "gpu-lend", 0));
    const auto borrows = world_with(with_budget(100, OnExhausted::borrow_only), 100 * hour);
    CHECK(release(borrows, "gpu", 2)->message ==
          "accord: job 17 is guaranteed and stays held: 100 of the 100 GPU-hours of its budget are used, and the next period "
          "begins at 2026-06-01T00:00:00Z: release it then, or cancel and submit again, to borrow, or ask vision-finance "
          "[budget_exhausted]");
    CHECK_FALSE(release(borrows, "gpu-lend", 2));
    CHECK_FALSE(release(world_with(with_budget(100, OnExhausted::reject), 100 * hour - 1), "gpu", 2));
}

TEST_CASE("a plan makes nothing guaranteed while the budget is used, and releases to borrowed where it may") {
    auto released = listed(1, "gpu-lend", 4), promoted = listed(2, "gpu-lend", 4);
    released.hold = Hold::admin;
    const auto planned = [&](OnExhausted on_exhausted, std::int64_t used_gpu_s, std::int64_t now_s = noon) {
        const auto world = world_with(with_budget(100, on_exhausted), used_gpu_s);
        const auto policy = world.policy();
        const std::vector<JobView> jobs{released, promoted};
        const auto governed = governed_jobs(policy, world.shape, jobs, noon, [](const JobView& job) {
            return std::optional(JobFacts{{0, job.job_id}, 0,
                                          job.hold == Hold::none ? JobClass::borrowed : JobClass::queued, false, {}});
        });
        std::map<std::uint32_t, JobClass> to;
        for (const auto& action :
             plan(policy, world.shape, governed, claims_of(governed), world.ledger.base().budgets, now_s))
            to[action.job_id] = action.to;
        return to;
    };
    using To = std::map<std::uint32_t, JobClass>;
    const To both{{1, JobClass::guaranteed}, {2, JobClass::guaranteed}};
    CHECK(planned(OnExhausted::borrow_only, 100 * hour - 1) == both);
    CHECK(planned(OnExhausted::borrow_only, 100 * hour) == To{{1, JobClass::borrowed}});
    CHECK(planned(OnExhausted::reject, 100 * hour).empty());
    CHECK(planned(OnExhausted::reject, 100 * hour, month.end_s) == both);
}
