// SPDX-License-Identifier: GPL-2.0-or-later
// accord audit: whether the records are still what was written.
#include <ctime>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "command.hpp"
#include "store/audit.hpp"
#include "store_access.hpp"
#include "table.hpp"

namespace accord {

namespace {

struct Options {
    std::optional<std::string> head;
    bool json = false;
};

Result<StorePaths> paths_to_read() {
    const auto config = site_config();
    if (!config) return tl::unexpected<Error>(config.error());
    return store_to_read(*config);
}

std::string joined(const std::vector<std::string>& notes) {
    std::string text;
    for (const auto& note : notes) text += (text.empty() ? "" : "; ") + note;
    return text;
}

void print_reports(const std::vector<ChainReport>& reports, bool json) {
    Table table({"chain", "records", "first", "last", "state", "record", "detail"});
    for (const auto& report : reports)
        table.add({report.chain, report.records, text_or_null(report.first), text_or_null(report.last),
                   report.fault ? to_string(report.fault->kind) : "consistent",
                   text_or_null(report.fault ? report.fault->record : ""),
                   text_or_null(report.fault ? report.fault->what : joined(report.notes))});
    table.print(json);
}

int verify(const Options& options) {
    std::vector<ChainHead> heads;
    if (options.head) {
        auto read = heads_from(*options.head);
        if (!read) {
            complain(read.error());
            return wrong_usage;
        }
        heads = std::move(*read);
    }
    const auto paths = paths_to_read();
    if (!paths) return complain(paths.error());
    const auto reports = verify_chains(*paths, heads);
    if (!reports) return complain(reports.error());
    print_reports(*reports, options.json);
    for (const auto& report : *reports)
        if (report.fault)
            complain(fmt::format("{}: {}: {}", report.chain, to_string(report.fault->kind), report.fault->what));
    const bool faultless = std::none_of(reports->begin(), reports->end(), [](const auto& report) { return report.fault; });
    if (!faultless) return refused;
    if (!options.json)
        fmt::print("{}\n", heads.empty() ? "consistent, not proven complete: only heads kept elsewhere show that no end is "
                                           "missing (--head)"
                                         : "consistent, and complete up to the heads given");
    return done;
}

int head() {
    const auto paths = paths_to_read();
    if (!paths) return complain(paths.error());
    const auto heads = chain_heads(*paths);
    if (!heads) return complain(heads.error());
    fmt::print("{}\n", heads_line(*heads, std::time(nullptr)));
    return done;
}

}  // namespace

void add_audit(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("audit", "Evidence: whether the records are still what was written");
    command->require_subcommand(1);
    const auto options = std::make_shared<Options>();
    auto* check = command->add_subcommand("verify", "Recompute every chain and name the first bad record of each");
    check->add_option("--head", options->head, "A line that \"accord audit head\" printed earlier, kept elsewhere");
    check->add_flag("--json", options->json, "An array of flat objects");
    check->callback([options, &run] { run = [options] { return verify(*options); }; });
    auto* print = command->add_subcommand("head", "The heads of all chains, on one line");
    print->callback([&run] { run = [] { return head(); }; });
}

}  // namespace accord
