// SPDX-License-Identifier: GPL-2.0-or-later
// accord apply: brings contract files into the store, all of them or none.
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "command.hpp"
#include "contract/flat_values.hpp"
#include "contract_input.hpp"
#include "contract_text.hpp"
#include "plugin_state.hpp"
#include "store/contracts_db.hpp"
#include "store/store_paths.hpp"
#include "store_access.hpp"
#include "table.hpp"

namespace accord {

namespace {

struct Options {
    std::vector<std::string> paths;
    bool dry_run = false;
    bool json = false;
};

/// A change with the keys that it changes.
struct Difference {
    ContractChange change;
    std::vector<ChangedValue> values;
};

const char* word_for(ContractChange::Kind kind) {
    switch (kind) {
        case ContractChange::Kind::unchanged: return "unchanged";
        case ContractChange::Kind::added: return "new";
        case ContractChange::Kind::changed: return "changed";
        case ContractChange::Kind::activated: return "activated";
    }
    return "";
}

std::vector<ContractFile> contract_files(const std::vector<JudgedContract>& judged) {
    std::vector<ContractFile> files;
    for (const auto& one : judged) files.push_back({one.report.path, one.text, *one.contract});
    return files;
}

std::vector<PolicyContract> standing_in(const ContractsSnapshot& snapshot) {
    std::vector<PolicyContract> contracts;
    for (const auto& one : snapshot.contracts)
        contracts.push_back({one.contract, one.version, one.state, one.member_uids, one.hash});
    return contracts;
}

/// A store that nothing was applied to yet need not be there for a dry run.
Result<std::optional<ContractsDb>> open_store(const std::string& path, bool dry_run) {
    struct stat about {};
    if (dry_run && ::stat(path.c_str(), &about) != 0 && errno == ENOENT) return std::nullopt;
    auto db = ContractsDb::open(path, dry_run ? ContractsDb::Open::read_only : ContractsDb::Open::read_write);
    if (!db) return tl::unexpected<Error>(db.error());
    return std::optional<ContractsDb>(std::move(*db));
}

/// The newest text of a contract: a proposed one where there is one.
Result<std::string> text_before(const std::optional<ContractsDb>& db, const ContractsSnapshot& snapshot,
                                const std::string& key) {
    const auto* stored = contract_in(snapshot.contracts, key);
    if (!stored) return "";
    const auto text = db->text(key, stored->proposed_version.value_or(stored->version));
    if (!text) return tl::unexpected<Error>(text.error());
    return text->value_or("");
}

Result<std::vector<Difference>> differences(const std::optional<ContractsDb>& db, const ContractsSnapshot& snapshot,
                                            const std::vector<ContractFile>& files, const Governance& governance) {
    const auto changes = changes_of(snapshot.contracts, files, governance);
    std::vector<Difference> found;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto before = text_before(db, snapshot, changes[i].key);
        if (!before) return tl::unexpected<Error>(before.error());
        found.push_back({changes[i], changed_values(*before, files[i].text)});
    }
    return found;
}

void print_text(const std::vector<Difference>& all, const std::vector<ContractFile>& files) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [change, values] = all[i];
        fmt::print("{}: {}, version {}, {}: {}\n", change.key, word_for(change.kind), change.version,
                   to_string(change.state), summary_of(files[i].contract));
        if (change.kind != ContractChange::Kind::changed) continue;
        for (const auto& [key, before, after] : values)
            fmt::print("    {}: {} -> {}\n", key, before.empty() ? "unset" : before, after.empty() ? "unset" : after);
    }
}

/// One object for each changed key; one without a key for a contract that has none.
void print_json(const std::vector<Difference>& all) {
    Table table({"contract", "change", "version", "state", "key", "before", "after"});
    for (const auto& [change, values] : all) {
        const auto add = [&, &change = change](const ChangedValue& value) {
            table.add({change.key, word_for(change.kind), change.version, to_string(change.state),
                       text_or_null(value.key), text_or_null(value.before), text_or_null(value.after)});
        };
        if (values.empty()) add({});
        for (const auto& value : values) add(value);
    }
    table.print(true);
}

/// A proposed version admits nobody, and this release has no command by which it would come into force.
void say_what_is_missing(const std::vector<Difference>& all) {
    const auto proposed = std::count_if(all.begin(), all.end(), [](const auto& one) {
        return one.change.state == ContractState::proposed;
    });
    if (proposed == 0) return;
    fmt::print(stderr,
               "{} proposed and not in force: accord.toml's [governance] asks for approval, which this version has no "
               "command for;\nset acknowledgements = [] and four_eyes = false there and apply the same files again\n",
               proposed == 1 ? "1 contract is" : fmt::format("{} contracts are", proposed));
}

/// Members are known at once; accordd follows them from then on.
Result<void> resolve(ContractsDb& db, const Config& config, const std::string& slurm_user, const Actor& actor,
                     std::int64_t now_s) {
    const auto snapshot = db.snapshot();
    if (!snapshot) return tl::unexpected<Error>(snapshot.error());
    std::vector<std::shared_ptr<const Contract>> contracts;
    for (const auto& one : snapshot->contracts) contracts.push_back(one.contract);
    const auto members = resolve_members(config, contracts, slurm_user);
    if (!members.complete)  // the rest was said of the files
        for (const auto& warning : members.warnings) fmt::print(stderr, "warning: {}\n", warning);
    const auto written = db.set_members(members, actor, now_s);
    if (!written) return tl::unexpected<Error>(written.error());
    return {};
}

/// The part that needs the store.
Result<void> apply_to(const Options& options, const Config& config, ContractInput& input, const Actor& actor,
                      bool& valid) {
    const std::int64_t now_s = std::time(nullptr);
    const auto slurm_user = store_owner(config);
    if (!slurm_user) return tl::unexpected<Error>(slurm_user.error());
    auto db = open_store(StorePaths(config.store_dir).contracts_db, options.dry_run);
    if (!db) return tl::unexpected<Error>(db.error());
    const auto snapshot = *db ? (*db)->snapshot() : ContractsSnapshot();
    if (!snapshot) return tl::unexpected<Error>(snapshot.error());
    judge_together(input.files, &config, standing_in(*snapshot));
    valid = input.report();
    if (!valid) return {};
    const auto files = contract_files(input.files);
    const auto found = differences(*db, *snapshot, files, config.governance);
    if (!found) return tl::unexpected<Error>(found.error());
    if (!options.dry_run) {
        const auto applied = (*db)->apply(files, config, actor, now_s);
        if (!applied) return tl::unexpected<Error>(applied.error());
        const auto resolved = resolve(**db, config, *slurm_user, actor, now_s);
        if (!resolved) return resolved;
        const auto generation = (*db)->data_version();
        if (generation && !wait_until_served(StorePaths(config.store_dir), *generation))
            fmt::print(stderr, "warning: slurmctld has not taken this up yet; until it has, jobs are judged by what was in "
                               "force before: see accord doctor\n");
    }
    options.json ? print_json(*found) : print_text(*found, files);
    std::fflush(stdout);  // before what follows on stderr, where both go to one file
    say_what_is_missing(*found);
    if (options.dry_run) fmt::print(stderr, "dry run: nothing was applied\n");
    return {};
}

int apply(const Options& options) {
    auto input = read_contracts(options.paths);
    if (!input.config && input.errors.empty()) return complain(site_config().error());
    if (!input.config) return input.report() ? done : refused;
    const auto config = *input.config;
    input.warnings.clear();  // accord validate gives those of accord.toml
    judge_on_this_machine(input.files, config, std::time(nullptr));
    const auto actor = current_actor();
    const auto owner = become_store_owner(config);
    if (!owner) return complain(owner.error());
    bool valid = true;
    const auto applied = apply_to(options, config, input, actor, valid);
    if (!applied) return complain(applied.error());
    return valid ? done : refused;
}

}  // namespace

void add_apply(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("apply", "Bring contract files into force, all of them or none");
    const auto options = std::make_shared<Options>();
    command->add_option("PATH", options->paths, "A contract file, or a folder with such files (*.toml)")->required();
    command->add_flag("--dry-run", options->dry_run, "Show what would change, and change nothing");
    command->add_flag("--json", options->json, "One object for each changed key");
    command->footer(
        "The files are judged together with the contracts in the store; one bad file stops all. A contract that is not\n"
        "among the files stays as it is. Where [governance] asks for nobody a contract is active at once, else proposed.");
    command->callback([options, &run] { run = [options] { return apply(*options); }; });
}

}  // namespace accord
