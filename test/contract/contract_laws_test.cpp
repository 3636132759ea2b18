// SPDX-License-Identifier: GPL-2.0-or-later
// What holds of contract files whatever is in them.
#include <rapidcheck.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "contract/contract_toml.hpp"
#include "contract/flat_values.hpp"
#include "contract/suggest.hpp"
#include "contract/toml_tree.hpp"
#include "contract/units.hpp"

using namespace accord;

namespace {

const std::string& reference() {
    static const std::string text = [] {
        std::ifstream file(ACCORD_SRCDIR "/contracts/reference.toml");
        std::ostringstream whole;
        whole << file.rdbuf();
        return whole.str();
    }();
    return text;
}

/// A contract or errors, never both and never neither; every finding is one line with its place.
void check_judgement(const std::string& text) {
    const auto judged = judge_contract(text, "x.toml", nullptr);
    RC_ASSERT(judged.contract.has_value() == judged.report.errors.empty());
    for (const auto* list : {&judged.report.errors, &judged.report.warnings})
        for (const auto& found : *list) {
            RC_ASSERT(found.where.starts_with("x.toml:"));
            RC_ASSERT(found.what.find('\n') == std::string::npos);
        }
}

}  // namespace

TEST_CASE("any text is judged, with a place for every finding") {
    CHECK(rc::check("bytes", [](const std::string& text) { check_judgement(text); }));
}

TEST_CASE("letters of any script may stand in strings, and where none may they are an error") {
    const auto tree = parse_toml("a = \"\"\"\\\n   é\"\"\"\n", "x.toml");
    REQUIRE(tree);
    CHECK(tree->entries.at(0).value.text == "é");
    for (const std::string letter : {"é", "İ", "᠎", "‐", "﷐", "\xef\xbb\xbe"})
        for (const auto& text :
             {letter + " = 1\n", "a = " + letter + "\n", "a" + letter + "= 1\n", "[" + letter + "]\n"}) {
            INFO(text);
            const auto wrong = parse_toml(text, "x.toml");
            REQUIRE_FALSE(wrong);
            CHECK(wrong.error().where == "x.toml:1");
        }
}

TEST_CASE("a key that begins with a sign is an error, wherever it stands") {
    for (const auto* text :
         {"[=]\n",    "[[=]]\n",   "[a.=]\n",      "a.= 1\n", "= 1\n",     "a = { = 1 }\n", "a = { b = 1, = 2 }\n",
          "[",        "[[",        "[a",           "a",       "a.",        "a =",           "a = {",
          "a = [",    "a = \"",    "a = \"\"\"",   "a = '",   "a = 1979-", "a = 1e",        "a = 0x",
          "a = \"\\", "a = \"\\u", "a = \"\\U0001"}) {
        INFO(text);
        CHECK_FALSE(parse_toml(text, "x.toml"));
    }
}

TEST_CASE("every beginning of a contract is judged, with a place for every finding") {
    CHECK(rc::check("cut off", [] {
        check_judgement(reference().substr(0, *rc::gen::inRange<std::size_t>(0, reference().size())));
    }));
}

TEST_CASE("a contract with bytes changed, lines moved or lines lost is judged, with a place for every finding") {
    CHECK(rc::check("bytes changed", [] {
        auto text = reference();
        for (int i = *rc::gen::inRange(1, 5); i > 0; --i)
            text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
        check_judgement(text);
    }));
    CHECK(rc::check("lines moved or lost", [] {
        std::vector<std::string> lines;
        std::istringstream whole(reference());
        for (std::string line; std::getline(whole, line);) lines.push_back(line);
        const auto from = *rc::gen::inRange<std::size_t>(0, lines.size());
        const auto moved = lines[from];
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from));
        const auto to = *rc::gen::inRange<std::size_t>(0, lines.size() + 1);
        if (to < lines.size()) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), moved);
        std::string text;
        for (const auto& line : lines) text += line + "\n";
        check_judgement(text);
    }));
}

TEST_CASE("a key that begins with what no key begins with is an error on its line") {
    for (const char* header : {"[\u00e9]", "[ #]", "[=]", "[[%]]", "[a.\u00e9]", "[,"}) {
        const auto judged = judge_contract(std::string("schema = 1\n") + header + "\nx = 1\n", "x.toml", nullptr);
        INFO(header);
        REQUIRE_FALSE(judged.report.errors.empty());
        CHECK(judged.report.errors.front().where == "x.toml:2");
        CHECK(judged.report.errors.front().what.starts_with("this is not TOML: "));
    }
}

TEST_CASE("keys and values nested out of all reason are an error on their line, not the end of the process") {
    std::string key = "a", lists = "a = ";
    for (int i = 0; i < 50'000; ++i) key += ".a", lists += "[";
    for (const auto& text : {key + " = 1\n", "[" + key + "]\n", "a = { " + key + " = 1 }\n", lists + "\n"}) {
        const auto tree = parse_toml("# ok\n" + text, "x.toml");
        REQUIRE_FALSE(tree);
        CHECK(tree.error().where == "x.toml:2");
    }
    const auto tree = parse_toml("# ............\na = \"1.2.3.4.5.6.7.8.9.10\"\nb = \"\"\"\n..........\n\\\"\"\"\"\nc.d = 1.5\n", "x.toml");
    REQUIRE(tree);
    CHECK(tree->entries.size() == 3);
}

TEST_CASE("the first line that breaks the parser is found in a long text") {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += "# a line\n";
    const auto tree = parse_toml(text + "[\u00e9]\n" + text, "x.toml");
    REQUIRE_FALSE(tree);
    CHECK(tree.error().where == "x.toml:20001");
}

TEST_CASE("a text differs from itself in no key") {
    CHECK(rc::check("no difference", [](const std::string& text) { RC_ASSERT(changed_values(text, text).empty()); }));
}

TEST_CASE("the edit distance is a distance") {
    CHECK(rc::check("symmetric, and nothing only for equals", [](const std::string& a, const std::string& b) {
        RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
        RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
        RC_ASSERT(edit_distance(a, b) <= std::max(a.size(), b.size()));
    }));
}

TEST_CASE("spans, time limits and sizes are read to the number, and nothing else is one") {
    CHECK(parse_duration_ms("500ms") == 500);
    CHECK(parse_duration_ms("10m") == 600'000);
    CHECK(parse_duration_ms("2w") == 14 * 86'400'000LL);
    CHECK(parse_slurm_time_min("90") == 90);
    CHECK(parse_slurm_time_min("90:59") == 90);
    CHECK(parse_slurm_time_min("2:30:00") == 150);
    CHECK(parse_slurm_time_min("2-00:00:00") == 2880);
    CHECK(parse_slurm_time_min("1-12") == 2160);
    CHECK(parse_slurm_time_min("1-1:30") == 1530);
    CHECK(parse_size_mb("64G") == 65536);
    for (const auto* text : {"", "m", "10", "10 m", "-1m", "1.5h", "10M", "99999999999999999999s"}) {
        INFO(text);
        CHECK_FALSE(parse_duration_ms(text));
    }
    for (const auto* text : {"", "1:2:3:4", "1-", "-1", "1d", "UNLIMITED", "1-1:1:1:1", "1::2"}) {
        INFO(text);
        CHECK_FALSE(parse_slurm_time_min(text));
    }
    for (const auto* text : {"", "G", "64", "64GB", "-1G"}) {
        INFO(text);
        CHECK_FALSE(parse_size_mb(text));
    }
}
