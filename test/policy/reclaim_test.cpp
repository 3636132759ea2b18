// SPDX-License-Identifier: GPL-2.0-or-later
// R13, live: who is preempted for whom.
#include "policy/reclaim.hpp"

#include <rapidcheck.h>

#include <numeric>
#include <set>

#include "catch.hpp"

using namespace accord;

namespace {

/// Nodes and the loans on them, as a test lays them out.
struct Floor {
    std::vector<ReclaimNode> nodes;
    std::vector<Loan> loans;
    std::vector<Gpus> beyond{100, 100, 100};
    std::int64_t now_s = 1000;

    explicit Floor(std::vector<Gpus> idle) {
        for (const auto gpus : idle) nodes.push_back({gpus, {}});
    }
    std::size_t lend(std::size_t contract, std::int64_t start_s, std::vector<NodeGpus> parts) {
        for (const auto& part : parts) nodes[part.node].loans.push_back(loans.size());
        loans.push_back({contract, start_s, std::move(parts)});
        return loans.size() - 1;
    }
    [[nodiscard]] ReclaimPlan choose(std::vector<Owner> owners) const {
        return choose_victims({nodes, loans, beyond, now_s}, owners);
    }
    [[nodiscard]] std::set<std::size_t> victims(std::vector<Owner> owners) const {
        std::set<std::size_t> found;
        for (const auto& victim : choose(std::move(owners)).victims) found.insert(victim.loan);
        return found;
    }
};

Owner on_one_node(Gpus gpus) { return {{1, gpus}}; }

using Set = std::set<std::size_t>;

}  // namespace

TEST_CASE("nobody is preempted where idle GPUs do") {
    Floor floor({1, 4});
    floor.lend(0, 0, {{0, 3}});
    const auto plan = floor.choose({on_one_node(4)});
    CHECK(plan.victims.empty());
    CHECK(plan.placings == std::vector<std::vector<NodeGpus>>{{{1, 4}}});
}

TEST_CASE("a job that could not start even then preempts nobody") {
    Floor floor({0, 0});
    floor.lend(0, 0, {{0, 2}});
    floor.lend(0, 0, {{1, 4}});
    const auto plan = floor.choose({{{2, 4}}});
    CHECK(plan.victims.empty());
    CHECK(plan.placings.front().empty());
}

TEST_CASE("of two jobs the one goes whose contract keeps its guarantee without it") {
    Floor floor({0, 0});
    floor.beyond = {1, 2};
    floor.lend(0, 999, {{0, 2}});
    const auto kept = floor.lend(1, 0, {{1, 2}});
    CHECK(floor.victims({on_one_node(2)}) == Set{kept});
}

TEST_CASE("then the one goes that loses the fewest GPU-seconds") {
    Floor floor({0, 0});
    floor.lend(0, 500, {{0, 4}});
    const auto cheap = floor.lend(1, 300, {{1, 2}});
    CHECK(floor.victims({on_one_node(2)}) == Set{cheap});
}

TEST_CASE("then the youngest") {
    Floor floor({0, 0});
    floor.lend(0, 600, {{0, 2}});
    const auto young = floor.lend(0, 800, {{1, 4}});
    CHECK(floor.victims({on_one_node(2)}) == Set{young});
}

TEST_CASE("a loss that is smaller in sum is better than smaller losses one by one") {
    Floor floor({0});
    floor.lend(0, 990, {{0, 1}});
    floor.lend(0, 980, {{0, 1}});
    const auto both = floor.lend(0, 988, {{0, 2}});
    CHECK(floor.victims({on_one_node(2)}) == Set{both});
}

TEST_CASE("one job of four GPUs goes rather than four of one that lose as much") {
    Floor floor({0, 0});
    for (int job = 0; job < 4; ++job) floor.lend(0, 900, {{0, 1}});
    const auto whole = floor.lend(0, 900, {{1, 4}});
    CHECK(floor.victims({on_one_node(4)}) == Set{whole});
}

TEST_CASE("owners that come together share what one victim frees") {
    Floor floor({0, 0, 0, 0});
    for (std::size_t node = 0; node < 4; ++node) floor.lend(0, 900, {{node, 4}});
    const auto plan = floor.choose({on_one_node(1), on_one_node(1), on_one_node(1), on_one_node(1)});
    CHECK(plan.victims.size() == 1);
    CHECK(plan.victims.front().owner == 0);
    CHECK(floor.victims({on_one_node(2), on_one_node(2)}).size() == 1);
}

TEST_CASE("a victim of an earlier owner is spared where a later owner's victim serves both") {
    Floor floor({0, 0});
    floor.lend(0, 990, {{0, 2}});
    const auto large = floor.lend(0, 0, {{1, 8}});
    const auto plan = floor.choose({on_one_node(2), on_one_node(6)});
    CHECK(plan.victims == std::vector<Victim>{{large, 0}});
}

TEST_CASE("a job over several nodes is one victim and frees all of them") {
    Floor floor({0, 0, 0});
    floor.lend(0, 999, {{0, 4}});
    const auto wide = floor.lend(0, 990, {{1, 4}, {2, 4}});
    CHECK(floor.victims({{{2, 4}}}) == Set{wide});
}

TEST_CASE("an owner after one that cannot start is served all the same") {
    Floor floor({0});
    const auto loan = floor.lend(0, 0, {{0, 4}});
    const auto plan = floor.choose({on_one_node(8), on_one_node(4)});
    CHECK(plan.victims == std::vector<Victim>{{loan, 1}});
    CHECK(plan.placings[0].empty());
}

namespace {

Floor random_floor() {
    const auto node_count = *rc::gen::inRange<std::size_t>(1, 5);
    Floor floor(std::vector<Gpus>(node_count, 4));
    const auto tries = *rc::gen::inRange(0, 10);
    for (int job = 0; job < tries; ++job) {
        const auto gpus = *rc::gen::inRange<Gpus>(1, 5);
        std::vector<NodeGpus> parts;
        const auto wanted = *rc::gen::inRange<std::size_t>(1, 3);
        for (std::size_t node = 0; node < node_count && parts.size() < wanted; ++node)
            if (floor.nodes[node].idle >= gpus && *rc::gen::arbitrary<bool>()) parts.push_back({node, gpus});
        if (parts.empty()) continue;
        for (const auto& part : parts) floor.nodes[part.node].idle -= part.gpus;
        floor.lend(*rc::gen::inRange<std::size_t>(0, 3), *rc::gen::inRange(0, 1000), parts);
    }
    floor.beyond = {*rc::gen::inRange<Gpus>(0, 9), *rc::gen::inRange<Gpus>(0, 9), *rc::gen::inRange<Gpus>(0, 9)};
    return floor;
}

/// What is left on each node when the loans are gone and the owners placed; below 0 where that is not possible.
std::vector<Gpus> left_after(const Floor& floor, const ReclaimPlan& plan) {
    std::vector<Gpus> left;
    for (const auto& node : floor.nodes) left.push_back(node.idle);
    for (const auto& victim : plan.victims)
        for (const auto& part : floor.loans[victim.loan].parts) left[part.node] += part.gpus;
    for (const auto& placing : plan.placings)
        for (const auto& part : placing) left[part.node] -= part.gpus;
    return left;
}

bool fits_somewhere(const Owner& owner, const std::vector<Gpus>& left) {
    return std::count_if(left.begin(), left.end(), [&](auto gpus) { return gpus >= owner.front().gpus; }) >=
           owner.front().nodes;
}

}  // namespace

TEST_CASE("owners are placed on what is idle then, each on as many nodes as it needs, and no victim is one too many") {
    CHECK(rc::check([] {
        const auto floor = random_floor();
        const auto wanted = *rc::gen::container<std::vector<std::pair<int, int>>>(
            rc::gen::pair(rc::gen::inRange(1, 3), rc::gen::inRange(1, 5)));
        std::vector<Owner> owners;
        for (const auto& [nodes, gpus] : wanted) owners.push_back({{nodes, gpus}});
        if (owners.size() > 4) owners.resize(4);
        const auto plan = floor.choose(owners);
        const auto left = left_after(floor, plan);
        for (const auto gpus : left) RC_ASSERT(gpus >= 0);
        std::size_t served = 0;
        for (std::size_t owner = 0; owner < owners.size(); ++owner) {
            const auto& placing = plan.placings[owner];
            if (placing.empty()) continue;
            ++served;
            RC_ASSERT(static_cast<std::int64_t>(placing.size()) == owners[owner].front().nodes);
            std::set<std::size_t> nodes;
            for (const auto& part : placing) nodes.insert(part.node);
            RC_ASSERT(nodes.size() == placing.size());
        }
        RC_ASSERT(served > 0 || plan.victims.empty());
        if (owners.size() != 1 || served == 0) return;
        // of one owner: without any one of its victims it could not start
        for (const auto& victim : plan.victims) {
            auto without = left_after(floor, {plan.victims, {}});
            for (const auto& part : floor.loans[victim.loan].parts) without[part.node] -= part.gpus;
            RC_ASSERT(!fits_somewhere(owners.front(), without));
        }
    }));
}
