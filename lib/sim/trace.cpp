// SPDX-License-Identifier: GPL-2.0-or-later
// From CSV to jobs: a table of columns, each with what it takes.
#include "sim/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sim/csv.hpp"

namespace accord::sim {

namespace {

constexpr std::int64_t most_seconds = std::int64_t{100} * 365 * 86400;
constexpr std::int64_t most_gpus = 1'000'000, most_cpus = 100'000'000, most_nodes = 1'000'000;
constexpr std::int64_t most_priority = 0xffffffff;  // what Slurm's priorities reach
constexpr std::size_t longest_name = 255;

/// Takes one field into a job; says what would be right where it cannot.
using Problem = std::optional<std::string>;

class Reading {
public:
    Reading(std::string text, const std::string& path) : path_(path) {
        trace_.text = std::make_unique<const std::string>(std::move(text));
    }

    Result<Trace> read();

private:
    using Take = Problem (Reading::*)(std::string_view, TraceJob&);
    struct Column {
        std::string_view name;
        bool required;
        Take take;
    };
    static const std::array<Column, 16> columns;

    [[nodiscard]] tl::unexpected<Error> wrong(std::size_t line, const std::string& what) const {
        return fail("invalid", what, fmt::format("{}:{}", path_, line));
    }

    Result<void> read_header(const std::vector<std::string_view>& fields, std::size_t line);
    Result<void> read_row(const std::vector<std::string_view>& fields, std::size_t line);
    [[nodiscard]] Problem check_row(const TraceJob& job);
    Result<void> check_ids() const;

    // One function per column.

    template <std::int64_t TraceJob::* field, std::int64_t least, std::int64_t most>
    Problem take_number(std::string_view text, TraceJob& job) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        if (!whole || value < least || value > most) return fmt::format("expected a whole number from {} to {}", least, most);
        job.*field = value;
        return std::nullopt;
    }

    template <std::uint32_t TraceJob::* field>
    Problem take_name(std::string_view text, TraceJob& job) {
        const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c != 0x7f; });
        if (!plain || text.size() > longest_name) return "expected a name without spaces";
        job.*field = place_of_name(text);
        return std::nullopt;
    }

    /// As Slurm's TRES strings can carry it.
    Problem take_gpu_type(std::string_view text, TraceJob& job) {
        const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
        });
        if (!plain) return "expected a name of letters, digits, dots, dashes and underscores";
        return take_name<&TraceJob::gpu_type>(text, job);
    }

    Problem take_id(std::string_view text, TraceJob& job) {
        const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
        if (text.empty() || !plain || text.size() > longest_name) return "expected a name or number without spaces";
        job.id = text;
        return std::nullopt;
    }

    Problem take_nodes(std::string_view text, TraceJob& job) {
        auto problem = take_number<&TraceJob::cpus, 1, most_nodes>(text, scratch_);
        if (!problem) job.nodes = static_cast<std::uint32_t>(scratch_.cpus);
        return problem;
    }

    Problem take_kind(std::string_view text, TraceJob& job) {
        const auto type = workload_type_from(std::string(text));
        const bool known = type == WorkloadType::batch || type == WorkloadType::array || type == WorkloadType::interactive;
        if (!known) return "expected batch, array or interactive";
        job.kind = *type;
        return std::nullopt;
    }

    Problem take_requeue(std::string_view text, TraceJob& job) {
        if (text != "0" && text != "1") return "expected 0 or 1";
        job.requeue = text == "1";
        return std::nullopt;
    }

    Problem take_array(std::string_view text, TraceJob& job) {
        auto spec = parse_array(std::string(text));
        if (!spec) return "expected indices as for --array, such as 0-9%4";
        job.array = static_cast<std::uint32_t>(trace_.arrays.size());
        trace_.arrays.push_back(std::move(*spec));
        return std::nullopt;
    }

    Problem take_het(std::string_view text, TraceJob& job) {
        const auto [known, is_new] = het_.try_emplace(std::string(text), trace_.het_groups);
        if (is_new) {
            ++trace_.het_groups;
            het_submit_s_.push_back(0);
        }
        job.het = known->second;
        return std::nullopt;
    }

    std::uint32_t place_of_name(std::string_view text) {
        // rows beside each other have mostly the same few names
        if (const auto found = places_.find(text); found != places_.end()) return found->second;
        const auto place = static_cast<std::uint32_t>(trace_.names.size());
        trace_.names.emplace_back(text);
        return places_.emplace(text, place).first->second;
    }

    const std::string& path_;
    Trace trace_;
    TraceJob scratch_;
    std::vector<const Column*> order_;                        ///< the file's columns
    std::unordered_map<std::string_view, std::uint32_t> places_;  ///< looks into the text
    std::unordered_map<std::string, std::uint32_t> het_;
    std::vector<std::int64_t> het_submit_s_;  ///< by group; of a group's first row
    std::uint32_t known_groups_ = 0;
};

const std::array<Reading::Column, 16> Reading::columns{{
    {"id", true, &Reading::take_id},
    {"submit_s", true, &Reading::take_number<&TraceJob::submit_s, 0, most_seconds>},
    {"account", true, &Reading::take_name<&TraceJob::account>},
    {"partition", true, &Reading::take_name<&TraceJob::partition>},
    {"gpus", true, &Reading::take_number<&TraceJob::gpus, 0, most_gpus>},
    {"duration_s", true, &Reading::take_number<&TraceJob::duration_s, 0, most_seconds>},
    {"user", false, &Reading::take_name<&TraceJob::user>},
    {"gpu_type", false, &Reading::take_gpu_type},
    {"nodes", false, &Reading::take_nodes},
    {"time_limit_s", false, &Reading::take_number<&TraceJob::time_limit_s, 1, most_seconds>},
    {"kind", false, &Reading::take_kind},
    {"requeue", false, &Reading::take_requeue},
    {"priority", false, &Reading::take_number<&TraceJob::priority, 0, most_priority>},
    {"array", false, &Reading::take_array},
    {"het", false, &Reading::take_het},
    {"cpus", false, &Reading::take_number<&TraceJob::cpus, 1, most_cpus>},
}};

/// What was found in a file, as a message shows it.
std::string shown(std::string_view text) {
    constexpr std::size_t most = 40;
    return fmt::format("\"{}{}\"", text.substr(0, most), text.size() > most ? "…" : "");
}

Result<void> Reading::read_header(const std::vector<std::string_view>& fields, std::size_t line) {
    for (const auto& field : fields) {
        const auto* column = std::find_if(columns.begin(), columns.end(), [&](const auto& one) { return one.name == field; });
        if (column == columns.end()) {
            std::string known;
            for (const auto& one : columns) known += (known.empty() ? "" : ", ") + std::string(one.name);
            return wrong(line, fmt::format("unknown column {}: the columns of a trace are {}", shown(field), known));
        }
        if (std::find(order_.begin(), order_.end(), column) != order_.end())
            return wrong(line, fmt::format("column {} is there twice", field));
        order_.push_back(column);
        if (field == "user") trace_.has_users = true;
    }
    for (const auto& one : columns)
        if (one.required && std::find(order_.begin(), order_.end(), &one) == order_.end())
            return wrong(line, fmt::format("column {} is missing", one.name));
    return {};
}

/// What is wrong with a row of which each field is right.
Problem Reading::check_row(const TraceJob& job) {
    if (!trace_.jobs.empty() && job.submit_s < trace_.jobs.back().submit_s)
        return fmt::format("submit_s {} is before {} in line {}: sort the rows by submit_s", job.submit_s,
                           trace_.jobs.back().submit_s, trace_.jobs.back().line);
    if (job.het == none) return std::nullopt;
    if (job.array != none) return "a component of a heterogeneous job cannot be an array";
    if (known_groups_ < trace_.het_groups) {
        known_groups_ = trace_.het_groups;
        het_submit_s_[job.het] = job.submit_s;
    }
    if (het_submit_s_[job.het] != job.submit_s)
        return fmt::format("the components of a heterogeneous job have the same submit_s: another one of this job has {}",
                           het_submit_s_[job.het]);
    return std::nullopt;
}

Result<void> Reading::read_row(const std::vector<std::string_view>& fields, std::size_t line) {
    if (fields.size() != order_.size())
        return wrong(line, fmt::format("{} fields, and the header has {} columns", fields.size(), order_.size()));
    TraceJob job;
    job.line = static_cast<std::uint32_t>(line);
    for (std::size_t at = 0; at < fields.size(); ++at) {
        const auto& column = *order_[at];
        const bool may_be_empty = !column.required || column.name == "account" || column.name == "partition";
        if (fields[at].empty() && may_be_empty) continue;
        if (const auto problem = (this->*column.take)(fields[at], job))
            return wrong(line, fmt::format("{}: {}, found {}", column.name, *problem, shown(fields[at])));
    }
    if (job.array != none) job.kind = WorkloadType::array;
    if (job.het != none) job.kind = WorkloadType::het;
    if (const auto problem = check_row(job)) return wrong(line, *problem);
    trace_.jobs.push_back(job);
    return {};
}

/// By number where all ids are numbers that rise, as in most traces.
Result<void> Reading::check_ids() const {
    const auto rises = [](const TraceJob& left, const TraceJob& right) {
        return left.id.size() != right.id.size() ? left.id.size() < right.id.size() : left.id < right.id;
    };
    const auto& jobs = trace_.jobs;
    const auto does_not = [&](const TraceJob& left, const TraceJob& right) { return !rises(left, right); };
    if (std::adjacent_find(jobs.begin(), jobs.end(), does_not) == jobs.end()) return {};
    std::vector<const TraceJob*> sorted;
    sorted.reserve(jobs.size());
    for (const auto& job : jobs) sorted.push_back(&job);
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto* left, const auto* right) { return rises(*left, *right); });
    const TraceJob* again = nullptr;
    const TraceJob* first = nullptr;
    for (std::size_t at = 1; at < sorted.size(); ++at)
        if (sorted[at]->id == sorted[at - 1]->id && (again == nullptr || sorted[at]->line < again->line)) {
            first = sorted[at - 1];
            again = sorted[at];
        }
    if (again == nullptr) return {};
    return wrong(again->line, fmt::format("id: {} is that of line {} already", again->id, first->line));
}

Result<Trace> Reading::read() {
    CsvLines lines(*trace_.text);
    std::vector<std::string_view> fields;
    const auto broken = [&] { return wrong(lines.line(), std::string(lines.problem())); };
    if (!lines.next(fields)) {
        if (!lines.problem().empty()) return broken();
        return wrong(1, "the file is empty: a trace begins with a line of column names");
    }
    if (const auto header = read_header(fields, lines.line()); !header) return tl::unexpected(header.error());
    trace_.jobs.reserve(static_cast<std::size_t>(std::count(trace_.text->begin(), trace_.text->end(), '\n')));
    while (lines.next(fields))
        if (const auto row = read_row(fields, lines.line()); !row) return tl::unexpected(row.error());
    if (!lines.problem().empty()) return broken();
    if (const auto ids = check_ids(); !ids) return tl::unexpected(ids.error());
    return std::move(trace_);
}

}  // namespace

Result<Trace> read_trace(std::string text, const std::string& path) { return Reading(std::move(text), path).read(); }

}  // namespace accord::sim
