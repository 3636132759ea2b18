// SPDX-License-Identifier: GPL-2.0-or-later
// accord contract: what the store holds.
#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "command.hpp"
#include "contract_text.hpp"
#include "policy/utc.hpp"
#include "store/contracts_db.hpp"
#include "store/ledger_file.hpp"
#include "store/store_paths.hpp"
#include "sys/name_service.hpp"
#include "store_access.hpp"
#include "table.hpp"

namespace accord {

namespace {

struct Options {
    std::string contract;
    std::optional<std::uint32_t> version;
    bool json = false;
};

struct Store {
    std::optional<ContractsDb> db;  ///< nothing: nothing was ever applied
    ContractsSnapshot snapshot;
    std::string ledger;  ///< the path of accordd's file
};

Result<Store> open_store() {
    const auto config = site_config();
    if (!config) return tl::unexpected<Error>(config.error());
    const auto paths = store_to_read(*config);
    if (!paths) return tl::unexpected<Error>(paths.error());
    struct stat about {};
    if (::stat(paths->contracts_db.c_str(), &about) != 0 && errno == ENOENT) return Store();
    auto db = ContractsDb::open(paths->contracts_db, ContractsDb::Open::read_only);
    if (!db) return tl::unexpected<Error>(db.error());
    auto snapshot = db->snapshot();
    if (!snapshot) return tl::unexpected<Error>(snapshot.error());
    return Store{std::move(*db), std::move(*snapshot), paths->ledger};
}

/// By its key, or by its account alone where that has one contract.
Result<const StoredContract*> find(const Store& store, const std::string& name) {
    std::vector<const StoredContract*> of_account;
    for (const auto& one : store.snapshot.contracts) {
        if (one.key == name) return &one;
        if (one.contract->account == name) of_account.push_back(&one);
    }
    if (of_account.size() == 1) return of_account.front();
    if (of_account.empty()) return fail("invalid", fmt::format("there is no contract {}", name));
    return fail("invalid", fmt::format("account {} has several contracts: name one as ACCOUNT/PARTITION", name));
}

/// "1", or "1 (2 proposed)".
std::string versions_of(const StoredContract& stored) {
    const auto version = fmt::format("{}", stored.version);
    return stored.proposed_version ? fmt::format("{} ({} proposed)", version, *stored.proposed_version) : version;
}

int list(const Options& options) {
    const auto store = open_store();
    if (!store) return complain(store.error());
    Table table(options.json ? std::vector<std::string>{"contract", "state", "version", "proposed_version", "guaranteed",
                                                        "borrow_limit", "members", "valid_from", "valid_until",
                                                        "operations_owner"}
                             : std::vector<std::string>{"contract", "state", "version", "guaranteed", "borrow", "members",
                                                        "valid_from", "valid_until", "operations"});
    for (const auto& one : store->snapshot.contracts) {
        std::vector<Cell> cells{one.key, to_string(one.state)};
        if (options.json)
            cells.insert(cells.end(), {one.version, value_or_null(one.proposed_version)});
        else
            cells.emplace_back(versions_of(one));
        cells.insert(cells.end(), {guarantee_of(*one.contract), borrow_limit_of(*one.contract), one.member_uids.size(),
                                   utc_text(one.contract->valid_from_s), utc_text(one.contract->valid_until_s),
                                   one.contract->owners.operations});
        table.add(std::move(cells));
    }
    table.print(options.json);
    return done;
}

/// "vision1, vision2": as they were last resolved.
std::string member_names(const StoredContract& stored, const ContractsSnapshot& snapshot) {
    std::string names;
    for (const auto uid : stored.member_uids) {
        const auto name = snapshot.user_names.find(uid);
        names += (names.empty() ? "" : ", ") +
                 (name == snapshot.user_names.end() ? fmt::format("{}", uid) : name->second);
    }
    return names;
}

/// What accordd has metered of budgets; nothing where it has not yet.
struct Metered {
    BudgetUses uses;
    std::int64_t until_s = 0;
};
Metered metered_by(const std::string& ledger) {
    struct stat about {};
    if (::stat(ledger.c_str(), &about) != 0 && errno == ENOENT) return {};
    auto base = read_ledger(ledger);
    if (base) return {std::move(base->budgets), base->metered_s};
    complain(base.error());
    return {};
}

void print_contract(const Options& options, const Store& store, const StoredContract& stored, std::uint32_t version,
                    const std::string& text) {
    const bool in_force = version == stored.version;
    const std::string state = in_force                             ? to_string(stored.state)
                              : version == stored.proposed_version ? "proposed"
                                                                   : "replaced";
    const auto members = member_names(stored, store.snapshot);
    const auto* budgeted = in_force && stored.contract->budget ? stored.contract.get() : nullptr;
    const auto metered = budgeted != nullptr ? metered_by(store.ledger) : Metered();
    std::optional<BudgetStanding> budget;
    if (budgeted != nullptr) budget = standing_of(*budgeted, metered.uses, std::time(nullptr));
    if (options.json) {
        std::vector<std::string> columns{"contract", "version", "state", "changed", "members", "text"};
        std::vector<Cell> cells{stored.key, version, state, utc_text(stored.changed_s), members, text};
        const auto more = budget_columns();
        const auto budget_values = budget_cells(budgeted, budget);
        columns.insert(columns.end(), more.begin(), more.end());
        cells.insert(cells.end(), budget_values.begin(), budget_values.end());
        Table table(std::move(columns));
        table.add(std::move(cells));
        return table.print(true);
    }
    fmt::print("# {}, version {}, {}, changed {}\n# members: {}\n", stored.key, version, state,
               utc_text(stored.changed_s), members.empty() ? "none" : members);
    if (budget) fmt::print("# budget: {}\n", budget_line(*budgeted, *budget, metered.until_s));
    fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
}

int show(const Options& options) {
    const auto store = open_store();
    if (!store) return complain(store.error());
    const auto stored = find(*store, options.contract);
    if (!stored) return complain(stored.error());
    const auto version = options.version.value_or((*stored)->version);
    const auto text = store->db->text((*stored)->key, version);
    if (!text) return complain(text.error());
    if (!*text) return complain(fmt::format("contract {} has no version {}", (*stored)->key, version));
    print_contract(options, *store, **stored, version, **text);
    return done;
}

/// Who did it, and who had logged in for that.
std::string author_of(const ContractEvent& event) {
    if (event.login_uid == event.uid) return event.who;
    const auto name = user_name_of(event.login_uid);
    return fmt::format("{} (login {})", event.who, name ? name->value_or(std::to_string(event.login_uid))
                                                        : std::to_string(event.login_uid));
}

/// What fits on a terminal.
int print_history(const std::vector<ContractEvent>& events) {
    constexpr std::size_t hash_digits = 12;
    Table table({"time", "event", "version", "who", "text_hash", "detail"});
    for (const auto& event : events)
        table.add({utc_text(event.time_s), event.event, event.version, author_of(event),
                   event.contract_hash.substr(0, hash_digits), text_or_null(event.detail)});
    table.print(false);
    return done;
}

int history(const Options& options) {
    const auto store = open_store();
    if (!store) return complain(store.error());
    const auto stored = find(*store, options.contract);
    if (!stored) return complain(stored.error());
    const auto events = store->db->events((*stored)->key);
    if (!events) return complain(events.error());
    if (!options.json) return print_history(*events);
    Table table({"id", "time", "event", "version", "who", "uid", "login_uid", "why", "detail", "contract_hash"});
    for (const auto& event : *events)
        table.add({event.id, utc_text(event.time_s), event.event, event.version, event.who, event.uid, event.login_uid,
                   text_or_null(event.why), event.detail, event.contract_hash});
    table.print(options.json);
    return done;
}

CLI::App* add_view(CLI::App& parent, Run& run, const char* name, const char* what, int (*view)(const Options&),
                   bool named) {
    auto* command = parent.add_subcommand(name, what);
    const auto options = std::make_shared<Options>();
    if (named)
        command->add_option("CONTRACT", options->contract, "ACCOUNT/PARTITION, or the account of one contract")
            ->required();
    if (view == show) command->add_option("--version", options->version, "Another version than the one in force");
    command->add_flag("--json", options->json, "An array of flat objects");
    command->callback([options, view, &run] { run = [options, view] { return view(*options); }; });
    return command;
}

}  // namespace

void add_contract(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("contract", "The contracts in the store");
    command->require_subcommand(1);
    add_view(*command, run, "list", "Every contract, with its state", list, false);
    add_view(*command, run, "show", "A contract's text as it was applied", show, true);
    add_view(*command, run, "history", "Who changed a contract, when and how", history, true);
}

}  // namespace accord
