// SPDX-License-Identifier: GPL-2.0-or-later
// R4: what holds for every count, and parsers that survive every text.
#include "catch.hpp"
#include "policy/count.hpp"
#include "policy/scope_path.hpp"
#include "policy/tres.hpp"
#include "property/scenario.hpp"

using namespace accord;
using namespace accord::test;

namespace {

const PoolConfig pool = pool_named("gpu", {{"a100", 16}});

std::optional<std::int64_t> maybe_number(std::int64_t most) {
    if (*rc::gen::arbitrary<bool>()) return std::nullopt;
    if (*rc::gen::inRange(0, 8) == 0) return *rc::gen::element<std::int64_t>(4'294'967'293, gpus_max);
    return *rc::gen::inRange<std::int64_t>(0, most);
}

std::optional<std::string> maybe_gpus() {
    if (*rc::gen::arbitrary<bool>()) return std::nullopt;
    return *rc::gen::element<std::string>("gres:gpu:1", "gres/gpu:2", "gres:gpu:a100:3", "gres/gpu=4", "gres:gpu:1P",
                                          "gres:shard:2", "gres:gpu::1", "gpu:1", "");
}

GpuAsk any_ask() {
    GpuAsk ask;
    ask.tres_per_job = maybe_gpus();
    ask.tres_per_node = maybe_gpus();
    ask.tres_per_task = maybe_gpus();
    if (*rc::gen::inRange(0, 5) == 0) ask.tres_per_socket = maybe_gpus();
    ask.min_nodes = maybe_number(6);
    ask.max_nodes = maybe_number(6);
    ask.num_tasks = maybe_number(9);
    ask.ntasks_per_node = maybe_number(4);
    ask.min_cpus = maybe_number(40);
    ask.cpus_per_task = maybe_number(9);
    ask.required_nodes = maybe_number(4);
    ask.mem_per_node_mb = maybe_number(40'000);
    ask.whole_node = *rc::gen::inRange(0, 4) == 0;
    return ask;
}

PartitionShape any_shape() {
    auto shape = partition_of("gpu", "a100", *rc::gen::inRange(0, 5), 4);
    shape.min_nodes = *rc::gen::inRange<std::int64_t>(0, 3);
    if (*rc::gen::arbitrary<bool>()) shape.max_nodes = *rc::gen::inRange<std::int64_t>(1, 5);
    shape.exclusive = *rc::gen::inRange(0, 4) == 0;
    return shape;
}

Gpus most_of(const GpuAsk& ask, const PartitionShape& shape) { return total(maxima(count_gpus(ask, &shape, pool).gpus)); }

}  // namespace

TEST_CASE("a count is an interval of what can be counted, and says why where it is only a bound") {
    CHECK(rc::check([] {
        const auto ask = any_ask();
        const auto shape = any_shape();
        for (const auto* known : {&shape, static_cast<const PartitionShape*>(nullptr)}) {
            const auto count = count_gpus(ask, known, pool);
            for (const auto& [type, interval] : count.gpus) {
                RC_ASSERT(0 <= interval.min);
                RC_ASSERT(interval.min <= interval.max);
                RC_ASSERT(interval.max <= gpus_max);
            }
            RC_ASSERT(!count.steps.empty());
            const auto brief = count_gpus(ask, known, pool, Explain::briefly);
            RC_ASSERT(brief.gpus == count.gpus);
            RC_ASSERT(brief.exact == count.exact);
            RC_ASSERT(brief.exact || !brief.steps.empty());
        }
    }));
}

TEST_CASE("asking for more GPUs never counts fewer") {
    CHECK(rc::check([] {
        auto less = any_ask();
        const auto shape = any_shape();
        const auto fewer = *rc::gen::inRange(1, 9);
        const auto field = *rc::gen::element(&GpuAsk::tres_per_job, &GpuAsk::tres_per_node, &GpuAsk::tres_per_task);
        less.num_tasks = 1;
        less.min_cpus = 1;
        less.cpus_per_task.reset();
        less.mem_per_node_mb.reset();
        auto more = less;
        less.*field = "gres:gpu:" + std::to_string(fewer);
        more.*field = "gres:gpu:" + std::to_string(fewer + *rc::gen::inRange(1, 9));
        RC_ASSERT(most_of(less, shape) <= most_of(more, shape));
    }));
}

TEST_CASE("allowing more nodes never counts fewer") {
    CHECK(rc::check([] {
        auto less = any_ask();
        const auto shape = any_shape();
        less.max_nodes = *rc::gen::inRange<std::int64_t>(1, 6);
        less.num_tasks.reset();
        less.tres_per_task.reset();
        auto more = less;
        more.max_nodes = *less.max_nodes + *rc::gen::inRange<std::int64_t>(0, 4);
        RC_ASSERT(most_of(less, shape) <= most_of(more, shape));
    }));
}

TEST_CASE("parsers take any bytes and answer within their bounds") {
    CHECK(rc::check([](const std::string& bytes) {
        if (const auto array = parse_array(bytes)) {
            RC_ASSERT(array->concurrent() >= 1);
            RC_ASSERT(array->concurrent() <= array->tasks);
        }
        for (const auto& [type, count] : parse_tres_gpus(bytes).gpus) {
            RC_ASSERT(count >= 1);
            RC_ASSERT(count <= gpus_max);
        }
        const auto path = normalised(bytes, "/base");
        RC_ASSERT(path.starts_with('/'));
        RC_ASSERT(normalised(path, "/other") == path);
        if (const auto id = decision_in_comment(bytes)) RC_ASSERT(comment_of(*id) == bytes);
        if (const auto mark = action_in_comment(bytes)) RC_ASSERT(comment_of(*mark) == bytes);
    }));
}

TEST_CASE("parsers take what looks nearly right") {
    CHECK(rc::check([] {
        const auto letters = rc::gen::elementOf(std::string("0123456789-,:%[]"));
        if (const auto array = parse_array(*rc::gen::container<std::string>(letters)))
            RC_ASSERT(array->concurrent() <= array->tasks);
        const auto piece = rc::gen::element<std::string>("gres", "gpu", ":", "/", "=", ",", "1", "K", "a100", "99999999999");
        std::string near_tres;
        for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece)) near_tres += part;
        for (const auto& [type, count] : parse_tres_gpus(near_tres).gpus) {
            RC_ASSERT(count >= 1);
            RC_ASSERT(count <= gpus_max);
        }
    }));
}

TEST_CASE("ids and marks are read back as they were written") {
    CHECK(rc::check([](std::uint32_t controller, std::uint64_t number) {
        const DecisionId id{controller, number};
        RC_ASSERT(decision_id_from(to_string(id)) == id);
        RC_ASSERT(decision_in_comment(comment_of(id)) == id);
        const ActionMark mark{number, *rc::gen::element(JobClass::guaranteed, JobClass::borrowed, JobClass::queued)};
        RC_ASSERT(action_in_comment(comment_of(mark)) == mark);
    }));
}
