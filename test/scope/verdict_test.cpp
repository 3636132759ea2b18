// SPDX-License-Identifier: GPL-2.0-or-later
// Verdicts as text.
#include "scope/verdict.hpp"

#include "catch.hpp"

using namespace accord;

TEST_CASE("A verdict is read back as it was written") {
    Verdict verdict;
    verdict.kind = Verdict::Kind::ok;
    verdict.has_view = true;
    verdict.no_new_privs = true;
    verdict.context = {{"ACCORD_CONTRACT", "vision-lab/gpu"}, {"ACCORD_CLASS", "borrowed"}, {"EMPTY", ""}};
    CHECK(to_text(verdict) ==
          "ok\nview\nno_new_privs\nenv ACCORD_CONTRACT=vision-lab/gpu\nenv ACCORD_CLASS=borrowed\nenv EMPTY=\nend\n");
    CHECK(verdict_from_text(to_text(verdict)) == verdict);
}

TEST_CASE("A refusal keeps its reason on one line") {
    Verdict verdict;
    verdict.reason = "the path\nok is missing";
    CHECK(to_text(verdict) == "refused: the path ok is missing\nend\n");
    CHECK(verdict_from_text(to_text(verdict))->kind == Verdict::Kind::refused);
}

TEST_CASE("An ungoverned job's verdict says so") {
    Verdict verdict;
    verdict.kind = Verdict::Kind::not_governed;
    CHECK(to_text(verdict) == "not governed\nend\n");
    CHECK(verdict_from_text(to_text(verdict)) == verdict);
}

TEST_CASE("A text that is cut short or something else is no verdict") {
    for (const char* text : {"", "ok", "ok\n", "ok\nview\n", "ok\nview\nen", "fine\nend\n", "end\n", "ok\nend\nmore\n", "ok\nodd\nend\n"})
        CHECK_FALSE(verdict_from_text(text).has_value());
}
