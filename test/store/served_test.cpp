// SPDX-License-Identifier: GPL-2.0-or-later
#include <fstream>

#include "catch.hpp"
#include "store/served.hpp"
#include "temp_dir.hpp"

using namespace accord;

TEST_CASE("the state that is served is read as it was written, and a later one replaces it") {
    const TempDir dir;
    const auto path = dir / "served";
    CHECK_FALSE(read_served(path));
    REQUIRE(write_served(path, 1234));
    CHECK(read_served(path) == 1234);
    REQUIRE(write_served(path, 7));
    CHECK(read_served(path) == 7);
}

TEST_CASE("a half-written state that is served is none") {
    const TempDir dir;
    const auto path = dir / "served";
    for (const auto* text : {"", "12", "x\n", "12 \n"}) {
        std::ofstream(path) << text;
        CHECK_FALSE(read_served(path));
    }
}

TEST_CASE("a state that cannot be written is an error") {
    const TempDir dir;
    CHECK_FALSE(write_served(dir / "no-folder/served", 1));
}
