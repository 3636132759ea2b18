// SPDX-License-Identifier: GPL-2.0-or-later
// accord simulate: a trace of jobs under a set of contracts, on a model cluster.
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "command.hpp"
#include "contract/calendar.hpp"
#include "contract/config_toml.hpp"
#include "contract/read_file.hpp"
#include "contract_input.hpp"
#include "policy/utc.hpp"
#include "sim/cluster.hpp"
#include "sim/simulation.hpp"
#include "simulate_output.hpp"
#include "sys/name_service.hpp"

namespace accord {

namespace {

constexpr std::size_t largest_trace = std::size_t{2} << 30;

struct Options {
    std::string contracts, compare, config, jobs, cluster, reclaim = "live", start = "2026-01-01T00:00:00Z";
    std::int64_t nodes = 0, gpus_per_node = 0;
    bool json = false;
};

int misuse(const std::string& what) {
    complain(what);
    return wrong_usage;
}

Result<std::vector<sim::NodeGroup>> nodes_of(const Options& options) {
    if (!options.cluster.empty()) return sim::parse_cluster(options.cluster);
    return std::vector<sim::NodeGroup>{{options.nodes, options.gpus_per_node, ""}};
}

/// The settings, with the model's nodes in place of the cluster's.
Result<sim::ModelCluster> model_of(const Config& config, std::vector<sim::NodeGroup> nodes) {
    auto model = sim::model_cluster(config, std::move(nodes));
    if (!model) return model;
    for (std::size_t pool = 0; pool < config.pools.size(); ++pool)
        if (config.pools[pool].gpus != model->config.pools[pool].gpus)
            warn({"", fmt::format("pool {}: the model has {}, and accord.toml says {}", config.pools[pool].partition,
                                  describe(model->config.pools[pool].gpus), describe(config.pools[pool].gpus)), ""});
    return model;
}

/// The contracts of a folder, judged together for the model; nothing, once they are complained of, where they are not valid.
std::optional<std::vector<Contract>> contracts_in(const std::string& path, const Config& config) {
    ContractInput input;
    input.files = judge_files({path}, &config);
    judge_together(input.files, &config, {});
    if (!input.report()) return std::nullopt;
    std::vector<Contract> contracts;
    for (const auto& judged : input.files) contracts.push_back(*judged.contract);
    return contracts;
}

std::vector<std::string> members_of(const std::string& group) {
    const auto found = group_members(group);
    if (found && *found) return **found;
    warn({"", fmt::format("group {} is not known here: its members are none of the trace's users", group), ""});
    return {};
}

class Simulation {
public:
    Simulation(const Options& options, const sim::ModelCluster& model, const sim::Trace& trace, std::int64_t start_s)
        : options_(options), model_(model), trace_(trace), start_s_(start_s), calendar_(model.config.timezone, start_s) {}

    sim::Totals run(const std::vector<Contract>& contracts, sim::EventSink& sink) const {
        const auto cast = sim::cast_of(trace_, model_.config, contracts, members_of);
        const auto period_of = [this](const Budget& budget, std::int64_t now_s) {
            return calendar_.period_at(budget.period, now_s);
        };
        const auto reclaim = options_.reclaim == "static" ? sim::ReclaimMode::fixed : sim::ReclaimMode::live;
        return sim::simulate({cast.policy, model_.shape, trace_, cast.people, start_s_, reclaim, period_of}, sink);
    }

private:
    const Options& options_;
    const sim::ModelCluster& model_;
    const sim::Trace& trace_;
    std::int64_t start_s_;
    Calendar calendar_;
};

void warn_of_ungoverned(const sim::Totals& totals) {
    if (totals.ungoverned == 0) return;
    warn({"", fmt::format("{} job{} of partitions that are no pool of accord.toml {} left out", totals.ungoverned,
                          totals.ungoverned == 1 ? "" : "s", totals.ungoverned == 1 ? "is" : "are"), ""});
}

int simulate(const Options& options) {
    const auto start_s = utc_from(options.start);
    if (!start_s) return misuse(fmt::format("--start {}: expected a time such as 2026-01-01T00:00:00Z", options.start));
    auto nodes = nodes_of(options);
    if (!nodes) return misuse(nodes.error().what);
    const auto config = options.config.empty() ? site_config() : load_config(options.config);
    if (!config) return complain(config.error());
    const auto model = model_of(*config, std::move(*nodes));
    if (!model) return misuse(model.error().what);
    const auto contracts = contracts_in(options.contracts, model->config);
    const auto others = options.compare.empty() ? std::optional(std::vector<Contract>())
                                                : contracts_in(options.compare, model->config);
    if (!contracts || !others) return refused;
    auto text = read_text_file(options.jobs, Links::follow, largest_trace);
    if (!text) return complain(text.error());
    const auto trace = sim::read_trace(std::move(*text), options.jobs);
    if (!trace) return complain(trace.error());

    const Simulation simulation(options, *model, *trace, *start_s);
    if (!options.compare.empty()) {
        NoOutput unseen;
        const auto first = simulation.run(*contracts, unseen), second = simulation.run(*others, unseen);
        warn_of_ungoverned(first);
        print_comparison(first, second, options.json, stdout);
        return done;
    }
    SimulationOutput output(stdout, options.json);
    const auto totals = simulation.run(*contracts, output);
    output.finish(totals);
    warn_of_ungoverned(totals);
    return done;
}

}  // namespace

void add_simulate(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("simulate", "A trace of jobs under a set of contracts, on a model cluster");
    const auto options = std::make_shared<Options>();
    command->add_option("--contracts", options->contracts, "A folder with contracts")->required();
    command->add_option("--compare", options->compare, "A second folder: both runs' totals beside each other, no events");
    command->add_option("--config", options->config, "accord.toml; without it the installed one");
    command->add_option("--jobs", options->jobs, "The trace, a CSV file with a header")->required();
    auto* nodes = command->add_option("--nodes", options->nodes, "How many nodes the model has")->check(CLI::Range(1, 100'000));
    auto* gpus = command->add_option("--gpus-per-node", options->gpus_per_node, "GPUs of each")->check(CLI::Range(1, 64));
    auto* cluster = command->add_option("--cluster", options->cluster, "Nodes of several types, such as 4x8:a100,2x8:h100");
    nodes->needs(gpus)->excludes(cluster);
    gpus->needs(nodes)->excludes(cluster);
    command->add_option("--start", options->start, "When submit_s 0 is (2026-01-01T00:00:00Z)");
    command->add_option("--reclaim", options->reclaim, "How lent GPUs are taken back: live (default) or static")
        ->check(CLI::IsMember({"live", "static"}));
    command->add_flag("--json", options->json, "An array of objects: the events, then the totals");
    command->footer(
        "Columns of the trace: id, submit_s, account, partition, gpus, duration_s; and where they are there user, gpu_type,\n"
        "nodes, time_limit_s, kind, requeue, priority, array, het, cpus. Manual: accord-simulate(1).");
    command->callback([options, cluster, nodes, &run] {
        if (cluster->count() == 0 && nodes->count() == 0)
            throw CLI::RequiredError("--nodes and --gpus-per-node, or --cluster");
        run = [options] { return simulate(*options); };
    });
}

}  // namespace accord
