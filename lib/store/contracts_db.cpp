// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/contracts_db.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/utc.hpp"
#include "store/contract_json.hpp"
#include "store/hash.hpp"
#include "store/json_text.hpp"
#include "store/contracts_schema.hpp"
#include "store/sqlite.hpp"

namespace accord {

namespace {

std::string uids_text(const std::vector<std::uint32_t>& uids) { return fmt::format("[{}]", fmt::join(uids, ",")); }

/// Reads what uids_text() wrote.
std::vector<std::uint32_t> uids_from(std::string_view text) {
    std::vector<std::uint32_t> uids;
    const auto* end = text.data() + text.size();
    for (const auto* at = text.data() + 1; at < end;) {
        std::uint32_t uid = 0;
        const auto [stop, failed] = std::from_chars(at, end, uid);
        if (failed != std::errc()) break;
        uids.push_back(uid);
        at = stop + 1;
    }
    return uids;
}

std::int64_t number_of(const SQLite::Column& column) { return column.getInt64(); }

StoredContract read_head(SQLite::Statement& row) {
    StoredContract stored;
    stored.key = row.getColumn(0).getString();
    stored.version = static_cast<std::uint32_t>(number_of(row.getColumn(1)));
    if (!row.isColumnNull(2)) stored.proposed_version = static_cast<std::uint32_t>(number_of(row.getColumn(2)));
    stored.state = contract_state_from(row.getColumn(3).getString()).value_or(ContractState::suspended);
    stored.changed_s = utc_from(row.getColumn(4).getString()).value_or(0);
    stored.member_uids = uids_from(row.getColumn(5).getText());
    stored.hash = row.getColumn(6).getString();
    return stored;
}

/// Gives stored contracts their models: the known ones, and what is new from the database.
class Models {
public:
    Models(const SQLite::Database& db, const std::vector<StoredContract>& known)
        : select_(db, "SELECT model FROM contract_version WHERE key = ? AND version = ?") {
        known_.reserve(known.size());
        for (const auto& one : known) known_.emplace(one.key, &one);
    }

    Result<std::shared_ptr<const Contract>> of(const StoredContract& stored) {
        const auto found = known_.find(stored.key);
        if (found != known_.end() && found->second->version == stored.version && found->second->hash == stored.hash)
            return found->second->contract;
        bind_all(select_, stored.key, stored.version);
        if (!select_.executeStep()) return fail("invalid", stored.key + ": its version is missing in the store");
        auto contract = contract_from_json(select_.getColumn(0).getText());
        select_.reset();
        if (!contract) return tl::unexpected<Error>(contract.error());
        return std::make_shared<const Contract>(std::move(*contract));
    }

private:
    SQLite::Statement select_;
    std::unordered_map<std::string_view, const StoredContract*> known_;
};

std::int64_t read_generation(const SQLite::Database& db) {
    SQLite::Statement select(db, "SELECT number FROM generation");
    return select.executeStep() ? number_of(select.getColumn(0)) : 0;
}

void read_users(const SQLite::Database& db, ContractsSnapshot& snapshot) {
    SQLite::Statement select(db, "SELECT uid, name, exempt FROM user ORDER BY uid");
    while (select.executeStep()) {
        const auto uid = static_cast<std::uint32_t>(number_of(select.getColumn(0)));
        snapshot.user_names.emplace_hint(snapshot.user_names.end(), uid, select.getColumn(1).getString());
        if (number_of(select.getColumn(2)) != 0) snapshot.exempt_uids.push_back(uid);
    }
}

Result<ContractsSnapshot> read_all(const SQLite::Database& db, const std::vector<StoredContract>& known) {
    ContractsSnapshot snapshot;
    snapshot.data_version = read_generation(db);
    SQLite::Statement heads(db,
                            "SELECT key, version, proposed_version, state, changed, members, hash "
                            "FROM contract_head JOIN contract_version USING (key, version) ORDER BY key");
    Models models(db, known);
    while (heads.executeStep()) {
        auto stored = read_head(heads);
        auto contract = models.of(stored);
        if (!contract) return tl::unexpected<Error>(contract.error());
        stored.contract = std::move(*contract);
        snapshot.contracts.push_back(std::move(stored));
    }
    read_users(db, snapshot);
    return snapshot;
}

ContractEvent read_event(SQLite::Statement& row) {
    ContractEvent event;
    event.id = number_of(row.getColumn(0));
    event.contract = row.getColumn(1).getString();
    event.version = static_cast<std::uint32_t>(number_of(row.getColumn(2)));
    event.time_s = utc_from(row.getColumn(3).getString()).value_or(0);
    event.event = row.getColumn(4).getString();
    event.uid = static_cast<std::uint32_t>(number_of(row.getColumn(5)));
    event.login_uid = static_cast<std::uint32_t>(number_of(row.getColumn(6)));
    event.who = row.getColumn(7).getString();
    event.why = row.getColumn(8).getString();
    event.contract_hash = row.getColumn(9).getString();
    event.detail = row.getColumn(10).getString();
    event.prev_hash = row.getColumn(11).getString();
    event.hash = row.getColumn(12).getString();
    return event;
}

/// One writer's transaction: what it writes, with the events that say so.
class Changes {
public:
    Changes(SQLite::Database& db, const Actor& actor, std::int64_t now_s) : db_(db), actor_(actor), now_s_(now_s) {
        SQLite::Statement last(db, "SELECT id, hash FROM event_record ORDER BY id DESC LIMIT 1");
        const bool some = last.executeStep();
        last_id_ = some ? number_of(last.getColumn(0)) : 0;
        last_hash_ = some ? last.getColumn(1).getString() : std::string(no_hash);
    }

    void apply(const ContractChange& change, const ContractFile& file, const StoredContract* before) {
        const auto hash = blake2b_hex(file.text);
        const bool new_version = change.kind != ContractChange::Kind::activated;
        if (new_version) {
            SQLite::Statement insert(db_,
                                     "INSERT INTO contract_version (key, version, hash, recorded, model, text) "
                                     "VALUES (?,?,?,?,?,?)");
            run(insert, change.key, change.version, hash, utc_text(now_s_), to_json(file.contract), file.text);
            event(change.key, change.version, "proposed", hash, file.path);
        }
        write_head(change, before);
        if (change.state == ContractState::active)
            event(change.key, change.version,
                  before && before->state == ContractState::active ? "replaced" : "activated", hash, file.path);
    }

    void members(const StoredContract& stored, const std::vector<std::uint32_t>& uids, const std::string& detail) {
        SQLite::Statement update(db_, "UPDATE contract_head SET members = ?, changed = ? WHERE key = ?");
        run(update, uids_text(uids), utc_text(now_s_), stored.key);
        event(stored.key, stored.version, "members", stored.hash, detail);
    }

    void users(const std::map<std::uint32_t, std::string>& names, const std::vector<std::uint32_t>& exempt) {
        db_.exec("DELETE FROM user");
        SQLite::Statement insert(db_, "INSERT INTO user (uid, name, exempt) VALUES (?,?,?)");
        for (const auto& [uid, name] : names)
            run(insert, uid, name, std::binary_search(exempt.begin(), exempt.end(), uid) ? 1 : 0);
    }

    void count() { db_.exec("UPDATE generation SET number = number + 1"); }

private:
    /// A version that is only proposed leaves the one in force where it is.
    void write_head(const ContractChange& change, const StoredContract* before) {
        if (before && change.state == ContractState::proposed && before->state != ContractState::proposed) {
            SQLite::Statement update(db_, "UPDATE contract_head SET proposed_version = ?, changed = ? WHERE key = ?");
            return run(update, change.version, utc_text(now_s_), change.key);
        }
        SQLite::Statement write(
            db_,
            "INSERT INTO contract_head (key, version, proposed_version, state, changed, members) "
            "VALUES (?,?,NULL,?,?,'[]') ON CONFLICT (key) DO UPDATE SET version = excluded.version, "
            "proposed_version = NULL, state = excluded.state, changed = excluded.changed");
        run(write, change.key, change.version, std::string(to_string(change.state)), utc_text(now_s_));
    }

    void event(const std::string& key, std::uint32_t version, const char* what, const std::string& contract_hash,
               const std::string& detail) {
        ContractEvent event;
        event.id = ++last_id_;
        event.contract = key;
        event.version = version;
        event.time_s = now_s_;
        event.event = what;
        event.uid = actor_.uid;
        event.login_uid = actor_.login_uid;
        event.who = actor_.name;
        event.contract_hash = contract_hash;
        event.detail = detail;
        event.prev_hash = last_hash_;
        last_hash_ = hash_of(event);
        SQLite::Statement insert(db_,
                                 "INSERT INTO event_record (id, contract, version, time, event, uid, login_uid, who, "
                                 "why, contract_hash, detail, prev_hash, hash) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
        run(insert, event.id, key, version, utc_text(now_s_), event.event, event.uid, event.login_uid, event.who,
            event.why, contract_hash, detail, event.prev_hash, last_hash_);
    }

    SQLite::Database& db_;
    const Actor& actor_;
    std::int64_t now_s_;
    std::int64_t last_id_ = 0;
    std::string last_hash_;
};

/// "added 1001 (vision1); removed 1002".
std::string members_detail(const std::vector<std::uint32_t>& before, const std::vector<std::uint32_t>& after,
                           const std::map<std::uint32_t, std::string>& names) {
    const auto list = [&](const char* verb, const std::vector<std::uint32_t>& from,
                          const std::vector<std::uint32_t>& without) {
        std::vector<std::string> found;
        for (const auto uid : from) {
            if (std::binary_search(without.begin(), without.end(), uid)) continue;
            const auto name = names.find(uid);
            found.push_back(name == names.end() ? fmt::format("{}", uid) : fmt::format("{} ({})", uid, name->second));
        }
        return found.empty() ? std::string() : fmt::format("{} {}", verb, fmt::join(found, ", "));
    };
    const auto added = list("added", after, before), removed = list("removed", before, after);
    return added + (added.empty() || removed.empty() ? "" : "; ") + removed;
}

/// Names and exempt users to be kept: what was found, and what was known before where not all could be asked.
std::pair<std::map<std::uint32_t, std::string>, std::vector<std::uint32_t>> people_after(
    const ContractsSnapshot& stored, const ResolvedMembers& members) {
    auto names = members.names;
    auto exempt = members.exempt_uids;
    if (!members.complete) {
        names.insert(stored.user_names.begin(), stored.user_names.end());
        exempt.insert(exempt.end(), stored.exempt_uids.begin(), stored.exempt_uids.end());
        std::sort(exempt.begin(), exempt.end());
        exempt.erase(std::unique(exempt.begin(), exempt.end()), exempt.end());
    }
    return {std::move(names), std::move(exempt)};
}

/// R10, over what would then be in force.
Result<void> check_guarantees(const Config& config, const std::vector<StoredContract>& stored,
                              const std::vector<ContractChange>& changes, const std::vector<ContractFile>& files) {
    std::map<std::string, PolicyContract> then;
    for (const auto& one : stored) then[one.key] = {one.contract, one.version, one.state, {}, {}};
    for (std::size_t i = 0; i < files.size(); ++i)
        if (changes[i].state == ContractState::active)
            then[changes[i].key] = {
                std::make_shared<const Contract>(files[i].contract), changes[i].version, ContractState::active, {}, {}};
    std::vector<PolicyContract> contracts;
    for (auto& [key, contract] : then) contracts.push_back(std::move(contract));
    const auto breaches = guarantee_breaches(config, contracts);
    return breaches.empty() ? Result<void>() : fail("invalid", breaches.front());
}

}  // namespace

struct ContractsDb::State {
    std::string path;
    SQLite::Database db;
};

ContractsDb::ContractsDb(std::unique_ptr<State> state) : state_(std::move(state)) {}
ContractsDb::ContractsDb(ContractsDb&&) noexcept = default;
ContractsDb& ContractsDb::operator=(ContractsDb&&) noexcept = default;
ContractsDb::~ContractsDb() = default;

std::string hash_of(const ContractEvent& event) {
    fmt::memory_buffer text;
    JsonObject object(text);
    object.value("v", 1);
    object.value("id", event.id);
    object.string("contract", event.contract);
    object.value("version", event.version);
    object.string("time", utc_text(event.time_s));
    object.string("event", event.event);
    object.value("uid", event.uid);
    object.value("login_uid", event.login_uid);
    object.string("who", event.who);
    object.string("why", event.why);
    object.string("contract_hash", event.contract_hash);
    object.string("detail", event.detail);
    object.string("prev_hash", event.prev_hash);
    object.end();
    return blake2b_hex({text.data(), text.size()});
}

Result<ContractsDb> ContractsDb::open(const std::string& path, Open how) {
    DbSchema wanted = contracts_schema::schema;
    if (how == Open::read_only_at_once) wanted.read_timeout_ms = 0;
    auto db = open_database(path, how == Open::read_write ? DbOpen::read_write : DbOpen::read_only, wanted);
    if (!db) return tl::unexpected<Error>(db.error());
    return ContractsDb(std::unique_ptr<State>(new State{path, std::move(*db)}));
}

Result<std::int64_t> ContractsDb::data_version() const {
    return database_guard(state_->path, [&]() -> Result<std::int64_t> { return read_generation(state_->db); });
}

Result<ContractsSnapshot> ContractsDb::snapshot(const std::vector<StoredContract>& known) const {
    return database_guard(state_->path, [&]() -> Result<ContractsSnapshot> {
        SQLite::Transaction one_instant(state_->db);
        return read_all(state_->db, known);
    });
}

Result<std::optional<std::string>> ContractsDb::text(const std::string& key, std::uint32_t version) const {
    return database_guard(state_->path, [&]() -> Result<std::optional<std::string>> {
        SQLite::Statement select(state_->db, "SELECT text FROM contract_version WHERE key = ? AND version = ?");
        bind_all(select, key, version);
        if (!select.executeStep()) return std::nullopt;
        return select.getColumn(0).getString();
    });
}

Result<std::vector<ContractEvent>> ContractsDb::events(const std::optional<std::string>& key) const {
    return database_guard(state_->path, [&]() -> Result<std::vector<ContractEvent>> {
        SQLite::Statement select(state_->db,
                                 "SELECT id, contract, version, time, event, uid, login_uid, who, why, "
                                 "contract_hash, detail, prev_hash, hash FROM event_record "
                                 "WHERE ?1 IS NULL OR contract = ?1 ORDER BY id");
        bind_all(select, key);
        std::vector<ContractEvent> events;
        while (select.executeStep()) events.push_back(read_event(select));
        return events;
    });
}

Result<std::vector<ContractChange>> ContractsDb::apply(const std::vector<ContractFile>& files, const Config& config,
                                                       const Actor& actor, std::int64_t now_s) {
    std::vector<ContractChange> changes;
    const auto applied = in_transaction(state_->db, state_->path, [&]() -> Result<void> {
        const auto stored = read_all(state_->db, {});
        if (!stored) return tl::unexpected<Error>(stored.error());
        changes = changes_of(stored->contracts, files, config.governance);
        const auto within = check_guarantees(config, stored->contracts, changes, files);
        if (!within) return within;
        Changes writer(state_->db, actor, now_s);
        bool any = false;
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (changes[i].kind == ContractChange::Kind::unchanged) continue;
            writer.apply(changes[i], files[i], contract_in(stored->contracts, changes[i].key));
            any = true;
        }
        if (any) writer.count();
        return {};
    });
    if (!applied) return tl::unexpected<Error>(applied.error());
    return changes;
}

Result<bool> ContractsDb::set_members(const ResolvedMembers& members, const Actor& actor, std::int64_t now_s) {
    bool any = false;
    const auto written = in_transaction(state_->db, state_->path, [&]() -> Result<void> {
        const auto stored = read_all(state_->db, {});
        if (!stored) return tl::unexpected<Error>(stored.error());
        if (members.of_version && *members.of_version != stored->data_version) return {};
        Changes writer(state_->db, actor, now_s);
        for (const auto& [key, uids] : members.uids_by_contract) {
            const auto* before = contract_in(stored->contracts, key);
            if (!before || before->member_uids == uids) continue;
            writer.members(*before, uids, members_detail(before->member_uids, uids, members.names));
            any = true;
        }
        auto [names, exempt] = people_after(*stored, members);
        if (stored->user_names != names || stored->exempt_uids != exempt) {
            writer.users(names, exempt);
            any = true;
        }
        if (any) writer.count();
        return {};
    });
    if (!written) return tl::unexpected<Error>(written.error());
    return any;
}

Result<std::shared_ptr<const Policy>> load_policy(const Config& config, const ContractsDb& db,
                                                  std::vector<StoredContract>& known) {
    auto snapshot = db.snapshot(known);
    if (!snapshot) return tl::unexpected<Error>(snapshot.error());
    std::vector<PolicyContract> contracts;
    contracts.reserve(snapshot->contracts.size());
    for (const auto& one : snapshot->contracts)
        contracts.push_back({one.contract, one.version, one.state, one.member_uids, one.hash});
    known = std::move(snapshot->contracts);
    return std::make_shared<const Policy>(config, std::move(contracts), std::move(snapshot->user_names),
                                          std::move(snapshot->exempt_uids));
}

}  // namespace accord
