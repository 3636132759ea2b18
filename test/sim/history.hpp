// SPDX-License-Identifier: GPL-2.0-or-later
// A small trace on a small cluster, and what came of it, in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "policy/world.hpp"
#include "sim/cluster.hpp"
#include "sim/simulation.hpp"

namespace accord::test {

/// "5 2_1 preempt borrowed vision-lab for 7": time, job, event, class, account, reason in brackets, beneficiary.
class Words final : public sim::EventSink {
public:
    void take(const sim::Event& event) override {
        auto text = fmt::format("{} {} {}", event.time_s, name(event.job), to_string(event.kind));
        if (event.cls) text += fmt::format(" {}", to_string(*event.cls));
        text += fmt::format(" {}", event.contract.substr(0, event.contract.find('/')));
        if (event.reason != Reason::none) text += fmt::format(" ({})", to_string(event.reason));
        if (event.beneficiary) text += " for " + name(*event.beneficiary);
        lines.push_back(std::move(text));
    }
    std::vector<std::string> lines;

private:
    static std::string name(const sim::JobName& job) {
        return job.task < 0 ? std::string(job.id) : fmt::format("{}_{}", job.id, job.task);
    }
};

/// Nodes of four a100, contracts of vision-lab and speech-lab, each with eight guaranteed; as a test changes them.
struct History {
    std::vector<sim::NodeGroup> nodes{{4, 4, "a100"}};
    std::vector<PoolConfig> pools{pool_named("gpu", {{"a100", 16}})};
    std::vector<Contract> contracts{contract_for("vision-lab", 8), contract_for("speech-lab", 8)};
    std::vector<PriorityClass> priority_classes;
    std::int64_t start_s = 1'767'225'600;  ///< 2026-01-01T00:00:00Z
    std::int64_t interval_ms = 1000;
    sim::ReclaimMode reclaim = sim::ReclaimMode::live;

    std::vector<std::string> events;
    sim::Totals totals;

    /// Rows without the header: id, submit_s, account, gpus, duration_s, and whatever `columns` names behind.
    History& run(const std::string& rows, const std::string& columns = "") {
        auto text = "id,submit_s,account,gpus,duration_s,partition" + (columns.empty() ? "" : "," + columns) + "\n" + rows;
        const auto trace = sim::read_trace(std::move(text), "trace.csv").value();
        Config config;
        config.cluster = "model";
        config.interval_ms = interval_ms;
        config.pools = pools;
        config.priority_classes = priority_classes;
        const auto model = sim::model_cluster(config, nodes).value();
        const auto cast = sim::cast_of(trace, model.config, contracts, [](const auto&) { return std::vector<std::string>{}; });
        Words words;
        totals = sim::simulate({cast.policy, model.shape, trace, cast.people, start_s, reclaim, {}}, words);
        events = std::move(words.lines);
        return *this;
    }

    [[nodiscard]] const sim::ContractTotals& of(const std::string& account) const {
        for (const auto& row : totals.contracts)
            if (row.contract == account + "/gpu") return row;
        throw std::logic_error("no totals of " + account);
    }
    /// The events of one kind.
    [[nodiscard]] std::vector<std::string> those(const std::string& kind) const {
        std::vector<std::string> found;
        for (const auto& line : events)
            if (line.find(" " + kind + " ") != std::string::npos) found.push_back(line);
        return found;
    }
};

using Lines = std::vector<std::string>;

}  // namespace accord::test
