// SPDX-License-Identifier: GPL-2.0-or-later
// Which links a path may go through, and with whose rights.
#include "sys/beneath.hpp"

#include <sys/stat.h>

#include "catch.hpp"
#include "root.hpp"
#include "sandbox.hpp"
#include "sys/identity.hpp"

using namespace accord;

namespace {

std::string code_of(const Result<Fd>& opened) { return opened ? "opened" : opened.error().code; }

bool is_same(const Result<Fd>& opened, const std::string& path) {
    struct stat a {}, b {};
    return opened && fstat(opened->get(), &a) == 0 && stat(path.c_str(), &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

}  // namespace

TEST_CASE("A path without links opens what it names") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("proj/vision");
    box.file("proj/file", "x");
    CHECK(is_same(open_beneath(box.path("proj"), box.path("proj/vision")), box.path("proj/vision")));
    CHECK(is_same(open_beneath(box.path("proj"), box.path("proj")), box.path("proj")));
    CHECK(is_same(open_beneath(box.path("proj"), box.path("proj/file")), box.path("proj/file")));
}

TEST_CASE("What does not exist is said to") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("proj");
    box.file("proj/file", "x");
    const auto opened = open_beneath(box.path("proj"), box.path("proj/none"));
    CHECK(code_of(opened) == "not_found");
    CHECK(opened.error().what == box.path("proj/none") + ": does not exist");
    CHECK(code_of(open_beneath(box.path("proj"), box.path("proj/file/x"))) == "not_found");
    CHECK(code_of(open_beneath(box.path("none"), box.path("none/x"))) == "not_found");
}

TEST_CASE("A link may lead to what lies beneath its own folder") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("proj/vision/v2");
    box.link("vision", "proj/alias");
    box.link(box.path("proj/vision"), "proj/absolute");
    box.link("v2", "proj/vision/now");
    box.link("vision/../vision/./now", "proj/winding");
    CHECK(is_same(open_beneath(box.path("proj"), box.path("proj/alias")), box.path("proj/vision")));
    CHECK(is_same(open_beneath(box.path("proj"), box.path("proj/absolute/v2")), box.path("proj/vision/v2")));
    CHECK(is_same(open_beneath(box.path("proj"), box.path("proj/winding")), box.path("proj/vision/v2")));
}

TEST_CASE("A link that leaves its folder is refused") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("proj/vision");
    box.folder("proj/speech");
    box.link("/etc", "proj/vision/etc");
    box.link("../speech", "proj/vision/neighbour");
    box.link(box.path("proj/speech"), "proj/vision/absolute");
    box.link("../vision/x/../../speech", "proj/vision/winding");
    box.link("/proc/self/root", "proj/vision/magic");
    box.link("loop", "proj/loop");
    for (const std::string name : {"etc", "neighbour", "absolute", "winding", "magic", "etc/passwd"})
        CHECK(code_of(open_beneath(box.path("proj"), box.path("proj/vision/" + name))) == "link");
    CHECK(code_of(open_beneath(box.path("proj"), box.path("proj/loop"))) == "io");
}

TEST_CASE("Links on the way to the root are the administrator's") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("export/home/vision1");
    box.link(box.path("export/home"), "home");
    CHECK(is_same(open_beneath(box.path("home"), box.path("home/vision1")), box.path("export/home/vision1")));
}

TEST_CASE("A user's rights decide while one acts as the user") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("proj/closed", 0, 0700);
    box.folder("proj/closed/inside");
    const User user{"somebody", 12345, 12345, {12345}};
    {
        const ActingAs acting(user);
        REQUIRE(acting.ready().has_value());
        CHECK(code_of(open_beneath(box.path("proj"), box.path("proj/closed/inside"))) == "denied");
        CHECK(code_of(open_beneath(box.path("proj"), box.path("proj/closed"))) == "opened");
    }
    CHECK(code_of(open_beneath(box.path("proj"), box.path("proj/closed/inside"))) == "opened");
    CHECK(geteuid() == 0);
}
