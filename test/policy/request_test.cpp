// SPDX-License-Identifier: GPL-2.0-or-later
// Arrays as --array names them.
#include "policy/request.hpp"

#include "catch.hpp"

using namespace accord;

TEST_CASE("an array's tasks are the union of its indices") {
    struct Row {
        const char* text;
        std::int64_t tasks, concurrent;
    };
    for (const auto& [text, tasks, concurrent] : {
             Row{"0", 1, 1},
             Row{"5", 1, 1},
             Row{"0-9", 10, 10},
             Row{"0-9:3", 4, 4},
             Row{"1,3,5", 3, 3},
             Row{"0-9,5-14", 15, 15},
             Row{"0-9:3,0-9:2", 7, 7},
             Row{"0-9,20%4", 11, 4},
             Row{"0-9%0", 10, 10},
             Row{"0-9%100", 10, 10},
             Row{"[0-9]%2", 10, 2},
             Row{"[0-3,7]", 5, 5},
             Row{"[0-9:3]", 4, 4},
             Row{"0-9999%10", 10000, 10},
             Row{"0-4000000", 4000001, 4000001},
         }) {
        INFO(text);
        const auto spec = parse_array(text);
        REQUIRE(spec);
        CHECK(spec->tasks == tasks);
        CHECK(spec->concurrent() == concurrent);
    }
}

TEST_CASE("an array keeps its indices without the limit") {
    const auto spec = parse_array("0-9:3,20%4");
    REQUIRE(spec);
    CHECK(spec->indices == "0-9:3,20");
    CHECK(spec->limit == 4);
    CHECK_FALSE(parse_array("0-9")->limit);
}

TEST_CASE("ten thousand single indices are counted one by one") {
    std::string text = "0";
    for (int index = 2; index < 20000; index += 2) text += "," + std::to_string(index);
    CHECK(parse_array(text)->tasks == 10000);
}

TEST_CASE("an array contains the tasks that its indices name") {
    const auto spec = *parse_array("[0-9:3,20]%4");
    for (const auto task : {0, 3, 9, 20}) CHECK(spec.contains(task));
    for (const auto task : {1, 10, 12, 19, 21, -3}) CHECK_FALSE(spec.contains(task));
}

TEST_CASE("what Slurm would not take as an array is not one") {
    for (const auto* text :
         {"", ",", "1,", ",1", "a", "-1", "1-", "9-0", "0-9:0", "0-9:-1", "0-9:", "0-9:x", "0-9%", "0-9%x", "0-9%-1",
          "0-9%4%4", "1 2", " 1", "0x10", "0-4000001", "99999999999999999999", "0-9%99999999999999999999", "0-9:3:3",
          "0-4000000,0-4000000", "1-2-3", "[[1]]"}) {
        INFO(text);
        CHECK_FALSE(parse_array(text));
    }
}
