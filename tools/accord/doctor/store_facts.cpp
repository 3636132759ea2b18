// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "doctor/store_controls.hpp"
#include "plugin_state.hpp"
#include "report/record.hpp"
#include "store/contracts_db.hpp"
#include "store/journal_lines.hpp"
#include "store/ledger_file.hpp"
#include "store/served.hpp"
#include "store_access.hpp"
#include "sys/filesystem.hpp"

namespace accord {
namespace {

/// What `open` says against the file, if it is there.
template <typename Open>
void look_into(const std::string& path, std::vector<FileFacts>& files, Open open) {
    auto facts = look_at_file(path);
    if (!facts.there) return;
    if (const auto opened = open(path); !opened) facts.trouble = opened.error().what;
    files.push_back(std::move(facts));
}

void look_at_files(const StorePaths& paths, StoreFacts& facts) {
    look_into(paths.contracts_db, facts.files, [](const auto& path) { return ContractsDb::open(path, ContractsDb::Open::read_only); });
    look_into(paths.decisions_db, facts.files, [](const auto& path) { return DecisionsDb::open(path, DecisionsDb::Open::read_only); });
    look_into(paths.usage_db, facts.files, [](const auto& path) { return UsageDb::open(path, UsageDb::Open::read_only); });
    look_into(paths.journal, facts.files, [](const auto& path) { return journal_controllers(path); });
    look_into(paths.ledger, facts.files, [](const auto& path) { return read_ledger(path); });
}

void look_at_journal(const StorePaths& paths, StoreFacts& facts) {
    // the plugin makes the folder if it is missing
    const auto& folder = ::access(paths.journal.c_str(), F_OK) == 0 ? paths.journal : paths.dir;
    facts.journal_writable = ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
    facts.journal_locked = plugin_holds_journal(paths);
    facts.served = read_served(paths.served);
    const auto db = ContractsDb::open(paths.contracts_db, ContractsDb::Open::read_only);
    if (const auto version = db ? db->data_version() : tl::unexpected(db.error())) facts.contracts_generation = *version;
}

void look_at_accordd(const StorePaths& paths, StoreFacts& facts) {
    const std::int64_t now_s = std::time(nullptr);
    facts.now_s = now_s;
    if (const auto state = accordd_state(paths)) facts.accordd = *state;
    if (const auto base = read_ledger(paths.ledger))
        facts.snapshot_age_s = std::max<std::int64_t>(0, now_s - base->taken_s);
    else if (::access(paths.ledger.c_str(), F_OK) == 0)
        facts.ledger_trouble = base.error().what;
    const auto record = Record::open(paths);
    if (!record) return;
    facts.not_loaded = record->not_loaded().size();
    for (const auto& one : record->not_loaded())
        facts.oldest_not_loaded_age_s = std::max(facts.oldest_not_loaded_age_s, now_s - one.decision.time_s);
}

}  // namespace

StoreFacts look_at_store(const Config& config, const std::string& slurm_user) {
    StoreFacts facts;
    facts.slurm_user = slurm_user;
    const StorePaths paths(config.store_dir);
    facts.dir = look_at_file(paths.dir);
    if (!facts.dir.there) return facts;
    if (const auto kind = network_filesystem(paths.dir)) facts.network_filesystem = *kind;
    struct statvfs space {};
    if (::statvfs(paths.dir.c_str(), &space) == 0) facts.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
    if (const auto readable = store_to_read(config); !readable) {
        facts.dir.trouble = readable.error().what;
        return facts;
    }
    look_at_files(paths, facts);
    look_at_journal(paths, facts);
    look_at_accordd(paths, facts);
    return facts;
}

}  // namespace accord
