// SPDX-License-Identifier: GPL-2.0-or-later
// What stretches of use come of successive job lists, and who gets the blame for a preemption.
#include "usage_meter.hpp"

#include "catch.hpp"

using namespace accord;

namespace {

Config one_pool() {
    Config config;
    PoolConfig pool;
    pool.partition = "gpu";
    pool.lend_partition = "gpu-lend";
    pool.gpus = {{"a100", 16}};
    config.pools.push_back(pool);
    return config;
}

JobView job(std::uint32_t id, const char* partition, JobState state, std::int64_t start_s) {
    JobView made;
    made.job_id = id;
    made.account = "vision-lab";
    made.partition = partition;
    made.state = state;
    made.submit_s = 100;
    made.start_s = start_s;
    made.gpus.tres_per_node = "gres:gpu:a100:4";
    made.gpus.min_nodes = made.gpus.max_nodes = 1;
    if (made.holds_resources()) made.allocated = {{"a100", 4}};
    made.nodes = {{0, 0}};
    return made;
}

JobView requeued(std::uint32_t id, std::int64_t at_s) {
    auto made = job(id, "gpu-lend", JobState::pending, 0);
    made.restarts = 1;
    made.submit_s = at_s;
    made.nodes.clear();
    return made;
}

JobView ended(JobView made, std::int64_t end_s, Ending ending) {
    made.state = JobState::ended;
    made.allocated.clear();
    made.end_s = end_s;
    made.ending = ending;
    return made;
}

class Meter {
public:
    std::vector<UsageInterval> list(std::int64_t taken_s, std::vector<JobView> jobs) {
        return meter_.update(config_, {}, jobs, taken_s, [&](auto, auto) { return on_record; });
    }
    bool on_record = false;

private:
    Config config_ = one_pool();
    UsageMeter meter_{{}};
};

}  // namespace

TEST_CASE("A running job opens a stretch once, in the class of its partition") {
    Meter meter;
    const auto opened = meter.list(200, {job(1, "gpu-lend", JobState::running, 190)});
    REQUIRE(opened.size() == 1);
    CHECK(opened[0].job_id == 1);
    CHECK(opened[0].contract == "vision-lab/gpu");
    CHECK(opened[0].cls == JobClass::borrowed);
    CHECK(opened[0].gpus == GpuVector{{"a100", 4}});
    CHECK(opened[0].start_s == 190);
    CHECK_FALSE(opened[0].end_s);
    CHECK(meter.list(201, {job(1, "gpu-lend", JobState::running, 190)}).empty());
    CHECK(meter.list(202, {job(1, "gpu-lend", JobState::completing, 190)}).empty());
}

TEST_CASE("Jobs of other partitions and pending jobs are not metered") {
    Meter meter;
    CHECK(meter.list(200, {job(1, "cpu", JobState::running, 190), job(2, "gpu", JobState::pending, 500)}).empty());
}

TEST_CASE("A stretch ends with the job, and says how") {
    for (const auto& [ending, word] : {std::pair{Ending::completed, "completed"}, {Ending::failed, "failed"},
                                       {Ending::cancelled, "cancelled"}, {Ending::preempted, "preempted"}}) {
        Meter meter;
        const auto running = job(1, "gpu", JobState::running, 190);
        (void)meter.list(200, {running});
        const auto closed = meter.list(210, {ended(running, 205, ending)});
        REQUIRE(closed.size() == 1);
        CHECK(closed[0].end_s == 205);
        CHECK(closed[0].ended == word);
        CHECK(closed[0].gpus == GpuVector{{"a100", 4}});
        CHECK(meter.list(211, {ended(running, 205, ending)}).empty());
    }
}

TEST_CASE("A clock that steps backward ends no stretch before it was last seen") {
    Meter meter;
    const auto running = job(1, "gpu", JobState::running, 3800);
    (void)meter.list(3810, {running, job(2, "gpu", JobState::running, 3805)});
    const auto closed = meter.list(215, {ended(running, 214, Ending::completed)});
    REQUIRE(closed.size() == 2);
    for (const auto& stretch : closed) CHECK(*stretch.end_s == 3810);
}

TEST_CASE("A job that no list shows running is metered when it has ended, once") {
    Meter meter;
    const auto over = ended(job(1, "gpu", JobState::running, 190), 195, Ending::completed);
    const auto closed = meter.list(200, {over});
    REQUIRE(closed.size() == 1);
    CHECK(closed[0].start_s == 190);
    CHECK(closed[0].end_s == 195);
    CHECK(closed[0].gpus == GpuVector{{"a100", 4}});
    CHECK(meter.list(201, {over}).empty());

    Meter again;
    again.on_record = true;
    CHECK(again.list(202, {over}).empty());
}

TEST_CASE("A job that never started is not metered") {
    Meter meter;
    auto never = ended(job(1, "gpu", JobState::running, 195), 195, Ending::cancelled);
    never.nodes.clear();
    CHECK(meter.list(200, {never}).empty());
    CHECK(meter.list(201, {ended(job(2, "gpu", JobState::running, 195), 195, Ending::cancelled)}).size() == 1);
}

TEST_CASE("A job that is being requeued is still in the run that it loses its GPUs from") {
    Meter meter;
    (void)meter.list(200, {job(1, "gpu-lend", JobState::running, 150)});
    auto going = job(1, "gpu-lend", JobState::completing, 206);
    going.restarts = 1;
    CHECK(meter.list(207, {going}).empty());
    const auto closed = meter.list(210, {requeued(1, 208)});
    REQUIRE(closed.size() == 1);
    CHECK(closed[0].restart == 0);
    CHECK(closed[0].start_s == 150);
    CHECK(closed[0].end_s == 208);
}

TEST_CASE("A run that is first seen while its job is being requeued is not the run that comes after it") {
    Meter meter;
    auto going = job(1, "gpu-lend", JobState::completing, 206);
    going.restarts = 1;
    const auto opened = meter.list(207, {going});
    REQUIRE(opened.size() == 1);
    CHECK(opened[0].restart == 0);
    const auto closed = meter.list(210, {requeued(1, 208)});
    REQUIRE(closed.size() == 1);
    CHECK(closed[0].restart == 0);
    CHECK(closed[0].ended == "requeued");
    auto again = job(1, "gpu-lend", JobState::running, 220);
    again.restarts = 1;
    const auto next = meter.list(221, {again});
    REQUIRE(next.size() == 1);
    CHECK(next[0].restart == 1);
    CHECK(next[0].start_s == 220);
}

TEST_CASE("A requeued job closes its stretch at its new submission and opens another when it runs again") {
    Meter meter;
    (void)meter.list(200, {job(1, "gpu-lend", JobState::running, 190)});
    const auto closed = meter.list(210, {requeued(1, 205)});
    REQUIRE(closed.size() == 1);
    CHECK(closed[0].end_s == 205);
    CHECK(closed[0].ended == "requeued");
    CHECK_FALSE(closed[0].beneficiary_job);
    auto again = job(1, "gpu-lend", JobState::running, 220);
    again.restarts = 1;
    const auto opened = meter.list(221, {again});
    REQUIRE(opened.size() == 1);
    CHECK(opened[0].restart == 1);
    CHECK(opened[0].start_s == 220);
}

TEST_CASE("A requeue and a new start between two lists make two stretches") {
    Meter meter;
    (void)meter.list(200, {job(1, "gpu-lend", JobState::running, 190)});
    auto again = job(1, "gpu-lend", JobState::running, 220);
    again.restarts = 1;
    again.submit_s = 205;
    const auto changed = meter.list(230, {again});
    REQUIRE(changed.size() == 2);
    CHECK(changed[0].end_s == 205);
    CHECK(changed[1].start_s == 220);
}

TEST_CASE("A job that slurmctld forgets between two lists ends when it was last seen") {
    Meter meter;
    (void)meter.list(200, {job(1, "gpu", JobState::running, 190)});
    (void)meter.list(207, {job(1, "gpu", JobState::running, 190)});
    const auto closed = meter.list(300, {});
    REQUIRE(closed.size() == 1);
    CHECK(closed[0].end_s == 207);
    CHECK(closed[0].ended == "unknown");
}

TEST_CASE("A borrowed job that makes room is preempted for the guaranteed job that starts on its node") {
    Meter meter;
    (void)meter.list(200, {job(1, "gpu-lend", JobState::running, 190)});
    auto owner = job(7, "gpu", JobState::pending, 0);
    (void)meter.list(210, {requeued(1, 209), owner});
    auto elsewhere = job(6, "gpu", JobState::running, 210);
    elsewhere.nodes = {{1, 3}};
    auto before = job(5, "gpu", JobState::running, 150);
    const auto changed = meter.list(212, {requeued(1, 209), job(7, "gpu", JobState::running, 211),
                                          job(8, "gpu", JobState::running, 212), elsewhere, before});
    const auto preempted = std::find_if(changed.begin(), changed.end(), [](const auto& one) { return one.job_id == 1; });
    REQUIRE(preempted != changed.end());
    CHECK(preempted->ended == "preempted");
    CHECK(preempted->beneficiary_job == 7);
    CHECK(meter.list(213, {requeued(1, 209), job(7, "gpu", JobState::running, 211),
                           job(8, "gpu", JobState::running, 212), elsewhere, before})
              .empty());
}

TEST_CASE("A start long after a requeue is no preemption, and a guaranteed job is nobody's victim") {
    Meter meter;
    (void)meter.list(200, {job(1, "gpu-lend", JobState::running, 190), job(2, "gpu", JobState::running, 190)});
    auto own_requeue = requeued(2, 209);
    own_requeue.partition = "gpu";
    (void)meter.list(210, {requeued(1, 209), own_requeue});
    const auto late = 209 + UsageMeter::beneficiary_window_s + 1;
    const auto changed = meter.list(late, {requeued(1, 209), own_requeue, job(7, "gpu", JobState::running, late)});
    REQUIRE(changed.size() == 1);
    CHECK(changed[0].job_id == 7);
}

TEST_CASE("A meter goes on with the stretches that were open before it") {
    UsageInterval open;
    open.job_id = 1;
    open.contract = "vision-lab/gpu";
    open.start_s = 190;
    UsageMeter meter({open});
    const auto config = one_pool();
    const auto closed = meter.update(config, {}, {ended(job(1, "gpu-lend", JobState::running, 190), 205,
                                                        Ending::completed)},
                                     210, [](auto, auto) { return false; });
    REQUIRE(closed.size() == 1);
    CHECK(closed[0].start_s == 190);
    CHECK(closed[0].end_s == 205);
}
