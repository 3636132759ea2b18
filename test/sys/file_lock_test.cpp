// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include "catch.hpp"
#include "sys/fd.hpp"
#include "temp_dir.hpp"

using namespace accord;

TEST_CASE("a file is locked for as long as somebody holds its lock") {
    const TempDir dir;
    const auto path = dir / "lock";
    CHECK_FALSE(is_locked(path).value());
    {
        const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        CHECK_FALSE(is_locked(path).value());
        REQUIRE(::flock(fd.get(), LOCK_EX) == 0);
        CHECK(is_locked(path).value());
        CHECK_FALSE(is_locked(dir / "other").value());
    }
    CHECK_FALSE(is_locked(path).value());
}

TEST_CASE("a lock on a part of a file counts, however it was made") {
    const TempDir dir;
    const auto path = dir / "lock";
    const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_start = 3;
    range.l_len = 1;
    REQUIRE(::fcntl(fd.get(), F_OFD_SETLK, &range) == 0);
    CHECK(is_locked(path).value());
}
