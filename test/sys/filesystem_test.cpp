// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/filesystem.hpp"

#include "catch.hpp"
#include "fuse_mount.hpp"
#include "root.hpp"
#include "temp_dir.hpp"

using namespace accord;

TEST_CASE("network file systems are known by their statfs type") {
    CHECK(std::string(network_filesystem_name(0x6969)) == "nfs");
    CHECK(std::string(network_filesystem_name(0xff534d42)) == "cifs");
    CHECK(std::string(network_filesystem_name(0xffffffffff534d42)) == "cifs");
    CHECK(std::string(network_filesystem_name(0x65735546)) == "fuse");
    for (const std::uint64_t local : {0xef53, 0x58465342, 0x01021994, 0x794c7630})
        CHECK(network_filesystem_name(local) == nullptr);
}

TEST_CASE("a local folder passes and a missing one is an error") {
    const TempDir dir;
    CHECK(require_local_filesystem(dir.path()));
    const auto missing = network_filesystem(dir / "none");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == "io");
}

TEST_CASE("a folder on FUSE is refused by path and kind", "[E03]") {
    if (!is_root()) return;
    const TempDir dir;
    const FuseMount mount(dir / "store");
    const auto found = require_local_filesystem(dir / "store");
    REQUIRE_FALSE(found);
    CHECK(found.error().code == "network_filesystem");
    CHECK(found.error().what == (dir / "store") + ": cannot keep databases here: it lies on fuse, where locks between "
                                                  "processes do not hold; set [store] dir to a local disk");
}
