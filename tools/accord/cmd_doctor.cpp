// SPDX-License-Identifier: GPL-2.0-or-later
// accord doctor: every control that Accord rests on, and the line to change where one is not as it must be.
#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "command.hpp"
#include "contract/config_toml.hpp"
#include "contract/schema.hpp"
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
    const auto jobs = cluster.jobs();
    if (!jobs || !*jobs) return 0;
    return static_cast<std::uint64_t>(std::count_if((*jobs)->begin(), (*jobs)->end(), [&](const JobView& job) {
        return job.state != JobState::ended && place_of(config, job.partition) && !decision_in_comment(job.admin_comment);
    }));
}

HostFacts host_facts(const Config& config, const SlurmFacts& slurm, bool compute_node) {
    const auto& controls = slurm.controls;
    return look_at_host(config, config_path(), controls ? controls->plugin_dir : "",
                        controls && !controls->plugstack.empty() ? controls->plugstack : "/etc/slurm/plugstack.conf",
                        compute_node);
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
    append(controls, check_host(config, host_facts(config, slurm, false)));
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
          {"every job but root's is rejected until it is right (store_unavailable)", "accord validate " + config_path()});
    if (!config) return controls;
    append(controls, node ? check_host(*config, host_facts(*config, look_at_slurm(), true)) : examine_controller(*config));
    return controls;
}

void print(const Controls& controls, bool json) {
    Table table(json ? std::vector<std::string>{"control", "state", "found", "why", "line"}
                     : std::vector<std::string>{"control", "state", "found"});
    for (const auto& one : controls) {
        std::vector<Cell> cells{one.control, to_string(one.state), one.found};
        if (json) cells.insert(cells.end(), {text_or_null(one.why), text_or_null(one.line)});
        table.add(std::move(cells));
    }
    table.print(json);
    if (json) return;
    for (const auto& one : controls)
        if (one.state != ControlState::ok)
            fmt::print("\n{}: {}: {}\n  {}\n  change: {}\n", to_string(one.state), one.control, one.found, one.why, one.line);
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
