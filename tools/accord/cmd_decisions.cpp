// SPDX-License-Identifier: GPL-2.0-or-later
// accord decisions: the record of what was asked and answered.
#include <ctime>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "command.hpp"
#include "policy/utc.hpp"
#include "report/record.hpp"
#include "store_access.hpp"
#include "sys/name_service.hpp"
#include "table.hpp"

namespace accord {

namespace {

struct Options {
    std::optional<std::string> account, partition, reason, since, id;
    std::optional<std::uint32_t> job_id;
    bool json = false;
};

Result<DecisionQuery> query_of(const Options& options, std::int64_t now_s) {
    DecisionQuery query;
    query.account = options.account;
    query.partition = options.partition;
    query.reason = options.reason;
    query.job_id = options.job_id;
    if (options.since) {
        query.since_s = time_or_span_back(*options.since, now_s);
        if (!query.since_s)
            return fail("usage", fmt::format("--since {}: expected a time such as 2026-01-01T00:00:00Z, or a span back such "
                                             "as 7d, 12h, 30m", *options.since));
    }
    if (options.id) {
        query.id = decision_id_from(*options.id);
        if (!query.id) return fail("usage", fmt::format("--id {}: expected a decision's id such as 0-17", *options.id));
    }
    return query;
}

/// Every column of the view `decision`.
void print_json(const std::vector<DecisionRow>& rows) {
    Table table({"id", "kind", "time", "mode", "user", "uid", "account", "partition", "contract", "contract_version",
                 "verdict", "class", "reason", "gpu_type", "gpus_min", "gpus_max", "job_id", "message", "prev_hash", "hash"});
    for (const auto& row : rows)
        table.add({row.id, row.kind, row.time, row.mode, row.user, row.uid, row.account, row.partition, row.contract,
                   row.contract_version, row.verdict, row.cls, row.reason, row.gpu_type, row.gpus_min, row.gpus_max,
                   value_or_null(row.job_id), row.message, row.prev_hash, row.hash});
    table.print(true);
}

std::string gpus_text(const DecisionRow& row) {
    if (row.gpus_max == 0) return "0";
    const auto count = row.gpus_min == row.gpus_max ? fmt::format("{}", row.gpus_max)
                                                    : fmt::format("{}-{}", row.gpus_min, row.gpus_max);
    return row.gpu_type.empty() ? count : count + " " + row.gpu_type;
}

/// Names by number: the plugin knows those of members alone, and records the number of anyone else.
class Users {
public:
    [[nodiscard]] std::string name(const DecisionRow& row) {
        if (row.user != fmt::format("{}", row.uid)) return row.user;
        const auto [known, fresh] = names_.try_emplace(row.user, row.user);
        if (fresh)
            if (const auto found = user_name_of(static_cast<std::uint32_t>(row.uid)); found && *found) known->second = **found;
        return known->second;
    }

private:
    std::map<std::string, std::string> names_;
};

/// What fits on a terminal.
void print_table(const std::vector<DecisionRow>& rows) {
    Table table({"id", "time", "kind", "job", "user", "account", "partition", "gpus", "verdict", "class", "reason"});
    Users users;
    for (const auto& row : rows)
        table.add({row.id, row.time, row.kind, value_or_null(row.job_id), users.name(row), text_or_null(row.account),
                   row.partition, gpus_text(row), row.mode == "observe" ? row.verdict + " (observed)" : row.verdict,
                   text_or_null(row.cls), text_or_null(row.reason)});
    table.print(false);
}

int decisions(const Options& options) {
    const auto query = query_of(options, std::time(nullptr));
    if (!query) {
        complain(query.error());
        return wrong_usage;
    }
    const auto config = site_config();
    if (!config) return complain(config.error());
    const auto paths = store_to_read(*config);
    if (!paths) return complain(paths.error());
    const auto record = Record::open(*paths);
    if (!record) return complain(record.error());
    for (const auto& warning : record->warnings()) complain(warning);
    const auto rows = record->decisions(*query);
    if (!rows) return complain(rows.error());
    if (options.json)
        print_json(*rows);
    else
        print_table(*rows);
    return done;
}

}  // namespace

void add_decisions(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("decisions", "What was asked of the cluster, and what was answered");
    const auto options = std::make_shared<Options>();
    command->add_option("--account", options->account, "Only this account's");
    command->add_option("--partition", options->partition, "Only this pool's, by its governed partition");
    command->add_option("--reason", options->reason, "Only with this reason code, such as not_member")
        ->check([](const std::string& code) {
            return reason_from(code) ? std::string() : code + ": expected a reason code, such as not_member";
        });
    command->add_option("--since", options->since, "Not before a time, or a span back: 7d, 12h, 30m");
    command->add_option("--job", options->job_id, "Only about this job");
    command->add_option("--id", options->id, "Only this decision, such as 0-17");
    command->add_flag("--json", options->json, "An array of flat objects, with every column of the view");
    command->callback([options, &run] { run = [options] { return decisions(*options); }; });
}

}  // namespace accord
