// SPDX-License-Identifier: GPL-2.0-or-later
// accord count-gpus: how many GPUs a request counts as (R4), and why.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "command.hpp"
#include "count_options.hpp"
#include "policy/count.hpp"
#include "policy/governed.hpp"
#include "slurm_access.hpp"
#include "store/ledger_file.hpp"
#include "store/store_paths.hpp"
#include "table.hpp"

namespace accord {

namespace {

struct Options {
    CountOptions request;
    std::string partition;
    bool json = false;
};

/// The cluster's shape: slurmctld's own, else that of accordd's last snapshot; else empty, and the count is an upper
/// bound.
ClusterShape shape_now(const Config& config) {
    if (const auto cluster = slurm_if_there())
        if (auto shape = cluster->shape()) return std::move(*shape);
    if (auto base = read_ledger(StorePaths(config.store_dir).ledger)) return std::move(base->shape);
    return {};
}

Result<const PoolConfig*> pool_for(const Config& config, const ClusterShape& shape, const std::string& partition) {
    const auto named = partition.empty() ? shape.default_partition.value_or("") : partition;
    if (const auto place = place_of(config, named)) return place.pool;
    if (partition.empty() && config.pools.size() == 1) return &config.pools.front();
    std::string pools;
    for (const auto& pool : config.pools) pools += (pools.empty() ? "" : ", ") + pool.partition;
    return fail("usage", fmt::format("--partition {}: expected a pool's partition: {}", partition.empty() ? "(none)" : partition,
                                     pools.empty() ? "accord.toml has no pool" : pools));
}

std::string interval_text(const std::string& type, const GpuInterval& interval) {
    const auto count = interval.min == interval.max ? fmt::format("{}", interval.max)
                                                    : fmt::format("{} to {}", interval.min, interval.max);
    return count + " " + (type.empty() ? "GPUs of no type" : type);
}

void print_json(const GpuCount& count, const PoolConfig& pool, std::int64_t tasks_at_once) {
    std::string because;
    for (const auto& step : count.steps) because += (because.empty() ? "" : "; ") + step;
    Table table({"pool", "gpu_type", "gpus_min", "gpus_max", "exact", "tasks_at_once", "because"});
    for (const auto& [type, interval] : count.gpus)
        table.add({pool.partition, type, interval.min, interval.max, count.exact, tasks_at_once, because});
    if (count.gpus.empty()) table.add({pool.partition, "", 0, 0, count.exact, tasks_at_once, because});
    table.print(true);
}

void print_text(const GpuCount& count, const PoolConfig& pool, const std::optional<ArraySpec>& array) {
    std::string gpus;
    for (const auto& [type, interval] : count.gpus)
        gpus += (gpus.empty() ? "" : " + ") + interval_text(type, interval);
    fmt::print("{}{} in pool {}{}\n", gpus.empty() ? "no GPU" : gpus, array ? " a task" : "", pool.partition,
               count.exact ? "" : ", counted high");
    for (const auto& step : count.steps) fmt::print("  {}\n", step);
    if (array)
        fmt::print("  {} tasks, {} at once: the array claims up to {}\n", array->tasks, array->concurrent(),
                   describe(times(maxima(count.gpus), array->concurrent())));
}

int count(const Options& options) {
    const auto misuse = [](const Error& error) {
        complain(error);
        return wrong_usage;
    };
    const auto ask = gpu_ask(options.request);
    if (!ask) return misuse(ask.error());
    std::optional<ArraySpec> array;
    if (options.request.array) {
        array = parse_array(*options.request.array);
        if (!array) return misuse({"usage", fmt::format("--array {}: expected indices such as 0-9%4", *options.request.array), {}});
    }
    const auto config = site_config();
    if (!config) return complain(config.error());
    const auto shape = shape_now(*config);
    const auto pool = pool_for(*config, shape, options.partition);
    if (!pool) return misuse(pool.error());
    auto counted = count_gpus(*ask, shape.partition((*pool)->partition), **pool);
    settle_types(counted.gpus, **pool);
    if (options.json)
        print_json(counted, **pool, array ? array->concurrent() : 1);
    else
        print_text(counted, **pool, array);
    return done;
}

}  // namespace

void add_count_gpus(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("count-gpus", "How many GPUs a request with sbatch's options counts as, and why");
    const auto options = std::make_shared<Options>();
    command->add_option("-p,--partition", options->partition, "A pool's partition; the cluster's default one else");
    add_count_options(*command, options->request);
    command->add_flag("--json", options->json, "An array of flat objects, one for each GPU type");
    command->callback([options, &run] { run = [options] { return count(*options); }; });
}

}  // namespace accord
