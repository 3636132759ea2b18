// SPDX-License-Identifier: GPL-2.0-or-later
// Views as their tasks see them.
#include "scope/view.hpp"

#include <sys/prctl.h>
#include <sys/statvfs.h>

#include "catch.hpp"
#include "root.hpp"
#include "sandbox.hpp"
#include "sys/fd.hpp"

using namespace accord;

namespace {

const User somebody{"somebody", 12345, 12345, {12345}};

/// A small site: two projects, data, a place for temporary files, and a private mount for the view's file.
class Site : public Sandbox {
public:
    Site() {
        folder("proj/vision/secret", somebody.uid);
        folder("proj/vision", somebody.uid);
        folder("proj/speech");
        folder("datasets/public", somebody.uid);
        folder("scratch", 0, 01777);
        file("proj/vision/data", "vision's");
        file("proj/vision/secret/key", "secret");
        file("proj/speech/data", "speech's");
        file("datasets/public/data", "public");
        file("scratch/old", "old");
        folder("run");
        if (mount("test", path("run").c_str(), "tmpfs", 0, nullptr) != 0 ||
            mount(nullptr, path("run").c_str(), nullptr, MS_PRIVATE, nullptr) != 0)
            throw std::runtime_error("no private mount");
        file("run/view", "");
    }

    [[nodiscard]] Result<void> make(const FilesystemScope& scope, const std::vector<std::string>& keep = {}) const {
        auto plan = plan_mounts(scope, {path("proj"), path("datasets"), path("scratch")}, keep);
        if (!plan) return tl::unexpected(plan.error());
        return make_view({std::move(*plan), somebody, {"demo", "n1", "42.0"}}, pin().get());
    }

    [[nodiscard]] Fd pin() const { return Fd(open(path("run/view").c_str(), O_RDONLY)); }

    /// Whether `body` holds for a task of the user in the view.
    [[nodiscard]] bool in_view(const std::function<bool()>& body, const std::string& folder = "/") const {
        return in_child([&] {
            if (chdir(folder.c_str()) != 0 || !enter_view(pin().get(), somebody)) return false;
            return setresgid(somebody.gid, somebody.gid, somebody.gid) == 0 &&
                   setresuid(somebody.uid, somebody.uid, somebody.uid) == 0 && body();
        });
    }

    [[nodiscard]] bool sees(const std::string& relative) const {
        return in_view([&] { return std::filesystem::exists(path(relative)); });
    }
    [[nodiscard]] bool writes(const std::string& relative) const {
        return in_view([&] { return static_cast<bool>(std::ofstream(path(relative)) << "x"); });
    }
};

std::string problem(const Result<void>& done) { return done ? std::string() : done.error().what; }

FilesystemScope of_site(const Site& site) {
    FilesystemScope scope;
    scope.hidden = {site.path("proj")};
    scope.rw = {site.path("proj/vision")};
    scope.ro = {site.path("datasets/public")};
    scope.private_dirs = {site.path("scratch")};
    return scope;
}

}  // namespace

TEST_CASE("A task sees its contract's folders and no others") {
    if (!is_root()) return;
    const Site site;
    const int before = mounts_under(site.path());
    REQUIRE(problem(site.make(of_site(site))) == "");
    CHECK(site.sees("proj/vision/data"));
    CHECK(site.writes("proj/vision/new"));
    CHECK_FALSE(site.sees("proj/speech"));
    CHECK(site.sees("datasets/public/data"));
    CHECK_FALSE(site.writes("datasets/public/data"));
    CHECK_FALSE(site.sees("scratch/old"));
    CHECK(site.writes("scratch/new"));
    CHECK_FALSE(site.exists("scratch/new"));
    CHECK(mounts_under(site.path()) == before + 1);  // the view's own file
}

TEST_CASE("A hidden folder can be entered but neither read through nor written") {
    if (!is_root()) return;
    const Site site;
    REQUIRE(problem(site.make(of_site(site))) == "");
    CHECK(site.in_view([&] {
        int names = 0;
        for (const auto& entry : std::filesystem::directory_iterator(site.path("proj"))) names += entry.path().filename() == "vision" ? 1 : 100;
        return names == 1 && mkdir(site.path("proj/new").c_str(), 0700) != 0 && errno == EROFS;
    }));
    CHECK(in_child([&] {  // root gets no further
        return chdir("/") == 0 && enter_view(site.pin().get(), somebody) && mkdir(site.path("proj/new").c_str(), 0700) != 0 && errno == EROFS;
    }));
}

TEST_CASE("Hidden and shown folders nest") {
    if (!is_root()) return;
    const Site site;
    FilesystemScope scope = of_site(site);
    scope.hidden.push_back(site.path("proj/vision/secret"));
    REQUIRE(problem(site.make(scope)) == "");
    CHECK(site.sees("proj/vision/secret"));
    CHECK_FALSE(site.sees("proj/vision/secret/key"));
    CHECK(site.writes("proj/vision/new"));
}

TEST_CASE("Read-only holds for mounts in a tree too") {
    if (!is_root()) return;
    const Site site;
    site.folder("datasets/public/disk", somebody.uid);
    REQUIRE(mount("test", site.path("datasets/public/disk").c_str(), "tmpfs", 0, "mode=777") == 0);
    REQUIRE(problem(site.make(of_site(site))) == "");
    CHECK(site.sees("datasets/public/disk"));
    CHECK_FALSE(site.writes("datasets/public/disk/new"));
    CHECK(in_child([&] { return static_cast<bool>(std::ofstream(site.path("datasets/public/disk/new")) << "x"); }));
}

TEST_CASE("What is mounted later shows where it may be written, and not where it would escape read-only") {
    if (!is_root()) return;
    const Site site;
    site.folder("datasets/public/later", somebody.uid);
    site.folder("proj/vision/later", somebody.uid);
    REQUIRE(problem(site.make(of_site(site))) == "");
    for (const char* place : {"datasets/public/later", "proj/vision/later"}) {
        REQUIRE(mount("test", site.path(place).c_str(), "tmpfs", 0, "mode=777") == 0);
        site.file(std::string(place) + "/mark", "x");
    }
    CHECK(site.sees("proj/vision/later/mark"));
    CHECK_FALSE(site.sees("datasets/public/later/mark"));
    CHECK_FALSE(site.writes("datasets/public/later/new"));
}

TEST_CASE("A folder mounted over a hidden one later stays hidden") {
    if (!is_root()) return;
    const Site site;
    REQUIRE(problem(site.make(of_site(site))) == "");
    REQUIRE(mount("test", site.path("proj").c_str(), "tmpfs", 0, "mode=777") == 0);
    site.file("proj/mark", "x");
    CHECK_FALSE(site.sees("proj/mark"));
    CHECK(site.sees("proj/vision/data"));
}

TEST_CASE("Every tree of a view is nosuid and nodev") {
    if (!is_root()) return;
    const Site site;
    REQUIRE(problem(site.make(of_site(site))) == "");
    for (const char* place : {"proj", "proj/vision", "datasets/public", "scratch"})
        CHECK(site.in_view([&] {
            struct statvfs about {};
            return statvfs(site.path(place).c_str(), &about) == 0 && (about.f_flag & ST_NOSUID) && (about.f_flag & ST_NODEV);
        }));
}

TEST_CASE("A private folder is the user's alone") {
    if (!is_root()) return;
    const Site site;
    REQUIRE(problem(site.make(of_site(site))) == "");
    CHECK(site.in_view([&] {
        struct stat about {};
        return stat(site.path("scratch").c_str(), &about) == 0 && about.st_uid == somebody.uid && (about.st_mode & 07777) == 0700;
    }));
}

TEST_CASE("A shown folder in a private one is in its place") {
    if (!is_root()) return;
    const Site site;
    site.folder("scratch/team/data", somebody.uid);
    site.file("scratch/team/data/x", "x");
    FilesystemScope scope = of_site(site);
    scope.ro.push_back(site.path("scratch/team/data"));
    REQUIRE(problem(site.make(scope)) == "");
    CHECK(site.sees("scratch/team/data/x"));
    CHECK_FALSE(site.sees("scratch/old"));
}

TEST_CASE("A single file can be shown") {
    if (!is_root()) return;
    const Site site;
    FilesystemScope scope = of_site(site);
    scope.ro.push_back(site.path("proj/speech/data"));
    REQUIRE(problem(site.make(scope)) == "");
    CHECK(site.sees("proj/speech/data"));
    CHECK(site.in_view([&] {
        std::ifstream file(site.path("proj/speech/data"));
        std::string text;
        return std::getline(file, text) && text == "speech's";
    }));
}

TEST_CASE("What Slurm needs stays in a private folder, and may be missing") {
    if (!is_root()) return;
    const Site site;
    site.folder("scratch/spool/job", somebody.uid);
    REQUIRE(problem(site.make(of_site(site), {site.path("scratch/spool"), site.path("scratch/none")})) == "");
    CHECK(site.sees("scratch/spool/job"));
    CHECK_FALSE(site.sees("scratch/none"));
}

TEST_CASE("A missing path refuses the view by name") {
    if (!is_root()) return;
    const Site site;
    for (auto list : {&FilesystemScope::hidden, &FilesystemScope::rw, &FilesystemScope::ro, &FilesystemScope::private_dirs}) {
        FilesystemScope scope;
        (scope.*list).push_back(site.path("datasets/none"));
        const auto made = site.make(scope);
        REQUIRE_FALSE(made.has_value());
        CHECK(made.error().what == site.path("datasets/none") + ": does not exist");
    }
}

TEST_CASE("A link that leaves its folder refuses the view by name") {
    if (!is_root()) return;
    const Site site;
    site.link("../../proj/speech", "proj/vision/out");
    FilesystemScope scope = of_site(site);
    scope.rw.push_back(site.path("proj/vision/out"));
    const auto made = site.make(scope);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().what == site.path("proj/vision/out") + ": has a link in it that leaves its folder");
}

TEST_CASE("A link within its folder shows what it leads to") {
    if (!is_root()) return;
    const Site site;
    site.link("public", "datasets/now");
    FilesystemScope scope;
    scope.ro = {site.path("datasets/now")};
    REQUIRE(problem(site.make(scope)) == "");
    CHECK_FALSE(site.writes("datasets/public/data"));

    const Site other;
    other.link("vision", "proj/alias");
    FilesystemScope hiding;
    hiding.hidden = {other.path("proj")};
    hiding.rw = {other.path("proj/alias")};
    REQUIRE(problem(other.make(hiding)) == "");
    CHECK(other.sees("proj/alias/data"));
    CHECK_FALSE(other.sees("proj/vision"));
}

TEST_CASE("A link to what another path covers is refused") {
    if (!is_root()) return;
    const Site site;
    site.link("speech", "proj/zalias");
    FilesystemScope scope;
    scope.hidden = {site.path("proj/speech")};
    scope.rw = {site.path("proj/zalias")};
    const auto made = site.make(scope);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().what ==
          site.path("proj/zalias") + ": cannot be shown: another path of the contract covers what its link leads to");
}

TEST_CASE("What the user may not reach is not shown to the user") {
    if (!is_root()) return;
    const Site site;
    site.folder("datasets/closed", 0, 0700);
    site.folder("datasets/closed/inside");
    FilesystemScope scope;
    scope.ro = {site.path("datasets/closed/inside")};
    const auto made = site.make(scope);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().what == site.path("datasets/closed/inside") + ": cannot be reached: Permission denied");
    scope.ro.clear();
    scope.hidden = {site.path("datasets/closed/inside")};
    CHECK(problem(site.make(scope)) == "");
}

TEST_CASE("A file cannot be hidden as a folder") {
    if (!is_root()) return;
    const Site site;
    FilesystemScope scope;
    scope.hidden = {site.path("datasets/public/data")};
    const auto made = site.make(scope);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().what == site.path("datasets/public/data") + ": cannot be hidden or private: it is no folder");
}

TEST_CASE("A refused view leaves no process and no mount behind") {
    if (!is_root()) return;
    const Site site;
    const int before = mounts_under(site.path());
    FilesystemScope scope = of_site(site);
    scope.ro.push_back(site.path("datasets/none"));
    REQUIRE_FALSE(site.make(scope).has_value());
    CHECK(mounts_under(site.path()) == before);
    CHECK((waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));
}

TEST_CASE("The working directory is entered again, or refuses the task") {
    if (!is_root()) return;
    const Site site;
    REQUIRE(problem(site.make(of_site(site))) == "");
    CHECK(site.in_view([&] { return std::filesystem::current_path() == site.path("proj/vision") && std::filesystem::exists("data"); },
                       site.path("proj/vision")));
    CHECK_FALSE(site.in_view([] { return true; }, site.path("proj/speech")));
    CHECK(in_child([&] {
        if (chdir(site.path("proj/speech").c_str()) != 0) return false;
        const auto entered = enter_view(site.pin().get(), somebody);
        return !entered && entered.error().what == "the working directory " + site.path("proj/speech") +
                                                       " is not in the job's view: No such file or directory";
    }));
}

TEST_CASE("A descriptor is taken only for a file that the view shows, as it shows it") {
    if (!is_root()) return;
    const Site site;
    REQUIRE(problem(site.make(of_site(site))) == "");
    const auto reachable = [&](const std::string& relative, int flags) {
        const Fd file(open(site.path(relative).c_str(), flags));
        const auto name = name_of_file(file.get());
        return file && name && site.in_view([&] { return check_reachable(file.get(), *name).has_value(); });
    };
    CHECK(reachable("proj/vision/data", O_RDWR));
    CHECK_FALSE(reachable("proj/speech/data", O_RDONLY));
    CHECK_FALSE(reachable("scratch/old", O_WRONLY));
    REQUIRE(chown(site.path("datasets/public/data").c_str(), somebody.uid, somebody.gid) == 0);
    CHECK(reachable("datasets/public/data", O_RDONLY));
    CHECK_FALSE(reachable("datasets/public/data", O_WRONLY));
    const Fd null(open("/dev/null", O_RDWR));
    REQUIRE(name_of_file(null.get()) == "");
    CHECK(site.in_view([&] { return check_reachable(null.get(), "").has_value(); }));
}
