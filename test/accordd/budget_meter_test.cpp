// SPDX-License-Identifier: GPL-2.0-or-later
// Metered use by contract and period: over lists, restarts, lost files and clocks that step.
#include "budget_meter.hpp"

#include <rapidcheck.h>

#include "catch.hpp"
#include "policy/world.hpp"
#include "temp_dir.hpp"

using namespace accord;
using namespace accord::test;

namespace {

constexpr std::int64_t may_1 = 1'777'593'600, june_1 = 1'780'272'000;
const std::string vision = "vision-lab/gpu";

Contract with_budget(const std::string& period = "month") {
    auto contract = contract_for("vision-lab", 8);
    contract.budget = Budget{100, period, OnExhausted::reject, 100};
    return contract;
}

JobView running(std::uint32_t job_id, std::int64_t start_s, Gpus gpus = 4) {
    auto job = listed(job_id, "gpu", gpus, JobState::running);
    job.start_s = start_s;
    job.submit_s = start_s;
    job.allocated = {{"a100", gpus}};
    job.nodes = {{0, 0}};
    return job;
}

JobView ended(JobView job, std::int64_t end_s) {
    job.state = JobState::ended;
    job.ending = Ending::completed;
    job.end_s = end_s;
    job.allocated.clear();
    return job;
}

/// What accordd does of it after each list, over a usage.db and what it has written of the ledger file.
class Site {
public:
    explicit Site(Contract contract = with_budget()) {
        set(std::move(contract));
        start();
    }
    void set(Contract contract) { world_.contracts = {in_force(std::move(contract), {vision1})}; }
    void start() {
        usage_.emplace(UsageDb::open(dir_ / "usage.db", UsageDb::Open::read_write).value());
        meter_.emplace(usage_->open_intervals().value(), metered_s_);
        budgets_.emplace(uses_, metered_s_);
    }
    void lose_usage() {
        usage_.reset();
        for (const auto* file : {"usage.db", "usage.db-wal", "usage.db-shm"}) std::filesystem::remove(dir_ / file);
    }
    void lose_ledger() { uses_.clear(), metered_s_ = 0; }

    /// GPU-seconds of vision-lab after the list.
    std::int64_t list(std::int64_t taken_s, const std::vector<JobView>& jobs) {
        const auto on_record = [&](std::uint32_t job_id, std::uint32_t restart) {
            const auto known = usage_->intervals(job_id).value();
            return std::any_of(known.begin(), known.end(), [&](const UsageInterval& interval) {
                return interval.restart == restart && interval.end_s;
            });
        };
        const auto changed = meter_->update(world_.config, world_.shape, jobs, taken_s, on_record);
        budgets_->add(changed);
        REQUIRE(usage_->put_intervals(changed));
        REQUIRE(budgets_->follow(world_.policy(), calendar_, *usage_, taken_s));
        uses_ = budgets_->uses(*meter_);
        metered_s_ = std::max(metered_s_, taken_s);
        return used();
    }
    [[nodiscard]] std::int64_t used() const {
        const auto use = uses_.find(vision);
        return use == uses_.end() ? -1 : use->second.gpu_s;
    }
    [[nodiscard]] Period period() const { return uses_.at(vision).period; }

private:
    TempDir dir_;
    World world_;
    Calendar calendar_{"UTC", noon};
    std::optional<UsageDb> usage_;
    std::optional<UsageMeter> meter_;
    std::optional<BudgetMeter> budgets_;
    BudgetUses uses_;  ///< the ledger file's
    std::int64_t metered_s_ = 0;
};

}  // namespace

TEST_CASE("use is what ended jobs held and what running ones hold so far, of both classes") {
    Site site;
    CHECK(site.list(noon, {}) == 0);
    CHECK(site.list(noon + 100, {running(1, noon)}) == 400);
    auto borrowed = running(2, noon + 50, 2);
    borrowed.partition = "gpu-lend";
    CHECK(site.list(noon + 200, {running(1, noon), borrowed}) == 800 + 300);
    CHECK(site.list(noon + 300, {ended(running(1, noon), noon + 250), borrowed}) == 1000 + 500);
    CHECK(site.list(noon + 400, {borrowed}) == 1000 + 700);
    CHECK(site.period() == Period{may_1, june_1});
    // One that no list has shown running.
    CHECK(site.list(noon + 500, {borrowed, ended(running(3, noon + 410), noon + 460)}) == 1000 + 900 + 200);
    CHECK(site.list(noon + 501, {borrowed, ended(running(3, noon + 410), noon + 460)}) == 1000 + 902 + 200);
}

TEST_CASE("jobs of other contracts and of contracts without a budget use none of it") {
    Site site;
    auto other = running(1, noon);
    other.account = "speech-lab";
    CHECK(site.list(noon + 100, {other}) == 0);
    site.set(contract_for("vision-lab", 8));
    CHECK(site.list(noon + 200, {running(2, noon)}) == -1);
}

TEST_CASE("accordd's restart neither loses nor doubles use, nor does what ended meanwhile") {
    Site site;
    CHECK(site.list(noon + 100, {running(1, noon), running(2, noon)}) == 800);
    site.start();
    CHECK(site.list(noon + 200, {running(1, noon), running(2, noon)}) == 1600);
    site.start();
    CHECK(site.list(noon + 400, {running(1, noon), ended(running(2, noon), noon + 250)}) == 1600 + 1000);
    site.start();
    CHECK(site.list(noon + 401, {running(1, noon), ended(running(2, noon), noon + 250)}) == 1604 + 1000);
}

TEST_CASE("without usage.db metering goes on from the ledger file, and without that from usage.db") {
    Site site;
    const auto first = running(1, noon), second = ended(running(2, noon), noon + 50);
    CHECK(site.list(noon + 100, {first, second}) == 400 + 200);
    site.lose_usage();
    site.start();
    CHECK(site.list(noon + 200, {first, second}) == 800 + 200);
    site.start();
    CHECK(site.list(noon + 300, {first}) == 1200 + 200);
    CHECK(site.list(noon + 400, {ended(first, noon + 350)}) == 1400 + 200);
    site.start();
    CHECK(site.list(noon + 500, {}) == 1400 + 200);

    Site other;
    CHECK(other.list(noon + 100, {first, second}) == 600);
    other.lose_ledger();
    other.start();
    CHECK(other.list(noon + 200, {first}) == 1000);
}

TEST_CASE("a job that runs over the end of a period uses its part of each") {
    Site site;
    const auto job = running(1, june_1 - 100);
    CHECK(site.list(june_1 - 10, {job}) == 360);
    CHECK(site.list(june_1 + 10, {job}) == 40);
    CHECK(site.period().start_s == june_1);
    CHECK(site.list(june_1 + 50, {ended(job, june_1 + 20)}) == 80);
    site.start();
    CHECK(site.list(june_1 + 60, {}) == 80);
}

TEST_CASE("a contract that changes in mid-period keeps what it has used") {
    Site site;
    CHECK(site.list(noon + 100, {running(1, noon)}) == 400);
    auto larger = with_budget();
    larger.budget->gpu_hours = 5;
    site.set(larger);
    CHECK(site.list(noon + 200, {running(1, noon)}) == 800);
    site.set(with_budget("year"));
    CHECK(site.list(noon + 300, {running(1, noon)}) == 1200);
    CHECK(site.period().start_s == 1'767'225'600);
    site.set(contract_for("vision-lab", 8));
    CHECK(site.list(noon + 400, {ended(running(1, noon), noon + 350)}) == -1);
    site.set(with_budget());
    CHECK(site.list(noon + 500, {}) == 1400);
}

TEST_CASE("what the ledger file says of a contract that accordd cannot read is kept until its period ends") {
    Site site;
    CHECK(site.list(noon + 100, {running(1, noon)}) == 400);
    site.set(contract_for("speech-lab", 8));  // as when contracts.db does not open at the start
    site.start();
    CHECK(site.list(noon + 200, {running(1, noon)}) == 400);
    site.set(with_budget());
    CHECK(site.list(noon + 300, {running(1, noon)}) == 1200);
}

TEST_CASE("a clock that steps back takes no use back, and counts no second twice") {
    Site site;
    CHECK(site.list(noon + 1000, {running(1, noon)}) == 4000);
    CHECK(site.list(noon + 500, {running(1, noon)}) == 4000);
    site.start();
    CHECK(site.list(noon + 600, {running(1, noon)}) == 4000);
    CHECK(site.list(noon + 1100, {running(1, noon)}) == 4400);
    CHECK(site.list(noon + 700, {running(1, noon)}) == 4400);
    CHECK(site.list(noon + 800, {ended(running(1, noon), noon + 750)}) == 4400);
    site.start();
    CHECK(site.list(noon + 900, {}) == 4400);
    // Back behind the beginning of the period, and forth again.
    CHECK(site.list(may_1 - 10, {}) == 0);
    CHECK(site.list(noon + 2000, {}) == 4400);
}

TEST_CASE("a completing job uses no more than until its end") {
    Site site;
    CHECK(site.list(noon + 100, {running(1, noon)}) == 400);
    auto completing = running(1, noon);
    completing.state = JobState::completing;
    CHECK(site.list(noon + 200, {completing}) == 400);
    CHECK(site.list(noon + 300, {ended(running(1, noon), noon + 150)}) == 600);
}

TEST_CASE("jobs may still use their claims for what is left of their time limits and of the period") {
    World world;
    world.contracts = {in_force(with_budget(), {vision1})};
    auto first = running(1, june_1 - 1000);
    first.time_limit_min = 10;
    auto endless = running(2, june_1 - 1000, 1);
    auto pending = listed(3, "gpu-lend", 2);
    pending.time_limit_min = 1;
    auto queued = pending;
    queued.job_id = 4;
    queued.hold = Hold::admin;
    auto over = first;
    over.job_id = 5;
    over.start_s = june_1 - 5000;
    const auto governed = governed_jobs(world.policy(), world.shape, {first, endless, pending, queued, over}, noon,
                                        [](const JobView&) { return std::optional<JobFacts>{}; });
    BudgetUses uses{{vision, {{may_1, june_1}, 0, 0}}};
    add_outstanding(uses, governed, june_1 - 900);
    CHECK(uses[vision].outstanding_gpu_s == 4 * 500 + 900 + 2 * 60 + 2 * 60);
}

TEST_CASE("use is the sum of what jobs held, whatever lists show and however often accordd starts anew") {
    CHECK(rc::check([] {
        struct Life {
            std::int64_t start_s, end_s;
            Gpus gpus;
        };
        std::vector<Life> lives;
        for (auto count = *rc::gen::inRange(1, 6); count > 0; --count) {
            const auto start_s = *rc::gen::inRange(june_1 - 300, june_1 + 300);
            lives.push_back({start_s, start_s + *rc::gen::inRange(1, 400), *rc::gen::inRange<Gpus>(1, 5)});
        }
        Site site;
        for (auto now_s = june_1 - 300; now_s < june_1 + 800; now_s += *rc::gen::inRange(1, 200)) {
            if (*rc::gen::weightedElement<bool>({{1, true}, {4, false}})) site.start();
            std::vector<JobView> jobs;
            const auto period = now_s < june_1 ? Period{may_1, june_1} : Period{june_1, june_1 + 30 * 86400};
            std::int64_t expected = 0;
            for (std::size_t i = 0; i < lives.size(); ++i) {
                const auto& [start_s, end_s, gpus] = lives[i];
                if (now_s < start_s) continue;
                const auto job = running(static_cast<std::uint32_t>(i) + 1, start_s, gpus);
                jobs.push_back(now_s < end_s ? job : ended(job, end_s));
                expected += gpus * period.overlap(start_s, std::min(now_s, end_s));
            }
            RC_ASSERT(site.list(now_s, jobs) == expected);
        }
    }));
}
