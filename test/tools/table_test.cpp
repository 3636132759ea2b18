// SPDX-License-Identifier: GPL-2.0-or-later
#include "accord/table.hpp"

#include "catch.hpp"

using accord::Table;

TEST_CASE("a table has its columns in line, numbers to the right, and a dash for nothing") {
    Table table({"contract", "idle_gpus", "state"});
    table.add({"vision-lab/gpu", 8, "active"});
    table.add({"rück", 128, nullptr});
    CHECK(table.text() ==
          "CONTRACT        IDLE GPUS  STATE\n"
          "vision-lab/gpu          8  active\n"
          "rück                  128  -\n");
}

TEST_CASE("a table without rows still has its heading, and is an empty list in JSON") {
    const Table table({"contract", "state"});
    CHECK(table.text() == "CONTRACT  STATE\n");
    CHECK(nlohmann::json::parse(table.json()) == nlohmann::json::array());
}

TEST_CASE("JSON has one flat object for each row with every column in order") {
    Table table({"contract", "version", "due"});
    table.add({"vision-lab/gpu", 3, nullptr});
    const auto rows = nlohmann::ordered_json::parse(table.json());
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].dump() == R"({"contract":"vision-lab/gpu","version":3,"due":null})");
}
