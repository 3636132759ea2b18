// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/flat_values.hpp"

#include "catch.hpp"

using namespace accord;

TEST_CASE("two versions differ by the keys whose values differ, whatever their order and layout") {
    const auto changed = changed_values(
        "a = 1\nwhen = 2026-01-01\n[t]\nlist = [\"x\", 2]\nsame = true\n[[s]]\nname = \"one\"\n",
        "when = 2026-01-02 # moved\na=1\nnew = 1.5\n[[s]]\nname = \"one\"\n[[s]]\nname = \"two\"\n[t]\nsame = true\n");
    std::string text;
    for (const auto& [key, before, after] : changed) text += key + ": " + before + " -> " + after + "\n";
    CHECK(text ==
          "new:  -> 1.5\n"
          "s[2].name:  -> \"two\"\n"
          "t.list: [\"x\", 2] -> \n"
          "when: 2026-01-01 -> 2026-01-02\n");
}

TEST_CASE("a text that is not TOML has no values") { CHECK(flat_values("a = = 1").empty()); }
