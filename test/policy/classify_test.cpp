// SPDX-License-Identifier: GPL-2.0-or-later
// R5, R6, R8, R14 and R16: classes, limits and order.
#include "policy/classify.hpp"

#include "catch.hpp"
#include "policy/world.hpp"

using namespace accord;
using namespace accord::test;

namespace {

struct Case {
    Gpus guaranteed = 8;
    std::optional<Gpus> borrow_limit;
    Gpus held = 0, borrowed = 0;  ///< claims so far
    Gpus ask = 0;
    bool may_borrow = true;
};

GpuIntervals exactly(const GpuVector& gpus) {
    GpuIntervals intervals;
    for (const auto& [type, count] : gpus) intervals[type] = {count, count};
    return intervals;
}

Classification classified(const Case& one) {
    const auto contract = in_force(contract_for("vision-lab", one.guaranteed, one.borrow_limit), {});
    const auto pool = pool_named("gpu", {{"a100", 16}});
    ContractClaims claims;
    if (one.held != 0) claims.guaranteed = {{"a100", one.held}};
    if (one.borrowed != 0) claims.borrowed = {{"a100", one.borrowed}};
    GpuVector ask;
    if (one.ask != 0) ask = {{"a100", one.ask}};
    const auto per_task = exactly(ask);
    return classify({&contract, &pool, &claims, ask, &per_task, one.may_borrow});
}

}  // namespace

TEST_CASE("the class follows from headroom, R6 and the borrow limit", "[B05]") {
    struct Row {
        const char* what;
        Case given;
        Verdict verdict;
        JobClass cls;
        Reason reason;
    };
    const auto admitted = Verdict::admitted, queued = Verdict::queued, rejected = Verdict::rejected;
    for (const auto& [what, given, verdict, cls, reason] : {
             Row{"fits", {.ask = 8}, admitted, JobClass::guaranteed, Reason::none},
             Row{"used + asked = guarantee is within", {.held = 4, .ask = 4}, admitted, JobClass::guaranteed, Reason::none},
             Row{"one beyond is borrowed", {.held = 4, .ask = 5}, admitted, JobClass::borrowed, Reason::headroom},
             Row{"an unset limit is none", {.held = 8, .borrowed = 99, .ask = 4}, admitted, JobClass::borrowed,
                 Reason::headroom},
             Row{"a limit of 0 queues", {.borrow_limit = 0, .held = 8, .ask = 4}, queued, JobClass::queued,
                 Reason::borrow_limit},
             Row{"up to the limit", {.borrow_limit = 4, .held = 8, .ask = 4}, admitted, JobClass::borrowed,
                 Reason::headroom},
             Row{"beyond the limit", {.borrow_limit = 4, .held = 8, .borrowed = 1, .ask = 4}, queued, JobClass::queued,
                 Reason::borrow_limit},
             Row{"borrowed claims fill the guarantee first", {.borrow_limit = 0, .held = 4, .ask = 4}, admitted,
                 JobClass::guaranteed, Reason::none},
             Row{"excess counts all claims", {.borrow_limit = 2, .held = 2, .borrowed = 1, .ask = 7}, admitted,
                 JobClass::borrowed, Reason::headroom},
             Row{"guaranteed whatever the excess", {.borrow_limit = 4, .borrowed = 12, .ask = 8}, admitted,
                 JobClass::guaranteed, Reason::none},
             Row{"not requeueable waits", {.held = 8, .ask = 4, .may_borrow = false}, queued, JobClass::queued,
                 Reason::not_requeueable},
             Row{"not requeueable beyond the guarantee", {.ask = 9, .may_borrow = false}, rejected, JobClass::queued,
                 Reason::impossible},
             Row{"no GPU is borrowed", {.held = 8, .ask = 0}, admitted, JobClass::borrowed, Reason::no_gpu},
             Row{"no GPU is borrowed whatever R6 says", {.borrow_limit = 0, .ask = 0, .may_borrow = false}, admitted,
                 JobClass::borrowed, Reason::no_gpu},
             Row{"more than the pool", {.ask = 17}, rejected, JobClass::queued, Reason::impossible},
             Row{"more than guarantee and limit", {.borrow_limit = 4, .ask = 13}, rejected, JobClass::queued,
                 Reason::impossible},
             Row{"all of guarantee and limit", {.borrow_limit = 4, .ask = 12}, admitted, JobClass::borrowed,
                 Reason::headroom},
             Row{"without a guarantee", {.guaranteed = 0, .ask = 1}, admitted, JobClass::borrowed, Reason::headroom},
         }) {
        INFO(what);
        const auto answer = classified(given);
        CHECK(answer.verdict == verdict);
        CHECK(answer.reason == reason);
        if (verdict != rejected) CHECK(answer.cls == cls);
    }
}

TEST_CASE("a job of two types is guaranteed only if both fit") {
    auto terms = contract_for("vision-lab", 8);
    terms.capacity["v100"] = {2, {}, 0};
    const auto contract = in_force(terms, {});
    const auto pool = pool_named("gpu", {{"a100", 16}, {"v100", 16}});
    const ContractClaims claims;
    const auto answer = [&](const GpuVector& ask) {
        const auto per_task = exactly(ask);
        return classify({&contract, &pool, &claims, ask, &per_task, true});
    };
    CHECK(answer({{"a100", 8}, {"v100", 2}}).cls == JobClass::guaranteed);
    CHECK(answer({{"a100", 9}, {"v100", 2}}).cls == JobClass::borrowed);
    CHECK(answer({{"a100", 9}, {"v100", 2}}).type == "a100");
    CHECK(answer({{"a100", 8}, {"v100", 3}}).reason == Reason::impossible);
}

TEST_CASE("an interactive job borrows where its contract lets it, others where they can be requeued", "[B06]") {
    auto contract = contract_for("vision-lab", 8);
    CHECK(may_borrow(contract, WorkloadType::batch, true));
    CHECK_FALSE(may_borrow(contract, WorkloadType::batch, false));
    CHECK_FALSE(may_borrow(contract, WorkloadType::array, false));
    CHECK(may_borrow(contract, WorkloadType::interactive, false));
    contract.reclaim.interactive_may_borrow = false;
    CHECK_FALSE(may_borrow(contract, WorkloadType::interactive, true));
}

TEST_CASE("the site factor falls with the excess of borrowed jobs") {
    Config config;
    config.priority_classes = {{"high", 1000}};
    auto contract = contract_for("vision-lab", 8);
    const GpuVector four{{"a100", 4}};
    const ContractClaims none, full{{{"a100", 8}}, {}, {}, 0};
    CHECK(site_factor(config, contract, JobClass::guaranteed, none, four) == 100'000);
    CHECK(site_factor(config, contract, JobClass::borrowed, none, four) == 100'000);
    CHECK(site_factor(config, contract, JobClass::borrowed, full, four) == 99'500);
    contract.share = 2;
    CHECK(site_factor(config, contract, JobClass::borrowed, full, four) == 99'750);
    contract.priority_class = "high";
    CHECK(site_factor(config, contract, JobClass::borrowed, full, four) == 100'750);
    CHECK(site_factor(config, contract, JobClass::guaranteed, full, four) == 101'000);
    CHECK(site_factor(config, contract, JobClass::borrowed, full, {{"a100", gpus_max}}) == 1'001);
    CHECK(site_factor(config, contract_for("speech", 0), JobClass::borrowed, none, four) == 1);
}

TEST_CASE("the most tasks of an array are what guarantee and borrow limit give, within the pool") {
    const auto pool = pool_named("gpu", {{"a100", 16}});
    const auto two = exactly({{"a100", 2}});
    CHECK(most_tasks(contract_for("vision-lab", 8, 4), pool, two, true) == 6);
    CHECK(most_tasks(contract_for("vision-lab", 8, 4), pool, two, false) == 4);
    CHECK(most_tasks(contract_for("vision-lab", 8), pool, two, true) == 8);
    CHECK(most_tasks(contract_for("vision-lab", 8, 4), pool, {}, true) == gpus_max);
    CHECK(most_tasks(contract_for("vision-lab", 8, 4), pool, exactly({{"v100", 1}}), true) == 0);
}
