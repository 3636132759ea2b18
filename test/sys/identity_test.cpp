// SPDX-License-Identifier: GPL-2.0-or-later
// Users as the name service has them, and acting as one.
#include "sys/identity.hpp"

#include <unistd.h>

#include "catch.hpp"
#include "root.hpp"

using namespace accord;

TEST_CASE("A user has a name, a group and groups") {
    const auto root = user_of(0);
    REQUIRE(root.has_value());
    CHECK(root->name == "root");
    CHECK(root->gid == 0);
    CHECK_FALSE(root->groups.empty());
}

TEST_CASE("A uid that nobody has is said to") {
    const auto nobody = user_of(3'999'999'999);
    REQUIRE_FALSE(nobody.has_value());
    CHECK(nobody.error().code == "unknown_user");
}

TEST_CASE("Acting as a user changes ids and groups and gives them back") {
    if (!is_root()) return;
    const int before = getgroups(0, nullptr);
    {
        const ActingAs acting(User{"somebody", 12345, 12346, {12346, 12347}});
        REQUIRE(acting.ready().has_value());
        CHECK(geteuid() == 12345);
        CHECK(getegid() == 12346);
        CHECK(getgroups(0, nullptr) == 2);
    }
    CHECK(geteuid() == 0);
    CHECK(getegid() == 0);
    CHECK(getgroups(0, nullptr) == before);
}
