// SPDX-License-Identifier: GPL-2.0-or-later
// Events are put together by hand: a trace has millions.
#include "simulate_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "table.hpp"

namespace accord {

namespace {

constexpr std::size_t full = 1 << 16;

void append_number(std::string& to, std::int64_t number) {
    const fmt::format_int digits(number);
    to.append(digits.data(), digits.size());
}

bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

void append_string(std::string& to, std::string_view text) {
    if (is_plain(text))
        to.append("\"").append(text).append("\"");
    else
        to += nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// An id of digits is a number, as a program reads it back; a task is named as Slurm does, 7_3.
void append_json_name(std::string& to, const sim::JobName& name) {
    constexpr std::size_t exact_digits = 15;
    const bool digits = std::all_of(name.id.begin(), name.id.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits && name.task < 0 && name.id.size() <= exact_digits && (name.id.front() != '0' || name.id.size() == 1)) {
        to.append(name.id);
        return;
    }
    append_string(to, name.task < 0 ? std::string(name.id) : fmt::format("{}_{}", name.id, name.task));
}

void append_column(std::string& to, std::string_view text, std::size_t width) {
    if (text.empty()) text = "-";
    to.append(text).append(text.size() < width ? width - text.size() : 0, ' ').append("  ");
}

std::string shown(const sim::JobName& name) {
    return name.task < 0 ? std::string(name.id) : fmt::format("{}_{}", name.id, name.task);
}

constexpr std::size_t time_width = 10, job_width = 10, event_width = 7, class_width = 10, contract_width = 20,
                      reason_width = 16;

double rounded(double value, double steps) { return std::round(value * steps) / steps; }

/// The figures of a contract: where a smaller one is better, where a larger one is, and where neither.
enum class Better { less, more, neither };
struct Figure {
    const char* name;
    Better better;
    Cell (*of)(const sim::ContractTotals&);
};

constexpr std::array<Figure, 10> figures{{
    {"jobs", Better::neither, [](const sim::ContractTotals& one) { return Cell(one.jobs); }},
    {"started", Better::more, [](const sim::ContractTotals& one) { return Cell(one.started); }},
    {"rejected", Better::less, [](const sim::ContractTotals& one) { return Cell(one.rejected); }},
    {"preempted", Better::less, [](const sim::ContractTotals& one) { return Cell(one.preempted); }},
    {"wait_s_mean", Better::less, [](const sim::ContractTotals& one) { return Cell(rounded(one.wait_s_mean, 1e3)); }},
    {"wait_s_p90", Better::less, [](const sim::ContractTotals& one) { return Cell(one.wait_s_p90); }},
    {"allocated_gpu_s", Better::neither, [](const sim::ContractTotals& one) { return Cell(one.allocated_gpu_s); }},
    {"borrowed_gpu_s", Better::neither, [](const sim::ContractTotals& one) { return Cell(one.borrowed_gpu_s); }},
    {"lent_gpu_s", Better::neither, [](const sim::ContractTotals& one) { return Cell(one.lent_gpu_s); }},
    {"lost_gpu_s", Better::less, [](const sim::ContractTotals& one) { return Cell(one.lost_gpu_s); }},
}};

Table contracts_table(const sim::Totals& totals) {
    std::vector<std::string> columns{"contract"};
    for (const auto& figure : figures) columns.emplace_back(figure.name);
    Table table(std::move(columns));
    for (const auto& contract : totals.contracts) {
        std::vector<Cell> cells{text_or_null(contract.contract)};
        for (const auto& figure : figures) cells.push_back(figure.of(contract));
        table.add(std::move(cells));
    }
    return table;
}

double utilisation_of(const sim::PoolTotals& pool) { return rounded(pool.utilisation, 1e6); }

nlohmann::ordered_json json_of(const sim::Totals& totals) {
    nlohmann::ordered_json all;
    all["contracts"] = nlohmann::ordered_json::parse(contracts_table(totals).json());
    all["pools"] = nlohmann::ordered_json::array();
    for (const auto& pool : totals.pools)
        all["pools"].push_back({{"pool", pool.pool},
                                {"unowned_gpu_s", pool.unowned_gpu_s},
                                {"capacity_gpu_s", pool.capacity_gpu_s},
                                {"utilisation", utilisation_of(pool)}});
    all["unowned_gpu_s"] = totals.all.unowned_gpu_s;
    all["capacity_gpu_s"] = totals.all.capacity_gpu_s;
    all["utilisation"] = utilisation_of(totals.all);
    return all;
}

std::string text_of(const sim::Totals& totals) {
    Table pools({"pool", "unowned_gpu_s", "capacity_gpu_s", "utilisation"});
    for (const auto& pool : totals.pools)
        pools.add({pool.pool, pool.unowned_gpu_s, pool.capacity_gpu_s, utilisation_of(pool)});
    return contracts_table(totals).text() + "\n" + pools.text();
}

const sim::ContractTotals* row_of(const sim::Totals& totals, const std::string& contract) {
    for (const auto& row : totals.contracts)
        if (row.contract == contract) return &row;
    return nullptr;
}

std::string verdict_of(const Figure& figure, double change) {
    if (figure.better == Better::neither || change == 0) return {};
    return (change < 0) == (figure.better == Better::less) ? "better" : "worse";
}

}  // namespace

SimulationOutput::SimulationOutput(std::FILE* to, bool json) : to_(to), json_(json) {
    if (json_) {
        buffer_ = "[\n";
        return;
    }
    append_column(buffer_, "TIME_S", time_width);
    append_column(buffer_, "JOB", job_width);
    append_column(buffer_, "EVENT", event_width);
    append_column(buffer_, "CLASS", class_width);
    append_column(buffer_, "CONTRACT", contract_width);
    append_column(buffer_, "REASON", reason_width);
    buffer_ += "BENEFICIARY\n";
}

void SimulationOutput::take(const sim::Event& event) {
    if (json_)
        take_json(event);
    else
        take_text(event);
    if (buffer_.size() > full) write();
}

void SimulationOutput::take_json(const sim::Event& event) {
    buffer_ += "{\"time_s\":";
    append_number(buffer_, event.time_s);
    buffer_ += ",\"job\":";
    append_json_name(buffer_, event.job);
    buffer_.append(",\"event\":\"").append(to_string(event.kind)).append("\",\"class\":");
    if (event.cls)
        buffer_.append("\"").append(to_string(*event.cls)).append("\"");
    else
        buffer_ += "null";
    buffer_ += ",\"contract\":";
    if (event.contract.empty())
        buffer_ += "null";
    else
        append_string(buffer_, event.contract);
    buffer_ += ",\"reason\":";
    if (event.reason == Reason::none)
        buffer_ += "null";
    else
        buffer_.append("\"").append(to_string(event.reason)).append("\"");
    buffer_ += ",\"beneficiary\":";
    if (event.beneficiary)
        append_json_name(buffer_, *event.beneficiary);
    else
        buffer_ += "null";
    buffer_ += "},\n";
}

void SimulationOutput::take_text(const sim::Event& event) {
    append_column(buffer_, std::string_view(fmt::format_int(event.time_s).c_str()), time_width);
    append_column(buffer_, shown(event.job), job_width);
    append_column(buffer_, to_string(event.kind), event_width);
    append_column(buffer_, event.cls ? to_string(*event.cls) : "", class_width);
    append_column(buffer_, event.contract, contract_width);
    append_column(buffer_, event.reason == Reason::none ? "" : to_string(event.reason), reason_width);
    buffer_.append(event.beneficiary ? shown(*event.beneficiary) : "-").append("\n");
}

void SimulationOutput::write() {
    std::fwrite(buffer_.data(), 1, buffer_.size(), to_);
    buffer_.clear();
}

void SimulationOutput::finish(const sim::Totals& totals) {
    if (json_)
        buffer_ += "{\"totals\":" + json_of(totals).dump() + "}\n]\n";
    else
        buffer_ += "\n" + text_of(totals);
    write();
}

void print_comparison(const sim::Totals& first, const sim::Totals& second, bool json, std::FILE* to) {
    std::set<std::string> contracts;
    for (const auto* totals : {&first, &second})
        for (const auto& row : totals->contracts) contracts.insert(row.contract);
    Table table({"contract", "figure", "first", "second", "change", "verdict"});
    const sim::ContractTotals nothing;
    for (const auto& contract : contracts)
        for (const auto& figure : figures) {
            const auto* before = row_of(first, contract);
            const auto* after = row_of(second, contract);
            const auto left = figure.of(before ? *before : nothing), right = figure.of(after ? *after : nothing);
            const auto change = rounded(right.get<double>() - left.get<double>(), 1e3);
            const auto shown_change = left.is_number_float() ? Cell(change) : Cell(static_cast<std::int64_t>(change));
            table.add({text_or_null(contract), figure.name, before ? left : Cell(), after ? right : Cell(), shown_change,
                       text_or_null(verdict_of(figure, change))});
        }
    for (const auto& pool : first.pools) {
        const auto other = std::find_if(second.pools.begin(), second.pools.end(), [&](const auto& one) { return one.pool == pool.pool; });
        if (other == second.pools.end()) continue;
        const auto name = "pool " + pool.pool;
        table.add({name, "unowned_gpu_s", pool.unowned_gpu_s, other->unowned_gpu_s, other->unowned_gpu_s - pool.unowned_gpu_s, Cell()});
        const auto change = rounded(other->utilisation - pool.utilisation, 1e6);
        table.add({name, "utilisation", utilisation_of(pool), utilisation_of(*other), change,
                   text_or_null(change == 0 ? "" : change > 0 ? "better" : "worse")});
    }
    table.print(json, to);
}

}  // namespace accord
