// SPDX-License-Identifier: GPL-2.0-or-later
// Fields laid over fields, TRES strings token by token.
#include "policy/amend.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "policy/messages.hpp"
#include "policy/tres.hpp"

namespace accord {

namespace {

template <typename T>
void lay(std::optional<T>& to, const std::optional<T>& from) {
    if (from) to = from;
}

// TRES strings.

using TresField = std::optional<std::string> GpuAsk::*;

struct NamedField {
    TresField field;
    const char* name;  ///< as scontrol names it
};
constexpr NamedField tres_fields[] = {{&GpuAsk::tres_per_job, "TresPerJob"},
                                      {&GpuAsk::tres_per_node, "TresPerNode"},
                                      {&GpuAsk::tres_per_socket, "TresPerSocket"},
                                      {&GpuAsk::tres_per_task, "TresPerTask"}};

/// A generic resource of a TRES string that slurmctld takes.
struct GresToken {
    std::string_view key;   ///< name and type: "gpu", "gpu:a100"
    std::string_view text;  ///< the whole token
};

/// Name and type of "gpu", "gpu:2", "gpu:a100", "gpu:a100:2" or "gpu:a100=2"; nothing for a count of 0.
std::optional<std::string_view> key_of(std::string_view gres) {
    const auto last = gres.find_last_of(":=");
    if (last == std::string_view::npos) return gres;
    const auto count = parse_tres_count(gres.substr(last + 1));
    if (!count) return gres;
    return *count == 0 ? std::nullopt : std::optional(gres.substr(0, last));
}

/// 22.05 looks for "gres:" and skips what is before it; later releases take "gres/" as well (slurm_get_next_tres).
std::string_view after_prefix(std::string_view token, UpdateSemantics how) {
    for (const std::string_view prefix : {"gres:", "gres/"}) {
        if (prefix == "gres/" && how == UpdateSemantics::merge) break;
        if (const auto at = token.find(prefix); at != std::string_view::npos) return token.substr(at + prefix.size());
    }
    return {};
}

/// Of a repeated key the last one.
std::vector<GresToken> tokens_of(std::string_view text, UpdateSemantics how) {
    std::vector<GresToken> tokens;
    while (!text.empty()) {
        const auto token = text.substr(0, text.find(','));
        text.remove_prefix(std::min(token.size() + 1, text.size()));
        const auto gres = after_prefix(token, how);
        const auto key = gres.empty() ? std::nullopt : key_of(gres);
        if (!key) continue;
        std::erase_if(tokens, [&](const auto& other) { return other.key == *key; });
        tokens.push_back({*key, token});
    }
    return tokens;
}

std::vector<GresToken> tokens_of(const std::optional<std::string>& text, UpdateSemantics how) {
    return text ? tokens_of(std::string_view(*text), how) : std::vector<GresToken>{};
}

/// What the old text names and the new one does not.
std::vector<GresToken> unnamed(const std::optional<std::string>& before, const std::string& after) {
    auto old = tokens_of(before, UpdateSemantics::merge);
    for (const auto& token : tokens_of(std::string_view(after), UpdateSemantics::merge))
        std::erase_if(old, [&](const auto& other) { return other.key == token.key; });
    return old;
}

std::string merged(const std::optional<std::string>& before, const std::string& after) {
    if (after.empty()) return after;
    std::string text;
    const auto append = [&](const auto& tokens) {
        for (const auto& token : tokens) text.append(text.empty() ? "" : ",").append(token.text);
    };
    append(unnamed(before, after));
    append(tokens_of(std::string_view(after), UpdateSemantics::merge));
    return text;
}

bool names_gres(const GpuAsk& ask, UpdateSemantics how) {
    return std::any_of(std::begin(tres_fields), std::end(tres_fields),
                       [&](const auto& named) { return !tokens_of(ask.*named.field, how).empty(); });
}

/// 23.02 and later read all fields anew, and keep the old list where they name nothing (_update_job, 24.11).
bool leaves_none(const GpuAsk& before, const AskChange& change) {
    auto after = before;
    bool touched = false;
    for (const auto& [field, name] : tres_fields) {
        touched = touched || change.*field;
        lay(after.*field, change.*field);
    }
    return touched && names_gres(before, UpdateSemantics::replace) && !names_gres(after, UpdateSemantics::replace);
}

// Parts, in which slurmctld applies a change.

struct Part {
    bool (*touched)(const AskChange& change);
    void (*apply)(GpuAsk& to, const AskChange& change, UpdateSemantics how);
};

void apply_nodes(GpuAsk& to, const AskChange& change, UpdateSemantics how) {
    const bool other = (change.min_nodes && change.min_nodes != to.min_nodes) ||
                       (change.max_nodes && change.max_nodes != to.max_nodes);
    if (other) to.job_size.reset();
    lay(to.min_nodes, change.min_nodes);
    lay(to.max_nodes, change.max_nodes);
    const auto nodes = to.min_nodes.value_or(0);
    const bool fixed = to.max_nodes.value_or(0) == 0 || to.max_nodes == to.min_nodes;
    // _figure_out_num_tasks (24.11)
    if (how == UpdateSemantics::replace && !change.num_tasks && fixed && nodes > 0 && to.ntasks_per_node.value_or(0) > 0)
        to.num_tasks = saturating_mul(std::min(nodes, gpus_max), *to.ntasks_per_node);
    if (to.num_tasks) to.num_tasks = std::max(*to.num_tasks, nodes);
    if (nodes == 0) return;
    const auto by_tasks = saturating_mul(std::min(to.num_tasks.value_or(nodes), gpus_max), to.cpus_per_task.value_or(1));
    const auto by_nodes = saturating_mul(std::min(nodes, gpus_max), to.min_cpus_per_node.value_or(0));
    to.min_cpus = std::max({to.min_cpus.value_or(0), by_tasks, by_nodes});
}

void apply_tres(GpuAsk& to, const AskChange& change, UpdateSemantics how) {
    const auto texts = held_texts(to, change, how);
    for (const auto& [field, name] : tres_fields) lay(to.*field, texts.*field);
    lay(to.cpus_per_tres, change.cpus_per_tres);
    lay(to.mem_per_tres, change.mem_per_tres);
    lay(to.ntasks_per_tres, change.ntasks_per_tres);
}

constexpr Part parts[] = {
    {[](const AskChange& c) { return c.required_nodes.has_value(); },
     [](GpuAsk& to, const AskChange& c, UpdateSemantics) { lay(to.required_nodes, c.required_nodes); }},
    {[](const AskChange& c) { return c.min_cpus || c.min_cpus_per_node || c.cpus_per_task; },
     [](GpuAsk& to, const AskChange& c, UpdateSemantics) {
         lay(to.min_cpus, c.min_cpus);
         lay(to.min_cpus_per_node, c.min_cpus_per_node);
         lay(to.cpus_per_task, c.cpus_per_task);
     }},
    {[](const AskChange& c) { return c.num_tasks.has_value(); },
     [](GpuAsk& to, const AskChange& c, UpdateSemantics) { lay(to.num_tasks, c.num_tasks); }},
    {[](const AskChange& c) { return c.min_nodes || c.max_nodes; }, apply_nodes},
    {[](const AskChange& c) { return c.features.has_value(); },
     [](GpuAsk& to, const AskChange& c, UpdateSemantics) { lay(to.features, c.features); }},
    {[](const AskChange& c) { return c.job_size.has_value(); },
     [](GpuAsk& to, const AskChange& c, UpdateSemantics) { lay(to.job_size, c.job_size); }},
    {[](const AskChange& c) { return c.mem_per_node_mb || c.mem_per_cpu_mb; },
     [](GpuAsk& to, const AskChange& c, UpdateSemantics) {
         to.mem_per_node_mb = c.mem_per_node_mb;
         to.mem_per_cpu_mb = c.mem_per_cpu_mb;
     }},
    {[](const AskChange& c) { return c.whole_node; },
     [](GpuAsk& to, const AskChange&, UpdateSemantics) { to.whole_node = true; }},
    {[](const AskChange& c) { return c.ntasks_per_node || c.ntasks_per_socket || c.sockets_per_node; },
     [](GpuAsk& to, const AskChange& c, UpdateSemantics) {
         lay(to.ntasks_per_node, c.ntasks_per_node);
         lay(to.ntasks_per_socket, c.ntasks_per_socket);
         lay(to.sockets_per_node, c.sockets_per_node);
     }},
    {[](const AskChange& c) {
         return c.tres_per_job || c.tres_per_node || c.tres_per_socket || c.tres_per_task || c.cpus_per_tres ||
                c.mem_per_tres || c.ntasks_per_tres;
     },
     apply_tres},
};

std::vector<const Part*> touched_parts(const AskChange& change) {
    std::vector<const Part*> touched;
    for (const auto& part : parts)
        if (part.touched(change)) touched.push_back(&part);
    return touched;
}

// What slurmctld keeps.

std::optional<std::string> kept_by_merging(const GpuAsk& before, const AskChange& change) {
    // gres_job_state_validate (22.05) has made a number for the job of the GPUs per task, and that stays
    const bool per_task = !tokens_of(before.tres_per_task, UpdateSemantics::merge).empty();
    const bool tasks = change.num_tasks && change.num_tasks != before.num_tasks;
    if (per_task && (tasks || (change.tres_per_task && change.tres_per_task != before.tres_per_task)))
        return "Slurm keeps the GPUs of a job that has them per task, however its tasks change";
    for (const auto& [field, name] : tres_fields) {
        const auto& given = change.*field;
        if (!given || given->empty()) continue;
        if (tokens_of(given, UpdateSemantics::merge).empty())
            return fmt::format("Slurm takes nothing from {}={}, for it reads gres:NAME:COUNT", name, printable(*given));
        const auto kept = unnamed(before.*field, *given);
        if (!kept.empty())
            return fmt::format("Slurm keeps {} beside {}={}, as long as that does not name it", printable(kept.front().text),
                               name, printable(*given));
    }
    return std::nullopt;
}

}  // namespace

std::size_t parts_of(const AskChange& change) { return touched_parts(change).size(); }

GpuAsk amended(const GpuAsk& before, const AskChange& change, UpdateSemantics how) {
    auto after = before;
    for (const auto* part : touched_parts(change)) part->apply(after, change, how);
    return after;
}

std::vector<GpuAsk> outcomes(const GpuAsk& before, const AskChange& change, UpdateSemantics how) {
    std::vector<GpuAsk> found{amended(before, change, how)};
    const auto touched = touched_parts(change);
    if (touched.size() < 2 || touched.size() > most_parts) return found;
    for (unsigned chosen = 1; chosen + 1 < 1U << touched.size(); ++chosen) {
        auto& after = found.emplace_back(before);
        for (std::size_t i = 0; i < touched.size(); ++i)
            if ((chosen >> i & 1U) != 0) touched[i]->apply(after, change, how);
    }
    return found;
}

AskChange held_texts(const GpuAsk& before, const AskChange& change, UpdateSemantics how) {
    AskChange texts;
    const bool keeps_all = how == UpdateSemantics::replace && leaves_none(before, change);
    for (const auto& [field, name] : tres_fields) {
        if (!(change.*field)) continue;
        if (how == UpdateSemantics::merge)
            texts.*field = merged(before.*field, *(change.*field));
        else
            texts.*field = keeps_all ? (before.*field).value_or("") : *(change.*field);
    }
    return texts;
}

std::optional<std::string> kept_in_spite(const GpuAsk& before, const AskChange& change, UpdateSemantics how) {
    if (before.ntasks_per_tres.value_or(0) > 0 && change.num_tasks && change.num_tasks != before.num_tasks)
        return "Slurm keeps the GPUs of a job with tasks per GPU, however its tasks change";
    if (how == UpdateSemantics::merge) return kept_by_merging(before, change);
    if (leaves_none(before, change)) return "Slurm keeps the GPUs of a job where a change leaves it none";
    return std::nullopt;
}

}  // namespace accord
