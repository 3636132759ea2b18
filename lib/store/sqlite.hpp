// SPDX-License-Identifier: GPL-2.0-or-later
// What the databases have in common: opening, migrations, and the edge where SQLite's exceptions become errors.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "policy/error.hpp"

namespace accord {

enum class DbOpen { read_only, read_write };

/// How a database is made. `migrations[n]` leads from `PRAGMA user_version` n to n + 1 and is never changed once
/// released; each runs in one transaction with the step of the version.
struct DbSchema {
    std::span<const char* const> migrations;
    bool wal = false;           ///< journal_mode=WAL; otherwise a rollback journal
    int busy_timeout_ms = 5000;  ///< how long a writer waits for another
    int read_timeout_ms = 5000;  ///< how long a reader does
};

/// read_write makes the file (0640) and brings it to the newest version. read_only fails ("unavailable") for a file that
/// is not there or that holds no schema yet, and waits no longer than `read_timeout_ms` for a writer. Both refuse a
/// network file system ("network_filesystem"), a damaged file ("invalid") and one of a later version ("invalid").
[[nodiscard]] Result<SQLite::Database> open_database(const std::string& path, DbOpen how, const DbSchema& schema);

/// "unavailable" for a file that is locked or cannot be opened, "invalid" for a damaged one, "io" for the rest.
[[nodiscard]] Error database_error(const std::string& path, const SQLite::Exception& exception);

/// Runs `work`, which returns a Result, and turns what SQLite throws into an error that names the file.
template <typename Work>
[[nodiscard]] auto database_guard(const std::string& path, Work&& work) -> decltype(work()) {
    try {
        return std::forward<Work>(work)();
    } catch (const SQLite::Exception& exception) {
        return tl::unexpected(database_error(path, exception));
    }
}

inline void bind_value(SQLite::Statement& statement, int index, const std::string& value) { statement.bind(index, value); }
template <std::integral Int>
void bind_value(SQLite::Statement& statement, int index, Int value) {
    statement.bind(index, static_cast<std::int64_t>(value));
}
template <typename T>
void bind_value(SQLite::Statement& statement, int index, const std::optional<T>& value) {
    if (value)
        bind_value(statement, index, *value);
    else
        statement.bind(index);
}
/// Binds the values in their order; an optional without one is NULL. A text is copied.
template <typename... Values>
void bind_all(SQLite::Statement& statement, const Values&... values) {
    int index = 0;
    (bind_value(statement, ++index, values), ...);
}
/// Executes a statement without rows with these values; it can be run again.
template <typename... Values>
void run(SQLite::Statement& statement, const Values&... values) {
    bind_all(statement, values...);
    statement.exec();
    statement.reset();
}

/// A writer's transaction: BEGIN IMMEDIATE, so that a reader that turns writer never finds its snapshot overtaken.
/// `work` returns a Result<void>; on an error, or when SQLite throws, nothing of it stays. A database that stays locked
/// over the busy timeout is tried again, `tries` times in all, and then is "unavailable".
template <typename Work>
[[nodiscard]] Result<void> in_transaction(SQLite::Database& db, const std::string& path, Work&& work, int tries = 3) {
    for (;;) {
        auto done = database_guard(path, [&]() -> Result<void> {
            SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
            auto result = work();
            if (result) transaction.commit();
            return result;
        });
        if (done || done.error().code != "unavailable" || --tries <= 0) return done;
    }
}

}  // namespace accord
