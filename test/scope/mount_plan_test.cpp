// SPDX-License-Identifier: GPL-2.0-or-later
// The plan of a view: order, places, and what it refuses.
#include "scope/mount_plan.hpp"

#include <rapidcheck.h>

#include <set>

#include "catch.hpp"
#include "policy/path.hpp"

using namespace accord;

namespace {

const std::vector<std::string> roots = {"/proj", "/proj/shared", "/datasets", "/tmp", "/dev/shm"};

FilesystemScope scope_of(std::vector<std::string> hidden, std::vector<std::string> rw, std::vector<std::string> ro,
                         std::vector<std::string> private_dirs) {
    FilesystemScope scope;
    scope.hidden = std::move(hidden);
    scope.rw = std::move(rw);
    scope.ro = std::move(ro);
    scope.private_dirs = std::move(private_dirs);
    return scope;
}

MountPlan planned(const FilesystemScope& scope, const std::vector<std::string>& keep = {}) {
    const auto plan = plan_mounts(scope, roots, keep);
    REQUIRE(plan.has_value());
    return *plan;
}

std::string refusal(const FilesystemScope& scope) {
    const auto plan = plan_mounts(scope, roots, {});
    REQUIRE_FALSE(plan.has_value());
    CHECK(plan.error().code == "scope");
    return plan.error().what;
}

}  // namespace

TEST_CASE("What is shown in a hidden folder is made after it, with a place in it") {
    const auto plan = planned(scope_of({"/proj"}, {"/proj/vision"}, {}, {}));
    REQUIRE(plan.size() == 2);
    CHECK(plan[0] == PlannedMount{MountKind::hidden, "/proj", "/proj", std::nullopt});
    CHECK(plan[1] == PlannedMount{MountKind::rw, "/proj/vision", "/proj", 0});
}

TEST_CASE("A hidden folder in a shown one covers what is there") {
    const auto plan = planned(scope_of({"/proj/vision/secret"}, {"/proj/vision"}, {}, {}));
    REQUIRE(plan.size() == 2);
    CHECK(plan[0] == PlannedMount{MountKind::rw, "/proj/vision", "/proj", std::nullopt});
    CHECK(plan[1] == PlannedMount{MountKind::hidden, "/proj/vision/secret", "/proj", std::nullopt});
}

TEST_CASE("Hidden and shown folders nest to any depth") {
    const auto plan = planned(scope_of({"/proj", "/proj/a/b"}, {"/proj/a"}, {"/proj/a/b/c"}, {}));
    REQUIRE(plan.size() == 4);
    CHECK(plan[1].inside == 0u);
    CHECK(plan[2].kind == MountKind::hidden);
    CHECK_FALSE(plan[2].inside.has_value());
    CHECK(plan[3].kind == MountKind::ro);
    CHECK(plan[3].inside == 2u);
}

TEST_CASE("A hidden folder in a hidden one needs no mount of its own") {
    const auto plan = planned(scope_of({"/proj", "/proj/a"}, {"/proj/a/b"}, {}, {}));
    REQUIRE(plan.size() == 2);
    CHECK(plan[1].path == "/proj/a/b");
    CHECK(plan[1].inside == 0u);
}

TEST_CASE("What is shown in a private folder has its place in it") {
    const auto plan = planned(scope_of({"/tmp/old"}, {}, {"/tmp/data"}, {"/tmp"}));
    REQUIRE(plan.size() == 2);
    CHECK(plan[0].kind == MountKind::private_dir);
    CHECK(plan[1].path == "/tmp/data");
    CHECK(plan[1].inside == 0u);
}

TEST_CASE("A sibling whose name begins alike is another folder") {
    const auto plan = planned(scope_of({"/proj/a"}, {"/proj/a-b"}, {}, {}));
    CHECK_FALSE(plan[1].inside.has_value());
}

TEST_CASE("The innermost scope root is the one that counts") {
    CHECK(planned(scope_of({}, {"/proj/shared/x"}, {}, {}))[0].root == "/proj/shared");
}

TEST_CASE("What Slurm needs is kept only where it would be covered") {
    CHECK(planned(scope_of({"/proj"}, {}, {}, {}), {"/var/spool/slurmd"}).size() == 1);
    const auto plan = planned(scope_of({}, {}, {}, {"/tmp"}), {"/tmp/spool", "/tmp/spool/n1"});
    REQUIRE(plan.size() == 2);
    CHECK(plan[1] == PlannedMount{MountKind::keep, "/tmp/spool", "", 0});
}

TEST_CASE("What Slurm needs stays even where the contract hides just that") {
    const auto plan = planned(scope_of({"/tmp/munge"}, {}, {}, {"/tmp"}), {"/tmp/munge"});
    REQUIRE(plan.size() == 2);
    CHECK(plan[1].kind == MountKind::keep);
    CHECK(planned(scope_of({}, {"/tmp/munge"}, {}, {}), {"/tmp/munge"})[0].kind == MountKind::rw);
}

TEST_CASE("Paths outside the scope roots and the system's own are refused by name") {
    CHECK(refusal(scope_of({"/srv/x"}, {}, {}, {})) ==
          "/srv/x: cannot be in a scope: it lies under none of this node's scope_roots");
    for (const std::string path : {"/", "/etc", "/usr/lib", "/proc/1"}) {
        FilesystemScope scope;
        scope.rw = {path};
        const auto plan = plan_mounts(scope, {"/"}, {});
        REQUIRE_FALSE(plan.has_value());
        CHECK(plan.error().what.find(path + ": cannot be in a scope: ") == 0);
    }
    CHECK(refusal(scope_of({"/proj/../etc"}, {}, {}, {})) ==
          "scope: found \"/proj/../etc\", expected a path without \"..\", \".\" and \"//\"");
}

TEST_CASE("A path is named once") {
    CHECK(refusal(scope_of({"/proj"}, {"/proj"}, {}, {})) == "/proj: cannot be in a scope twice");
    CHECK(refusal(scope_of({}, {"/proj", "/proj"}, {}, {})) == "/proj: cannot be in a scope twice");
}

TEST_CASE("A contract that says nothing about files needs no mount") { CHECK(planned({}, {"/tmp/spool"}).empty()); }

TEST_CASE("In any plan a folder comes before what lies in it and every place is an empty folder's") {
    CHECK(rc::check([] {
        FilesystemScope scope;
        std::vector<std::string> keep;
        std::set<std::string> named;
        for (auto* list : {&scope.hidden, &scope.rw, &scope.ro, &scope.private_dirs, &keep}) {
            const auto count = *rc::gen::inRange(0, 4);
            for (int i = 0; i < count; ++i) {
                std::string path = "/proj";
                const auto depth = *rc::gen::inRange(0, 4);
                for (int level = 0; level < depth; ++level) path += "/" + std::string(1, *rc::gen::element('a', 'b'));
                if (list == &keep || named.insert(path).second) list->push_back(path);
            }
        }
        const auto plan = plan_mounts(scope, roots, keep);
        RC_ASSERT(plan.has_value());
        for (std::size_t i = 0; i < plan->size(); ++i) {
            for (std::size_t j = i + 1; j < plan->size(); ++j) RC_ASSERT(!is_under((*plan)[i].path, (*plan)[j].path));
            if (const auto inside = (*plan)[i].inside) {
                RC_ASSERT(*inside < i);
                RC_ASSERT(is_under((*plan)[i].path, (*plan)[*inside].path));
                RC_ASSERT((*plan)[*inside].kind == MountKind::hidden || (*plan)[*inside].kind == MountKind::private_dir);
            }
        }
    }));
}
