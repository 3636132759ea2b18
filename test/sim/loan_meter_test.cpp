// SPDX-License-Identifier: GPL-2.0-or-later
// GPU-seconds: allocated, borrowed, lent and of no owner.
#include "sim/loan_meter.hpp"

#include <rapidcheck.h>

#include <limits>

#include "catch.hpp"

using namespace accord;
using namespace accord::sim;

namespace {

constexpr auto no_limit = std::numeric_limits<Gpus>::max();

}  // namespace

TEST_CASE("use within a guarantee is allocated, beyond it borrowed, and lent by whom it is idle") {
    LoanMeter meter(16, 0);
    const auto vision = meter.add_party(), speech = meter.add_party();
    meter.set_guarantee(vision, 8, no_limit, 0);
    meter.set_guarantee(speech, 8, no_limit, 0);
    meter.use(vision, 12, 10);
    meter.use(speech, 4, 60);
    const auto totals = meter.totals(110);
    CHECK(totals[vision].allocated_gpu_s == 800);
    CHECK(totals[vision].borrowed_gpu_s == 400);
    CHECK(totals[vision].lent_gpu_s == 0);
    CHECK(totals[speech].allocated_gpu_s == 200);
    CHECK(totals[speech].lent_gpu_s == 400);
    CHECK(meter.unowned_gpu_s() == 0);
}

TEST_CASE("GPUs of no owner are used before idle guarantees are") {
    LoanMeter meter(16, 0);
    const auto vision = meter.add_party(), speech = meter.add_party();
    meter.set_guarantee(vision, 4, no_limit, 0);
    meter.set_guarantee(speech, 8, no_limit, 0);
    meter.use(vision, 10, 0);
    const auto totals = meter.totals(100);
    CHECK(totals[vision].borrowed_gpu_s == 600);
    CHECK(meter.unowned_gpu_s() == 400);
    CHECK(totals[speech].lent_gpu_s == 200);
}

TEST_CASE("several lend in proportion to what is idle, and none more than its limit") {
    LoanMeter meter(16, 0);
    const auto borrower = meter.add_party(), small = meter.add_party(), large = meter.add_party(), closed = meter.add_party();
    meter.set_guarantee(small, 2, no_limit, 0);
    meter.set_guarantee(large, 6, no_limit, 0);
    meter.set_guarantee(closed, 8, 0, 0);
    meter.use(borrower, 3, 0);
    const auto totals = meter.totals(10);
    // 7.5 and 22.5: the half goes to the first
    CHECK(totals[small].lent_gpu_s + totals[large].lent_gpu_s == 30);
    CHECK(totals[small].lent_gpu_s == 8);
    CHECK(totals[closed].lent_gpu_s == 0);
}

TEST_CASE("a guarantee that changes in the midst counts from that moment") {
    LoanMeter meter(8, 0);
    const auto vision = meter.add_party();
    meter.use(vision, 4, 0);
    meter.set_guarantee(vision, 4, no_limit, 30);
    const auto totals = meter.totals(100);
    CHECK(totals[vision].borrowed_gpu_s == 120);
    CHECK(totals[vision].allocated_gpu_s == 280);
    CHECK(meter.unowned_gpu_s() == 120);
}

TEST_CASE("whatever happens, what is borrowed is what is lent and what no one owns") {
    CHECK(rc::check([] {
        constexpr Gpus capacity = 64;
        LoanMeter meter(capacity, 0);
        std::vector<Gpus> used, guaranteed;
        const auto parties = *rc::gen::inRange<std::size_t>(1, 6);
        Gpus owned = 0, in_use = 0;
        for (std::size_t party = 0; party < parties; ++party) {
            (void)meter.add_party();
            guaranteed.push_back(*rc::gen::inRange<Gpus>(0, capacity - owned + 1));
            owned += guaranteed.back();
            used.push_back(0);
            meter.set_guarantee(party, guaranteed.back(), *rc::gen::arbitrary<bool>() ? no_limit : *rc::gen::inRange<Gpus>(0, 20), 0);
        }
        std::int64_t now_s = 0;
        const auto steps = *rc::gen::inRange(0, 40);
        for (int step = 0; step < steps; ++step) {
            now_s += *rc::gen::inRange(0, 1000);
            const auto party = *rc::gen::inRange<std::size_t>(0, parties);
            const auto to = *rc::gen::inRange<Gpus>(0, capacity - (in_use - used[party]) + 1);
            meter.use(party, to - used[party], now_s);
            in_use += to - used[party];
            used[party] = to;
        }
        std::int64_t borrowed = 0, lent = 0;
        for (const auto& total : meter.totals(now_s + 100)) {
            RC_ASSERT(total.lent_gpu_s >= 0);
            borrowed += total.borrowed_gpu_s;
            lent += total.lent_gpu_s;
        }
        RC_ASSERT(borrowed == lent + meter.unowned_gpu_s());
    }));
}
