// SPDX-License-Identifier: GPL-2.0-or-later
// Private folders on a disk: made fresh, removed, and swept when a crash left them. /var/tmp stands for the disk.
#include "scope/private_dir.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

#include "catch.hpp"
#include "root.hpp"
#include "sandbox.hpp"
#include "scope/job_state.hpp"
#include "sys/identity.hpp"

using namespace accord;

namespace {

const User somebody{"somebody", 12345, 12345, {12345}};
const PrivateOwner owner{"demo", "n1", "42.0"};
const std::string own_name = "/.accord:demo:n1:42.0";

/// A folder that is not on a tmpfs, and writable for all as /tmp is.
class Disk {
public:
    Disk() {
        char name[] = "/var/tmp/accord-test-XXXXXX";
        if (mkdtemp(name) == nullptr || chmod(name, 01777) != 0) throw std::runtime_error("no folder on disk");
        path_ = name;
    }
    ~Disk() { std::filesystem::remove_all(path_); }
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] Fd open_place() const { return Fd(open(path_.c_str(), O_PATH)); }
    [[nodiscard]] bool is_disk() const {
        struct statfs kind {};
        return statfs(path_.c_str(), &kind) == 0 && kind.f_type != TMPFS_MAGIC;
    }
    [[nodiscard]] bool has(const std::string& name) const { return std::filesystem::exists(path_ + name); }

private:
    std::string path_;
};

}  // namespace

TEST_CASE("On a disk a private folder is on that disk, behind root's") {
    if (!is_root()) return;
    const Disk disk;
    REQUIRE(disk.is_disk());
    REQUIRE(make_private_dir(disk.open_place().get(), owner, somebody).has_value());
    struct stat outer {}, inner {};
    REQUIRE(stat((disk.path() + own_name).c_str(), &outer) == 0);
    REQUIRE(stat((disk.path() + own_name + "/d").c_str(), &inner) == 0);
    CHECK(outer.st_uid == 0);
    CHECK((outer.st_mode & 07777) == 0700);
    CHECK(inner.st_uid == somebody.uid);
    CHECK((inner.st_mode & 07777) == 0700);
    const auto all_alive = [](const std::string&) { return true; };
    CHECK(remove_private_dirs(disk.path(), owner, all_alive).has_value());
    CHECK_FALSE(disk.has(own_name));
    CHECK(remove_private_dirs(disk.path(), owner, all_alive).has_value());
}

TEST_CASE("On a tmpfs a private folder leaves no trace in it") {
    if (!is_root()) return;
    const Sandbox box;
    const Fd place(open(box.path().c_str(), O_PATH));
    const auto tree = make_private_dir(place.get(), owner, somebody);
    REQUIRE(tree.has_value());
    struct stat about {};
    REQUIRE(fstat(tree->get(), &about) == 0);
    CHECK(about.st_uid == somebody.uid);
    CHECK((about.st_mode & 07777) == 0700);
    CHECK(std::filesystem::is_empty(box.path()));
}

TEST_CASE("What somebody put in a private folder's place goes") {
    if (!is_root()) return;
    const Disk disk;
    REQUIRE(in_child([&] {
        return setresuid(12346, 12346, 12346) == 0 && mkdir((disk.path() + own_name).c_str(), 0777) == 0 &&
               mkdir((disk.path() + own_name + "/d").c_str(), 0777) == 0;
    }));
    REQUIRE(make_private_dir(disk.open_place().get(), owner, somebody).has_value());
    struct stat about {};
    REQUIRE(stat((disk.path() + own_name + "/d").c_str(), &about) == 0);
    CHECK(about.st_uid == somebody.uid);
}

TEST_CASE("Private folders of this node's dead starts go too, and no others") {
    if (!is_root()) return;
    const Disk disk;
    for (const char* name : {"41.0", "43.1"})
        REQUIRE(make_private_dir(disk.open_place().get(), {"demo", "n1", name}, somebody).has_value());
    REQUIRE(make_private_dir(disk.open_place().get(), {"demo", "n11", "41.0"}, somebody).has_value());
    REQUIRE(remove_private_dirs(disk.path(), owner, [](const std::string& start) { return start == "43.1"; }).has_value());
    CHECK_FALSE(disk.has("/.accord:demo:n1:41.0"));
    CHECK(disk.has("/.accord:demo:n1:43.1"));
    CHECK(disk.has("/.accord:demo:n11:41.0"));
}

TEST_CASE("A removed job takes its private folders with it") {
    if (!is_root()) return;
    const Disk disk;
    const Sandbox box;
    auto state = NodeState::open({box.path("run"), "demo", "n1"});
    REQUIRE(state.has_value());
    const auto folder = state->make({42, 0});
    REQUIRE(folder.has_value());
    REQUIRE(record_private_dirs(folder->get(), {disk.path()}).has_value());
    REQUIRE(make_private_dir(disk.open_place().get(), owner, somebody).has_value());
    std::ofstream(disk.path() + own_name + "/d/data") << "x";
    REQUIRE(state->remove(42).has_value());
    CHECK_FALSE(disk.has(own_name));
}

TEST_CASE("A private folder that is not there keeps nothing else of a job") {
    if (!is_root()) return;
    const Disk disk;
    const Sandbox box;
    auto state = NodeState::open({box.path("run"), "demo", "n1"});
    REQUIRE(state.has_value());
    const auto folder = state->make({42, 0});
    REQUIRE(folder.has_value());
    REQUIRE(record_private_dirs(folder->get(), {disk.path() + "/gone", disk.path()}).has_value());
    REQUIRE(make_private_dir(disk.open_place().get(), owner, somebody).has_value());
    REQUIRE(state->remove(42).has_value());
    CHECK_FALSE(disk.has(own_name));
    CHECK_FALSE(std::filesystem::exists(box.path("run") + "/demo/n1/42.0"));
}
