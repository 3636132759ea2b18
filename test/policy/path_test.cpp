// SPDX-License-Identifier: GPL-2.0-or-later
// Paths as text: trees by whole components, and what is taken for a path.
#include "policy/path.hpp"

#include "catch.hpp"

using accord::check_absolute_path;
using accord::is_under;
using accord::system_tree;

TEST_CASE("A path lies under a tree by whole components") {
    CHECK(is_under("/proj", "/proj"));
    CHECK(is_under("/proj/vision", "/proj"));
    CHECK(is_under("/proj", "/"));
    CHECK_FALSE(is_under("/projects", "/proj"));
    CHECK_FALSE(is_under("/", "/proj"));
}

TEST_CASE("Only an absolute, normalised path is one") {
    CHECK(check_absolute_path("/proj/vision lab").empty());
    CHECK(check_absolute_path("/").empty());
    CHECK(check_absolute_path("") == "found the relative path \"\", expected an absolute one");
    CHECK(check_absolute_path("proj") == "found the relative path \"proj\", expected an absolute one");
    CHECK(check_absolute_path("/proj/") == "found \"/proj/\", expected no slash at the end: write \"/proj\"");
    CHECK(check_absolute_path("//") == "found \"//\", expected no slash at the end: write \"/\"");
    for (const std::string path : {"/proj/../etc", "/proj/..", "/./proj", "/proj//vision"})
        CHECK(check_absolute_path(path) == "found \"" + path + "\", expected a path without \"..\", \".\" and \"//\"");
    CHECK(check_absolute_path("/pro\nj") == "found a control character in a path, expected none");
    CHECK(check_absolute_path("/" + std::string(1024, 'x')) == "found a path of 1025 bytes, expected at most 1024");
}

TEST_CASE("The system's own trees are known") {
    CHECK(system_tree("/") == "/");
    CHECK(system_tree("/etc/slurm") == "/etc");
    CHECK(system_tree("/proc") == "/proc");
    CHECK(system_tree("/dev") == "/dev");
    CHECK(system_tree("/dev/shm").empty());
    CHECK(system_tree("/etcetera").empty());
    CHECK(system_tree("/home").empty());
}
