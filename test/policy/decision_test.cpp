// SPDX-License-Identifier: GPL-2.0-or-later
// The words and marks by which decisions are known.
#include "policy/decision.hpp"

#include <fstream>
#include <set>

#include "catch.hpp"

using namespace accord;

TEST_CASE("a decision's id is written as controller and number and read back") {
    CHECK(to_string(DecisionId{1, 42}) == "1-42");
    CHECK(decision_id_from("1-42") == DecisionId{1, 42});
    CHECK(decision_id_from("0-18446744073709551615") == DecisionId{0, 18446744073709551615u});
    for (const auto* text : {"", "1", "1-", "-1", "1-42 ", "1-42x", "a-1", "1--2", "4294967296-1",
                             "0-18446744073709551616", " 1-2", "+1-2"}) {
        INFO(text);
        CHECK_FALSE(decision_id_from(text));
    }
}

TEST_CASE("a job's admin_comment names its decision and nothing else is taken for one") {
    CHECK(comment_of(DecisionId{0, 17}) == "accord:v1 decision=0-17");
    CHECK(decision_in_comment("accord:v1 decision=0-17") == DecisionId{0, 17});
    for (const auto* text : {"", "decision=0-17", "accord:v2 decision=0-17", "accord:v1 decision=0-17 ",
                             "accord:v1 decision=", "accord:v1 action=17 to=borrowed"}) {
        INFO(text);
        CHECK_FALSE(decision_in_comment(text));
    }
}

TEST_CASE("an action's mark names its number and the class it leads to") {
    const ActionMark mark{5, JobClass::guaranteed};
    CHECK(comment_of(mark) == "accord:v1 action=5 to=guaranteed");
    CHECK(action_in_comment(comment_of(mark)) == mark);
    CHECK(action_in_comment("accord:v1 action=6 to=queued") == ActionMark{6, JobClass::queued});
    for (const auto* text : {"", "accord:v1 action=5", "accord:v1 action=5 to=", "accord:v1 action=5 to=exempt",
                             "accord:v1 action=x to=borrowed", "accord:v1 action=5 to=borrowed hold",
                             "accord:v1 decision=0-5"}) {
        INFO(text);
        CHECK_FALSE(action_in_comment(text));
    }
}

TEST_CASE("the names of verdicts, classes, kinds and reasons are read back") {
    for (const auto verdict : {Verdict::admitted, Verdict::queued, Verdict::rejected})
        CHECK(verdict_from(to_string(verdict)) == verdict);
    for (const auto cls : {JobClass::guaranteed, JobClass::borrowed, JobClass::queued, JobClass::exempt})
        CHECK(job_class_from(to_string(cls)) == cls);
    for (const auto kind : {DecisionKind::submission, DecisionKind::modification})
        CHECK(decision_kind_from(to_string(kind)) == kind);
    for (int reason = 0; reason <= static_cast<int>(Reason::exempt); ++reason)
        CHECK(reason_from(to_string(static_cast<Reason>(reason))) == static_cast<Reason>(reason));
    CHECK(std::string(to_string(Reason::none)).empty());
    CHECK_FALSE(reason_from("unknown"));
}

TEST_CASE("in observe mode a rejected job goes through") {
    Decision decision;
    CHECK_FALSE(decision.allows());
    decision.mode = Mode::observe;
    CHECK(decision.allows());
}

TEST_CASE("the page of reason codes names every code once, and no other") {
    std::ifstream page(ACCORD_SRCDIR "/doc/reasons.md");
    REQUIRE(page);
    std::multiset<std::string> told, known;
    for (std::string line; std::getline(page, line);)
        if (line.starts_with("| `")) told.insert(line.substr(3, line.find('`', 3) - 3));
    for (int reason = 1; reason <= static_cast<int>(Reason::exempt); ++reason)
        known.insert(to_string(static_cast<Reason>(reason)));
    CHECK(told == known);
}
