// SPDX-License-Identifier: GPL-2.0-or-later
// When a decision stops being counted by itself: never before its job is, or can no longer come.
#include "resolver.hpp"

#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace accord;
using std::chrono::seconds;

namespace {

constexpr auto settle = seconds(15);
const Clock::time_point start{std::chrono::hours(1)};

JournalRecord record(std::uint64_t number, DecisionKind kind, Verdict verdict = Verdict::admitted) {
    JournalRecord made;
    made.id = {0, number};
    made.decision.kind = kind;
    made.decision.verdict = verdict;
    if (verdict == Verdict::admitted) made.decision.cls = JobClass::guaranteed;
    if (verdict == Verdict::queued) made.decision.cls = JobClass::queued;
    return made;
}

bool accounts_for(const Resolver& resolver, std::uint64_t number) {
    return number <= resolver.resolved_through() || resolver.counted().contains(number);
}

struct Step {
    enum class What { read, list } what;
    int at_s;                            ///< when the record was read, or the list begun
    std::uint64_t number = 0;            ///< of the record
    DecisionKind kind = DecisionKind::submission;
    std::unordered_set<std::uint64_t> shown = {};
};
Step read(int at_s, std::uint64_t number) { return {Step::What::read, at_s, number}; }
Step read_change(int at_s, std::uint64_t number) { return {Step::What::read, at_s, number, DecisionKind::modification}; }
Step list(int at_s, std::unordered_set<std::uint64_t> shown) {
    return {Step::What::list, at_s, 0, DecisionKind::submission, std::move(shown)};
}

Resolver after(const std::vector<Step>& steps) {
    Resolver resolver(0, {}, start);
    for (const auto& step : steps) {
        const auto at = start + seconds(step.at_s);
        if (step.what == Step::What::read) {
            resolver.add(record(step.number, step.kind), at, at);
        } else {
            resolver.settle(step.shown, at, settle);
        }
    }
    return resolver;
}

}  // namespace

TEST_CASE("A decision stays open until a list shows its job, or could no longer miss it") {
    struct Row {
        const char* name;
        std::vector<Step> steps;
        bool open;
    };
    const std::vector<Row> rows = {
        {"no list yet", {read(0, 1)}, true},
        {"the list shows its job", {read(0, 1), list(1, {1})}, false},
        {"a list begun before the job was made", {read(0, 1), list(1, {})}, true},
        {"lists without it for all but settle", {read(0, 1), list(5, {}), list(14, {})}, true},
        {"a list begun settle later without it", {read(0, 1), list(15, {})}, false},
        {"a list begun before its record was read", {read(20, 1), list(20, {})}, true},
        {"its job shown at last", {read(0, 1), list(5, {}), list(14, {1})}, false},
        {"another job shown", {read(0, 1), list(1, {2})}, true},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        const auto resolver = after(row.steps);
        CHECK(resolver.open().contains(1) == row.open);
        CHECK(accounts_for(resolver, 1) == !row.open);
    }
}

TEST_CASE("A modification is open until the first list begun after its record was read") {
    CHECK(after({read_change(10, 1), list(9, {})}).open().contains(1));
    CHECK(after({read_change(10, 1), list(10, {})}).open().contains(1));
    CHECK_FALSE(after({read_change(10, 1), list(11, {})}).open().contains(1));
}

TEST_CASE("A rejected decision is accounted for at once") {
    Resolver resolver(0, {}, start);
    resolver.add(record(1, DecisionKind::submission, Verdict::rejected), start, start);
    CHECK(resolver.open().empty());
    CHECK(accounts_for(resolver, 1));
}

TEST_CASE("A queued decision waits for its job like any other") {
    Resolver resolver(0, {}, start);
    resolver.add(record(1, DecisionKind::submission, Verdict::queued), start, start);
    CHECK(resolver.open().contains(1));
}

TEST_CASE("A record known to be older than its reading is void by its age") {
    Resolver resolver(0, {}, start);
    resolver.add(record(1, DecisionKind::submission), start, start - seconds(3600));
    resolver.settle({}, start, settle);
    CHECK(accounts_for(resolver, 1));
}

TEST_CASE("The first mark stops before the first open decision, the second holds what is settled beyond it") {
    const auto resolver = after({read(0, 1), read(0, 2), read(0, 3), list(1, {1, 3})});
    CHECK(resolver.resolved_through() == 1);
    CHECK(resolver.counted() == std::set<std::uint64_t>{3});
    CHECK(resolver.open().size() == 1);
}

TEST_CASE("A number that is missing holds the first mark until no earlier record can still come") {
    CHECK(after({read(0, 1), read(0, 1000), list(14, {1, 1000})}).resolved_through() == 1);
    const auto resolver = after({read(0, 1), read(0, 1000), list(14, {1, 1000}), list(15, {1, 1000})});
    CHECK(resolver.resolved_through() == 1000);
    CHECK(resolver.counted().empty());
}

TEST_CASE("A decision that only a job's comment names moves no mark") {
    const auto resolver = after({read(0, 1), list(1, {1, 999999}), list(100, {1, 999999})});
    CHECK(resolver.resolved_through() == 1);
    CHECK(resolver.counted().empty());
}

TEST_CASE("A resolver goes on from the marks of a snapshot and ignores what they account for") {
    Resolver resolver(10, {12}, start);
    for (std::uint64_t number = 9; number <= 13; ++number)
        resolver.add(record(number, DecisionKind::submission), start, start);
    CHECK(resolver.open().size() == 2);
    CHECK(resolver.open().contains(11));
    CHECK(resolver.open().contains(13));
    resolver.settle({11}, start, settle);
    CHECK(resolver.resolved_through() == 12);
}
