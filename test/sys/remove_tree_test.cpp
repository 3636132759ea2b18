// SPDX-License-Identifier: GPL-2.0-or-later
// Removing what a user left, however it is built.
#include "sys/remove_tree.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "catch.hpp"
#include "root.hpp"
#include "sandbox.hpp"
#include "sys/fd.hpp"

using namespace accord;

TEST_CASE("A tree of files, folders and links goes, and nothing it points at") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("keep");
    box.file("keep/file", "x");
    box.folder("top/a/b");
    box.folder("top/a/closed", 0, 0000);
    box.file("top/a/b/file", "x");
    box.link(box.path("keep"), "top/a/link");
    box.folder("top/..0");
    const Fd folder(open(box.path().c_str(), O_PATH));
    CHECK(remove_tree(folder.get(), "top").has_value());
    CHECK_FALSE(box.exists("top"));
    CHECK(box.exists("keep/file"));
}

TEST_CASE("A link in the tree's place goes, not what it leads to") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("keep");
    box.file("keep/file", "x");
    box.link("keep", "top");
    const Fd folder(open(box.path().c_str(), O_PATH));
    CHECK(remove_tree(folder.get(), "top").has_value());
    CHECK_FALSE(box.exists("top"));
    CHECK(box.exists("keep/file"));
}

TEST_CASE("What is not there is no error") {
    if (!is_root()) return;
    const Sandbox box;
    const Fd folder(open(box.path().c_str(), O_PATH));
    CHECK(remove_tree(folder.get(), "none").has_value());
}

TEST_CASE("A tree deeper than any path and wider than a batch goes") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("top");
    Fd at(open(box.path("top").c_str(), O_PATH));
    for (int depth = 0; depth < 3000; ++depth) {
        REQUIRE(mkdirat(at.get(), "deeper", 0700) == 0);
        at = Fd(openat(at.get(), "deeper", O_PATH));
        REQUIRE(at);
    }
    for (int i = 0; i < 2500; ++i) box.folder("top/wide/" + std::to_string(i));
    const Fd folder(open(box.path().c_str(), O_PATH));
    CHECK(remove_tree(folder.get(), "top").has_value());
    CHECK_FALSE(box.exists("top"));
}

TEST_CASE("A mount in the tree stops the removal") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("top/mounted");
    REQUIRE(mount("test", box.path("top/mounted").c_str(), "tmpfs", 0, nullptr) == 0);
    box.file("top/mounted/file", "x");
    const Fd folder(open(box.path().c_str(), O_PATH));
    const auto removed = remove_tree(folder.get(), "top");
    CHECK_FALSE(removed.has_value());
    CHECK(box.exists("top/mounted/file"));
}
