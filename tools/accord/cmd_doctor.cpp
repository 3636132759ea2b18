// SPDX-License-Identifier: GPL-2.0-or-later
// accord doctor: every control that Accord rests on, and the line to change where one is not as it must be.
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "command.hpp"
#include "contract/config_toml.hpp"
#include "contract/schema.hpp"
#include "doctor/ask_nodes.hpp"
#include "doctor/contract_controls.hpp"
#include "doctor/node_controls.hpp"
#include "doctor/slurm_controls.hpp"
#include "doctor/store_controls.hpp"
#include "policy/decision.hpp"
#include "policy/governed.hpp"
#include "slurm/load_controls.hpp"
#include "slurm_access.hpp"
#include "store_access.hpp"
#include "table.hpp"

namespace accord {

namespace {

struct Options {
    bool node = false;
    bool json = false;
};

void append(Controls& to, Controls more) {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// What slurmctld says, as far as it answers.
struct SlurmFacts {
    std::unique_ptr<Cluster> connection;
    std::optional<SlurmControls> controls;
    std::optional<ClusterShape> shape;
    std::string trouble;
};

SlurmFacts look_at_slurm() {
    SlurmFacts facts;
    facts.connection = slurm_if_there();
    if (!facts.connection) {
        facts.trouble = "there is no slurm.conf on this host";
        return facts;
    }
    auto controls = load_controls(*facts.connection);
    auto shape = controls ? facts.connection->shape() : tl::unexpected(controls.error());
    if (!shape) {
        facts.trouble = shape.error().what;
        return facts;
    }
    facts.controls = std::move(*controls);
    facts.shape = std::move(*shape);
    return facts;
}

/// Pending and running jobs of the pools that carry no decision.
std::uint64_t jobs_without_decision(const Config& config, Cluster& cluster) {
    std::vector<JobView> jobs;
    if (!cluster.jobs(jobs)) return 0;
    return static_cast<std::uint64_t>(std::count_if(jobs.begin(), jobs.end(), [&](const JobView& job) {
        return job.state != JobState::ended && place_of(config, job.partition) && !decision_in_comment(job.admin_comment);
    }));
}

HostFacts host_facts(const Config& config, const Cluster* connection, bool compute_node) {
    const auto conf = connection ? host_conf(*connection) : HostConf{};
    return look_at_host(config, config_path(), conf.plugin_dir,
                        conf.plugstack.empty() ? "/etc/slurm/plugstack.conf" : conf.plugstack, compute_node);
}

/// Why this user does not ask the nodes; empty when he may.
std::string cannot_ask(const Config& config, const std::string& slurm_user) {
    const auto user = current_actor().name;
    if (::geteuid() != 0 && user != slurm_user) return "only root and SlurmUser ask them";
    const auto& exempt = config.exempt_users;
    if (config.mode == Mode::observe || std::find(exempt.begin(), exempt.end(), user) != exempt.end()) return {};
    return fmt::format("{} is not among exempt_users, so its jobs are judged", user);
}

/// The nodes of all pools, each once. Asked in the lend partition: a job there takes GPUs and CPUs back from nobody.
std::vector<NodeToAsk> nodes_to_ask(const Config& config, const ClusterShape& shape) {
    std::vector<NodeToAsk> nodes;
    std::set<std::string> seen;
    for (const auto& pool : config.pools)
        if (const auto lent = shape.partitions.find(pool.lend_partition); lent != shape.partitions.end())
            for (const auto& node : lent->second.nodes)
                if (seen.insert(node.name).second) nodes.push_back({node.name, pool.lend_partition, node.available});
    return nodes;
}

Controls examine_nodes(const Config& config, const SlurmFacts& slurm) {
    Controls controls;
    const auto objection = cannot_ask(config, slurm.controls->slurm_user);
    check(controls, "nodes", objection.empty(), ControlState::warning, "not asked: " + objection,
          {"they are not compared with this host", "run accord doctor as root, and accord doctor --node on each node"});
    if (!objection.empty()) return controls;
    const auto plugin = find_plugin("spank_accord.so", host_conf(*slurm.connection).plugin_dir);
    const NodeReference reference{short_hash_of(config_path()), short_hash_of(plugin.path)};
    const auto answers = ask_nodes(nodes_to_ask(config, *slurm.shape));
    controls.front().found = fmt::format("{} of {} answered", std::count_if(answers.begin(), answers.end(), has_answered),
                                         answers.size());
    for (const auto& answer : answers) append(controls, check_node(answer, reference));
    return controls;
}

/// Root's questions come first: the last one gives root up.
Controls examine_controller(const Config& config) {
    Controls controls;
    const auto slurm = look_at_slurm();
    check(controls, "slurmctld", slurm.trouble.empty(), ControlState::missing,
          slurm.trouble.empty() ? "answers, Slurm " + slurm.controls->version : slurm.trouble,
          {"nothing runs without it, and nothing of slurm.conf can be checked", "systemctl start slurmctld"});
    if (slurm.controls) {
        append(controls, check_slurm(config, *slurm.controls));
        append(controls, check_pools(config, *slurm.controls, *slurm.shape));
    }
    append(controls, check_host(config, host_facts(config, slurm.connection.get(), false)));
    if (slurm.controls) append(controls, examine_nodes(config, slurm));
    const auto owner = store_owner(config);
    const auto slurm_user = slurm.controls ? slurm.controls->slurm_user : owner.value_or("");
    const auto unjudged = slurm.controls ? jobs_without_decision(config, *slurm.connection) : 0;
    auto store = look_at_store(config, slurm_user);
    store.jobs_without_decision = unjudged;
    append(controls, check_store(config, store));
    append(controls, check_contracts(config, look_at_contracts(config, slurm_user)));
    return controls;
}

Controls examine(bool node) {
    Controls controls;
    const auto config = site_config();
    check(controls, "accord.toml", config.has_value(), ControlState::mismatch,
          config ? config_path() : one_line(config.error()),
          {"slurmctld's plugin and accordd go on with what they read last; where they have read none, every job but root's is rejected (store_unavailable)", "accord validate " + config_path()});
    if (!config) return controls;
    append(controls, node ? check_host(*config, host_facts(*config, slurm_if_there().get(), true)) : examine_controller(*config));
    return controls;
}

std::string name_of(const Control& control) {
    return control.node.empty() ? control.control : fmt::format("node {}: {}", control.node, control.control);
}

void print_json(const Controls& controls) {
    Table table({"control", "state", "found", "why", "line", "node"});
    for (const auto& one : controls)
        table.add({one.control, to_string(one.state), one.found, text_or_null(one.why), text_or_null(one.line),
                   text_or_null(one.node)});
    table.print(true);
}

void print(const Controls& controls, bool json) {
    if (json) return print_json(controls);
    const auto shown = grouped_by_node(controls);
    Table table({"control", "state", "found"});
    for (const auto& one : shown) table.add({name_of(one), to_string(one.state), one.found});
    table.print(false);
    for (const auto& one : shown)
        if (one.state != ControlState::ok)
            fmt::print("\n{}: {}: {}\n  {}\n  change: {}\n", to_string(one.state), name_of(one), one.found, one.why, one.line);
}

int doctor(const Options& options) {
    const auto controls = examine(options.node);
    print(controls, options.json);
    const bool sound = std::none_of(controls.begin(), controls.end(), [](const auto& one) { return is_error(one.state); });
    return sound ? done : refused;
}

}  // namespace

void add_doctor(CLI::App& app, Run& run) {
    auto* command = app.add_subcommand("doctor", "Every control: ok, missing or mismatched, and the line to change");
    const auto options = std::make_shared<Options>();
    command->add_flag("--node", options->node, "Only what concerns this host as a compute node");
    command->add_flag("--json", options->json, "An array of flat objects");
    command->callback([options, &run] { run = [options] { return doctor(*options); }; });
}

}  // namespace accord
