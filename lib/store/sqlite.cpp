// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/sqlite.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "sys/fd.hpp"
#include "sys/filesystem.hpp"

namespace accord {
namespace {

std::string folder_of(const std::string& path) {
    const auto parent = std::filesystem::path(path).parent_path().string();
    return parent.empty() ? "." : parent;
}

/// SQLite would make the file with the process's umask; its -wal and -shm take the file's own mode.
Result<void> make_file(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (!file) {
        if (errno == EEXIST) return {};
        return fail("io", fmt::format("{}: cannot make the database: {}", path, std::strerror(errno)));
    }
    if (::fchmod(file.get(), 0640) != 0)
        return fail("io", fmt::format("{}: cannot set its mode: {}", path, std::strerror(errno)));
    return {};
}

/// Without its -wal file a database in WAL mode has no writer; who may not make one reads the file as it is.
SQLite::Database open_reader(const std::string& path, const DbSchema& schema) {
    const auto may = [](const std::string& what, int how) {
        return ::faccessat(AT_FDCWD, what.c_str(), how, AT_EACCESS) == 0;
    };
    const bool as_it_is = schema.wal && !may(path + "-wal", F_OK) && !may(folder_of(path), W_OK);
    if (!as_it_is) return {path, SQLite::OPEN_READONLY, schema.read_timeout_ms};
    std::string uri = "file:";
    for (const char c : std::filesystem::absolute(path).string()) {
        const bool special = c == '%' || c == '?' || c == '#';
        uri += special ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
    }
    return {uri + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI, schema.read_timeout_ms};
}

int version_of(SQLite::Database& db) { return db.execAndGet("PRAGMA user_version").getInt(); }

Result<void> check_version(const std::string& path, int found, int newest) {
    if (found <= newest) return {};
    return fail("invalid", fmt::format("{}: cannot use the database: its version is {}, this release knows up to {}",
                                       path, found, newest));
}

Result<void> migrate(SQLite::Database& db, const std::string& path, const DbSchema& schema) {
    const int newest = int(schema.migrations.size());
    return in_transaction(db, path, [&]() -> Result<void> {
        const int found = version_of(db);
        if (const auto known = check_version(path, found, newest); !known) return known;
        for (int version = found; version < newest; ++version) db.exec(schema.migrations[std::size_t(version)]);
        if (found != newest) db.exec(fmt::format("PRAGMA user_version = {}", newest));
        return {};
    });
}

Result<SQLite::Database> open_writer(const std::string& path, const DbSchema& schema) {
    if (const auto made = make_file(path); !made) return tl::unexpected(made.error());
    return database_guard(path, [&]() -> Result<SQLite::Database> {
        SQLite::Database db(path, SQLite::OPEN_READWRITE, schema.busy_timeout_ms);
        if (schema.wal) db.exec("PRAGMA journal_mode = WAL");
        db.exec("PRAGMA foreign_keys = ON");
        if (version_of(db) != int(schema.migrations.size()))
            if (const auto migrated = migrate(db, path, schema); !migrated) return tl::unexpected(migrated.error());
        return db;
    });
}

}  // namespace

Result<SQLite::Database> open_database(const std::string& path, DbOpen how, const DbSchema& schema) {
    if (const auto local = require_local_filesystem(folder_of(path)); !local) return tl::unexpected(local.error());
    if (const auto regular = require_regular_or_absent(path); !regular) return tl::unexpected(regular.error());
    if (how == DbOpen::read_write) return open_writer(path, schema);
    return database_guard(path, [&]() -> Result<SQLite::Database> {
        auto db = open_reader(path, schema);
        const int found = version_of(db);
        if (const auto known = check_version(path, found, int(schema.migrations.size())); !known)
            return tl::unexpected(known.error());
        if (found == 0) return fail("unavailable", fmt::format("{}: cannot read the database: it is empty", path));
        return db;
    });
}

Error database_error(const std::string& path, const SQLite::Exception& exception) {
    if (exception.getExtendedErrorCode() == SQLITE_READONLY_ROLLBACK)
        return {"unavailable",
                fmt::format("{}: cannot read the database: a change to it was cut short; the next writer puts it right", path),
                {}};
    switch (exception.getErrorCode()) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {"unavailable", fmt::format("{}: cannot use the database: another process holds it locked", path), {}};
        case SQLITE_CANTOPEN: {
            const char* why = ::access(path.c_str(), R_OK) != 0 ? std::strerror(errno) : exception.what();
            return {"unavailable", fmt::format("{}: cannot open the database: {}", path, why), {}};
        }
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return {"invalid", fmt::format("{}: cannot use the database: the file is damaged", path), {}};
        default:
            return {"io", fmt::format("{}: cannot use the database: {}", path, exception.what()), {}};
    }
}

}  // namespace accord
