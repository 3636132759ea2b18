// SPDX-License-Identifier: GPL-2.0-or-later
// The paths that a job names, against its contract's view of the file system.
#include "policy/scope_path.hpp"

#include "catch.hpp"

using namespace accord;

namespace {

const FilesystemScope scope{{"/proj"}, {"/proj/vision"}, {"/datasets/public", "/proj/shared"}, {"/tmp"}, false, false};

std::optional<std::string> wrong(const JobPaths& paths) {
    const auto breach = scope_breach(scope, paths);
    return breach ? std::optional(breach->what + " " + breach->path) : std::nullopt;
}

}  // namespace

TEST_CASE("paths are normalised by their text") {
    struct Row {
        const char *path, *base, *normal;
    };
    for (const auto& [path, base, normal] : {
             Row{"/proj/vision", "", "/proj/vision"}, Row{"/proj//vision/", "/x", "/proj/vision"},
             Row{"/proj/vision/../speech", "", "/proj/speech"}, Row{"out", "/proj/vision", "/proj/vision/out"},
             Row{"../speech/out", "/proj/vision", "/proj/speech/out"}, Row{"./a/./b", "/c/", "/c/a/b"},
             Row{"/../..", "", "/"}, Row{"", "/proj", "/proj"}, Row{"/", "", "/"}, Row{"a..b/...", "/", "/a..b/..."},
         }) {
        INFO(path << " from " << base);
        CHECK(normalised(path, base) == normal);
    }
}

TEST_CASE("the innermost tree decides how a path appears") {
    CHECK(access_to(scope, "/proj") == PathAccess::hidden);
    CHECK(access_to(scope, "/proj/speech/x") == PathAccess::hidden);
    CHECK(access_to(scope, "/proj/visions") == PathAccess::hidden);
    CHECK(access_to(scope, "/proj/vision") == PathAccess::visible);
    CHECK(access_to(scope, "/proj/vision/run/1") == PathAccess::visible);
    CHECK(access_to(scope, "/proj/shared/x") == PathAccess::read_only);
    CHECK(access_to(scope, "/datasets/public/x") == PathAccess::read_only);
    CHECK(access_to(scope, "/datasets") == PathAccess::visible);
    CHECK(access_to(scope, "/home/vision1") == PathAccess::visible);
    CHECK(access_to(scope, "/tmp/x") == PathAccess::job_private);
}

TEST_CASE("a job may work and read where it sees, and write where that is not read-only") {
    const std::string inside = "/proj/vision/run";
    CHECK_FALSE(wrong({inside, "", "", "", true}));
    CHECK_FALSE(wrong({inside, "out.%j", "/proj/vision/err/%x-%j", "/datasets/public/in", true}));
    CHECK_FALSE(wrong({inside, "/dev/null", "/dev/null", "/dev/null", true}));
    CHECK_FALSE(wrong({"/home/vision1", "", "", "", true}));
    CHECK(wrong({"/proj/speech", "", "", "", true}) == "working directory /proj/speech");
    CHECK(wrong({inside, "/proj/speech/out", "", "", true}) == "stdout /proj/speech/out");
    CHECK(wrong({inside, "../../speech/out", "", "", true}) == "stdout /proj/speech/out");
    CHECK(wrong({inside, "", "/proj/err", "", true}) == "stderr /proj/err");
    CHECK(wrong({inside, "", "", "/proj/in", true}) == "stdin /proj/in");
    CHECK(wrong({inside, "/datasets/public/out", "", "", true}) == "stdout /datasets/public/out");
    CHECK(wrong({inside, "/proj/vision/../shared/out", "", "", true}) == "stdout /proj/shared/out");
}

TEST_CASE("a batch job's output goes to its working directory unless it names another place") {
    CHECK(wrong({"/datasets/public", "", "", "", true}) == "stdout /datasets/public");
    CHECK_FALSE(wrong({"/datasets/public", "/proj/vision/out", "", "", true}));
    CHECK_FALSE(wrong({"/datasets/public", "", "", "", false}));
}

TEST_CASE("a contract that says nothing about files restricts no path") {
    CHECK_FALSE(scope_breach({}, {"/proj/speech", "/anywhere", "", "", true}));
}

TEST_CASE("a job may work in a private folder, and nothing that is in it outside the job is there") {
    CHECK_FALSE(wrong({"/tmp", "/proj/vision/out", "", "", true}));
    CHECK_FALSE(wrong({"/tmp", "", "", "", false}));
    CHECK(wrong({"/tmp", "", "", "", true}) == "stdout /tmp");
    CHECK(wrong({"/tmp/run", "/proj/vision/out", "", "", true}) == "working directory /tmp/run");
    CHECK(wrong({"/proj/vision", "/tmp/out.%j", "", "", true}) == "stdout /tmp/out.%j");
    CHECK(wrong({"/proj/vision", "", "/tmp/err", "", true}) == "stderr /tmp/err");
    CHECK(wrong({"/proj/vision", "", "", "/tmp/in", true}) == "stdin /tmp/in");
    CHECK(scope_breach(scope, {"/proj/vision", "", "", "/tmp/in", true})->text() ==
          "the stdin /tmp/in is in a folder that each job has for itself, empty at first");
}
