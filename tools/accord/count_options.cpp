// SPDX-License-Identifier: GPL-2.0-or-later
#include "count_options.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "policy/hostlist.hpp"

namespace accord {

namespace {

tl::unexpected<Error> bad(const char* option, const std::string& value, const char* right) {
    return fail("usage", fmt::format("{} {}: expected {}", option, value, right));
}

/// "a100:2,v100:1" with each part behind `prefix`, unless the part has it.
std::string prefixed(std::string_view list, std::string_view prefix) {
    std::string text;
    while (!list.empty()) {
        const auto comma = list.find(',');
        const auto part = list.substr(0, comma);
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
        if (part.empty()) continue;
        text += fmt::format("{}{}{}", text.empty() ? "" : ",", part.starts_with("gres") ? "" : prefix, part);
    }
    return text;
}

std::optional<std::string> gpu_string(const std::optional<std::string>& value) {
    if (!value || value->empty()) return {};
    return prefixed(*value, "gres:gpu:");
}

/// --gpus-per-node and --gres share a field, the latter last.
std::optional<std::string> per_node_string(const CountOptions& options) {
    auto text = gpu_string(options.gpus_per_node).value_or("");
    if (options.gres && !options.gres->empty() && *options.gres != "none" && *options.gres != "NONE")
        text += (text.empty() ? "" : ",") + prefixed(*options.gres, "gres:");
    return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0) return {};
    return value;
}

/// MiB; sbatch takes a unit behind the number, MiB without one.
std::optional<std::int64_t> megabytes(const std::string& text) {
    if (text.empty()) return {};
    constexpr std::string_view units = "KMGT";
    const auto unit = units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
    const auto count = number(unit == std::string_view::npos ? text : text.substr(0, text.size() - 1));
    if (!count || *count > (std::int64_t{1} << 40)) return {};
    if (unit == std::string_view::npos) return count;
    if (unit == 0) return (*count + 1023) / 1024;
    return *count << (10 * (unit - 1));
}

/// "2", "2-4", and the node counts of newer releases: "2,4,8".
bool set_nodes(const std::string& text, GpuAsk& ask) {
    const auto comma = text.find(','), dash = text.find('-');
    if (comma != std::string::npos) {
        ask.job_size = text;
        ask.min_nodes = number(std::string_view(text).substr(0, comma));
        ask.max_nodes = number(std::string_view(text).substr(text.rfind(',') + 1));
    } else if (dash != std::string::npos) {
        ask.min_nodes = number(std::string_view(text).substr(0, dash));
        ask.max_nodes = number(std::string_view(text).substr(dash + 1));
    } else {
        ask.min_nodes = ask.max_nodes = number(text);
    }
    return ask.min_nodes && ask.max_nodes && *ask.min_nodes >= 1 && *ask.max_nodes >= *ask.min_nodes;
}

Result<void> set_memory(const CountOptions& options, GpuAsk& ask) {
    const char* right = "a number of MiB, or one with K, M, G or T behind it";
    const auto take = [&](const char* option, const std::optional<std::string>& value,
                          std::optional<std::int64_t>& to) -> Result<void> {
        if (!value) return {};
        to = megabytes(*value);
        if (!to) return bad(option, *value, right);
        return {};
    };
    std::optional<std::int64_t> per_gpu;
    if (const auto done = take("--mem", options.memory, ask.mem_per_node_mb); !done) return done;
    if (const auto done = take("--mem-per-cpu", options.mem_per_cpu, ask.mem_per_cpu_mb); !done) return done;
    if (const auto done = take("--mem-per-gpu", options.mem_per_gpu, per_gpu); !done) return done;
    if (per_gpu) ask.mem_per_tres = fmt::format("gres:gpu:{}", *per_gpu);
    return {};
}

/// --nodes and --nodelist. A list asks for its hosts at least, and without --nodes for no more.
Result<void> set_node_counts(const CountOptions& options, GpuAsk& ask) {
    if (options.nodes && !set_nodes(*options.nodes, ask))
        return bad("--nodes", *options.nodes, "a number of nodes, such as 2, or a range, such as 2-4");
    if (!options.nodelist) return {};
    ask.required_nodes = count_hosts(*options.nodelist);
    if (!ask.required_nodes) return bad("--nodelist", *options.nodelist, "a list of hosts, such as n[1-4]");
    ask.min_nodes = std::max(ask.min_nodes.value_or(1), *ask.required_nodes);
    if (!options.nodes) ask.max_nodes = ask.required_nodes;
    return {};
}

/// Tasks that follow from nodes, and nodes that tasks bound.
void infer_tasks(const CountOptions& options, GpuAsk& ask) {
    const bool fixed_nodes = options.nodes && ask.min_nodes == ask.max_nodes;
    if (!ask.num_tasks && ask.ntasks_per_node && fixed_nodes) ask.num_tasks = *ask.min_nodes * *ask.ntasks_per_node;
    if (options.ntasks && ask.max_nodes && *ask.max_nodes > *options.ntasks)
        ask.max_nodes = std::max(*options.ntasks, ask.min_nodes.value_or(1));
}

}  // namespace

void add_count_options(CLI::App& command, CountOptions& options) {
    const auto text = [&](const char* names, std::optional<std::string>& to, const char* what) {
        command.add_option(names, to, what)->take_last();
    };
    const auto count = [&](const char* names, std::optional<std::int64_t>& to, const char* what) {
        command.add_option(names, to, what)->take_last()->check([](const std::string& value) {
            return number(value).value_or(0) >= 1 ? std::string() : value + ": expected a whole number of 1 or more";
        });
    };
    text("-G,--gpus", options.gpus, "GPUs of the job: [TYPE:]NUMBER");
    text("--gpus-per-node", options.gpus_per_node, "On each node");
    text("--gpus-per-task", options.gpus_per_task, "For each task");
    text("--gpus-per-socket", options.gpus_per_socket, "On each socket");
    text("--gres", options.gres, "On each node: gpu[:TYPE]:NUMBER");
    text("-N,--nodes", options.nodes, "Nodes: 2, or 2-4");
    text("-w,--nodelist", options.nodelist, "Hosts that must be among the nodes");
    text("-a,--array", options.array, "An array's indices, such as 0-9%4");
    text("--mem", options.memory, "Memory of each node");
    text("--mem-per-cpu", options.mem_per_cpu, "Memory of each CPU");
    text("--mem-per-gpu", options.mem_per_gpu, "Memory of each GPU");
    count("-n,--ntasks", options.ntasks, "Tasks");
    count("--ntasks-per-node", options.ntasks_per_node, "Tasks on each node");
    count("--ntasks-per-socket", options.ntasks_per_socket, "Tasks on each socket");
    count("--ntasks-per-gpu", options.ntasks_per_gpu, "Tasks for each GPU");
    count("-c,--cpus-per-task", options.cpus_per_task, "CPUs of each task");
    count("--cpus-per-gpu", options.cpus_per_gpu, "CPUs of each GPU");
    count("--mincpus", options.mincpus, "CPUs of each node, at least");
    count("--sockets-per-node", options.sockets_per_node, "Sockets of each node");
    count("-S,--core-spec", options.core_spec, "Cores left to the system: whole nodes");
    command.add_flag("--exclusive", options.exclusive, "Whole nodes; =user, =mcs and =topo share them among their own")
        ->check(CLI::IsMember({"true", "user", "mcs", "topo"}));
    command.add_flag("--reboot", options.reboot, "Reboot the nodes first: whole nodes");
}

Result<GpuAsk> gpu_ask(const CountOptions& options) {
    GpuAsk ask;
    ask.tres_per_job = gpu_string(options.gpus);
    ask.tres_per_task = gpu_string(options.gpus_per_task);
    ask.tres_per_socket = gpu_string(options.gpus_per_socket);
    ask.tres_per_node = per_node_string(options);
    ask.num_tasks = options.ntasks;
    ask.ntasks_per_node = options.ntasks_per_node;
    ask.ntasks_per_socket = options.ntasks_per_socket;
    ask.ntasks_per_tres = options.ntasks_per_gpu;
    ask.cpus_per_task = options.cpus_per_task;
    ask.min_cpus_per_node = options.mincpus;
    ask.sockets_per_node = options.sockets_per_node;
    if (options.cpus_per_gpu) ask.cpus_per_tres = fmt::format("gres:gpu:{}", *options.cpus_per_gpu);
    if (const auto done = set_memory(options, ask); !done) return tl::unexpected<Error>(done.error());
    if (const auto done = set_node_counts(options, ask); !done) return tl::unexpected<Error>(done.error());
    infer_tasks(options, ask);
    ask.whole_node = options.exclusive == "true" || options.core_spec || options.reboot;
    return ask;
}

}  // namespace accord
