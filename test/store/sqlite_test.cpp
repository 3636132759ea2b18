// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/sqlite.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <thread>

#include "catch.hpp"
#include "fuse_mount.hpp"
#include "root.hpp"
#include "temp_dir.hpp"

using namespace accord;

namespace {

constexpr std::array first_release{"CREATE TABLE fruit (name TEXT NOT NULL)"};
constexpr std::array second_release{first_release[0], "ALTER TABLE fruit ADD COLUMN weight INTEGER NOT NULL DEFAULT 1"};

DbSchema schema_of(std::span<const char* const> migrations, bool wal = true) { return {migrations, wal, 100, 100}; }

Result<SQLite::Database> open_new(const std::string& path) {
    return open_database(path, DbOpen::read_write, schema_of(second_release));
}

Result<void> add_fruit(SQLite::Database& db, const std::string& path, const std::string& name) {
    return in_transaction(db, path, [&]() -> Result<void> {
        SQLite::Statement insert(db, "INSERT INTO fruit (name) VALUES (?)");
        run(insert, name);
        return {};
    });
}

int count(SQLite::Database& db) { return db.execAndGet("SELECT count(*) FROM fruit").getInt(); }

}  // namespace

TEST_CASE("a new database has mode 0640 whatever the umask, WAL where asked, and the newest version") {
    const TempDir dir;
    const mode_t before = ::umask(0);
    auto db = open_new(dir / "a.db");
    ::umask(before);
    REQUIRE(db);
    struct stat status {};
    REQUIRE(::stat((dir / "a.db").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0640);
    CHECK(db->execAndGet("PRAGMA journal_mode").getString() == "wal");
    CHECK(db->execAndGet("PRAGMA user_version").getInt() == 2);
    auto plain = open_database(dir / "b.db", DbOpen::read_write, schema_of(second_release, false));
    REQUIRE(plain);
    CHECK(plain->execAndGet("PRAGMA journal_mode").getString() == "delete");
}

TEST_CASE("a database of an earlier release is carried forward with its rows") {
    const TempDir dir;
    const auto path = dir / "a.db";
    {
        auto old = open_database(path, DbOpen::read_write, schema_of(first_release));
        REQUIRE(old);
        REQUIRE(add_fruit(*old, path, "plum"));
    }
    auto db = open_new(path);
    REQUIRE(db);
    CHECK(db->execAndGet("SELECT weight FROM fruit WHERE name = 'plum'").getInt() == 1);
}

TEST_CASE("a database of a later release is refused by reader and writer") {
    const TempDir dir;
    const auto path = dir / "a.db";
    REQUIRE(open_new(path));
    for (const auto how : {DbOpen::read_only, DbOpen::read_write}) {
        const auto db = open_database(path, how, schema_of(first_release));
        REQUIRE_FALSE(db);
        CHECK(db.error().code == "invalid");
        CHECK(db.error().what == path + ": cannot use the database: its version is 2, this release knows up to 1");
    }
}

TEST_CASE("a reader says that the file is missing, empty or damaged") {
    const TempDir dir;
    const auto path = dir / "a.db";
    const auto read = [&] { return open_database(path, DbOpen::read_only, schema_of(second_release)); };
    const auto missing = read();
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == "unavailable");
    CHECK(missing.error().what == path + ": cannot open the database: No such file or directory");

    std::ofstream(path).close();
    const auto empty = read();
    REQUIRE_FALSE(empty);
    CHECK(empty.error().code == "unavailable");

    std::ofstream(path) << std::string(4096, 'x');
    for (const auto how : {DbOpen::read_only, DbOpen::read_write}) {
        const auto damaged = open_database(path, how, schema_of(second_release));
        REQUIRE_FALSE(damaged);
        CHECK(damaged.error().code == "invalid");
        CHECK(damaged.error().what == path + ": cannot use the database: the file is damaged");
    }
}

TEST_CASE("what is no file is refused at once, by reader and writer") {
    const TempDir dir;
    const auto pipe = dir / "pipe.db", folder = dir / "folder.db";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    REQUIRE(::mkdir(folder.c_str(), 0700) == 0);
    for (const auto& path : {pipe, folder}) {
        for (const auto how : {DbOpen::read_only, DbOpen::read_write}) {
            const auto refused = open_database(path, how, schema_of(second_release));
            REQUIRE_FALSE(refused);
            CHECK(refused.error().what == path + ": cannot use it: it is not a regular file");
        }
    }
}

TEST_CASE("a transaction whose work fails leaves nothing") {
    const TempDir dir;
    const auto path = dir / "a.db";
    auto db = open_new(path);
    REQUIRE(db);
    const auto refused = in_transaction(*db, path, [&]() -> Result<void> {
        db->exec("INSERT INTO fruit (name) VALUES ('fig')");
        return fail("invalid", "no figs");
    });
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what == "no figs");
    const auto thrown = in_transaction(*db, path, [&]() -> Result<void> {
        db->exec("INSERT INTO fruit (name) VALUES ('fig')");
        db->exec("INSERT INTO vegetable (name) VALUES ('leek')");
        return {};
    });
    REQUIRE_FALSE(thrown);
    CHECK(thrown.error().code == "io");
    CHECK(count(*db) == 0);
}

TEST_CASE("a database that stays locked is unavailable, and takes the same rows once it is free", "[E06]") {
    const TempDir dir;
    const auto path = dir / "a.db";
    auto db = open_new(path);
    REQUIRE(db);
    SQLite::Database administrator(path, SQLite::OPEN_READWRITE);
    administrator.exec("BEGIN IMMEDIATE");
    const auto locked = add_fruit(*db, path, "plum");
    REQUIRE_FALSE(locked);
    CHECK(locked.error().code == "unavailable");
    CHECK(locked.error().what == path + ": cannot use the database: another process holds it locked");
    administrator.exec("ROLLBACK");
    REQUIRE(add_fruit(*db, path, "plum"));
    CHECK(count(*db) == 1);
}

TEST_CASE("two writers that read before they write lose nothing", "[E02]") {
    const TempDir dir;
    const auto path = dir / "a.db";
    const DbSchema patient{second_release, true, 60000, 60000};
    REQUIRE(open_database(path, DbOpen::read_write, patient));
    constexpr int each = 500;
    std::array<int, 2> done{};
    const auto write = [&](int& written) {
        auto db = open_database(path, DbOpen::read_write, patient);
        for (int i = 0; db && i < each; ++i) {
            const auto added = in_transaction(*db, path, [&]() -> Result<void> {
                const int seen = count(*db);
                db->exec("INSERT INTO fruit (name, weight) VALUES ('plum', " + std::to_string(seen) + ")");
                return {};
            });
            written += added ? 1 : 0;
        }
    };
    std::thread other([&] { write(done[0]); });
    write(done[1]);
    other.join();
    CHECK(done == std::array{each, each});
    auto db = open_new(path);
    REQUIRE(db);
    CHECK(db->execAndGet("SELECT count(DISTINCT weight) FROM fruit").getInt() == 2 * each);
}

TEST_CASE("who may only read the folder reads a database that nobody has open") {
    if (!is_root()) return;
    const TempDir dir;
    const auto path = dir / "a.db";
    {
        auto db = open_new(path);
        REQUIRE(db);
        REQUIRE(add_fruit(*db, path, "plum"));
    }
    REQUIRE(::access((path + "-wal").c_str(), F_OK) != 0);
    REQUIRE(::chmod(dir.path().c_str(), 0755) == 0);
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setuid(65534) != 0) ::_exit(2);
        auto db = open_database(path, DbOpen::read_only, schema_of(second_release));
        ::_exit(db && count(*db) == 1 ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("a database on a network file system is refused", "[E03]") {
    if (!is_root()) return;
    const TempDir dir;
    const FuseMount mount(dir / "store");
    for (const auto how : {DbOpen::read_only, DbOpen::read_write}) {
        const auto db = open_database(dir / "store/a.db", how, schema_of(second_release));
        REQUIRE_FALSE(db);
        CHECK(db.error().code == "network_filesystem");
    }
}
