// SPDX-License-Identifier: GPL-2.0-or-later
// accord status: guarantees, claims, headroom, excess, loans and queues.
#include <algorithm>
#include <ctime>
#include <memory>

#include <fmt/format.h>

#include "command.hpp"
#include "contract_text.hpp"
#include "policy/utc.hpp"
#include "report/status.hpp"
#include "site_now.hpp"
#include "table.hpp"

namespace accord {

namespace {

struct Options {
    std::string pool;
    bool json = false;
};

const Contract* terms_of(const SiteNow& site, const std::string& key) {
    const auto found = std::find_if(site.contracts.begin(), site.contracts.end(),
                                    [&](const auto& one) { return one.contract->key() == key; });
    return found == site.contracts.end() ? nullptr : found->contract.get();
}

void print_rows(const SiteNow& site, const std::vector<StatusRow>& rows, bool json) {
    std::vector<std::string> columns{"contract", "pool", "state", "gpu_type", "guaranteed", "claimed", "headroom", "borrowed",
                                     "excess", "in_use", "lent", "lendable", "queued_jobs"};
    const auto more = budget_columns();
    if (json) columns.insert(columns.end(), more.begin(), more.end());
    Table table(std::move(columns));
    for (const auto& row : rows) {
        std::vector<Cell> cells{row.contract, row.pool, row.state, row.gpu_type, row.guaranteed, row.claimed, row.headroom,
                                row.borrowed, row.excess, row.in_use, row.lent, row.lendable, row.queued_jobs};
        const auto budget = budget_cells(terms_of(site, row.contract), row.budget);
        if (json) cells.insert(cells.end(), budget.begin(), budget.end());
        table.add(std::move(cells));
    }
    table.print(json);
}

/// One line for each contract that has a budget, however many GPU types it has.
void print_budgets(const SiteNow& site, const std::vector<StatusRow>& rows) {
    const StatusRow* last = nullptr;
    for (const auto& row : rows) {
        if (!row.budget || (last != nullptr && last->contract == row.contract)) continue;
        last = &row;
        fmt::print("budget of {}: {}\n", row.contract,
                   budget_line(*terms_of(site, row.contract), *row.budget, site.now.ledger.base().metered_s));
    }
}

void print_pool(const PoolStatus& pool) {
    const auto unavailable = pool.capacity > pool.available
                                 ? fmt::format(" ({} of them on nodes that are down or draining)", pool.capacity - pool.available)
                                 : "";
    const auto limit = pool.available < pool.guaranteed
                           ? fmt::format("; {} fewer are there than are guaranteed, so that nothing new is lent",
                                         pool.guaranteed - pool.available)
                       : pool.borrowable ? fmt::format("; {} more may be borrowed", *pool.borrowable)
                                         : "";
    fmt::print("pool {}: {} {}{}; {} guaranteed, {} owned by no contract; {} in use, {} of them lent{}\n", pool.pool,
               pool.capacity, pool.gpu_type, unavailable, pool.guaranteed,
               std::max<Gpus>(0, pool.capacity - pool.guaranteed), pool.in_use, pool.lent, limit);
}

void print_freshness(const SiteNow& site, std::FILE* to) {
    const auto taken_s = site.now.ledger.base().taken_s;
    if (taken_s == 0)
        fmt::print(to, "no snapshot by accordd yet: the claims are those of the journal alone\n");
    else
        fmt::print(to, "claims: snapshot of {}, and {} later decision{}\n", utc_text(taken_s), site.now.ledger.tail_size(),
                   site.now.ledger.tail_size() == 1 ? "" : "s");
    const std::int64_t now_s = std::time(nullptr);
    if (!site.accordd.running)
        fmt::print(to, "accordd is not running on this host: claims are kept, but no job is promoted or released\n");
    else if (!site.accordd.well_at(now_s))
        fmt::print(to, "accordd made its last pass {} ago: it hangs, and no job is promoted or released\n",
                   span_text(now_s - site.accordd.last_pass_s.value_or(now_s)));
    if (site.config.mode == Mode::observe) fmt::print(to, "mode is observe: decisions are recorded, and change nothing\n");
}

int status(const Options& options) {
    const auto site = read_site_now();
    if (!site) return complain(site.error());
    if (!options.pool.empty() && site->config.pool_of(options.pool) == nullptr)
        return complain(fmt::format("{}: there is no such pool in accord.toml", options.pool));
    const auto running = site->record.open_intervals();
    if (!running) return complain(running.error());
    for (const auto& warning : site->now.warnings) complain(warning);
    const auto found = status_of({site->config, site->contracts, site->now, *running, std::time(nullptr), options.pool});
    print_rows(*site, found.rows, options.json);
    if (options.json) {
        if (!site->accordd.well_at(std::time(nullptr))) print_freshness(*site, stderr);
        return done;
    }
    print_budgets(*site, found.rows);
    for (const auto& pool : found.pools) print_pool(pool);
    print_freshness(*site, stdout);
    return done;
}

}  // namespace

void add_status(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("status", "Guarantees, claims, headroom, excess, loans and queued jobs");
    const auto options = std::make_shared<Options>();
    command->add_option("--pool", options->pool, "Only this pool, by its governed partition");
    command->add_flag("--json", options->json, "An array of flat objects");
    command->callback([options, &run] { run = [options] { return status(*options); }; });
}

}  // namespace accord
