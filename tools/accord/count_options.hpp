// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch's options that decide how many GPUs a job may come to hold, and the request that sbatch makes of them.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "policy/error.hpp"
#include "policy/request.hpp"

namespace accord {

/// The options as typed.
struct CountOptions {
    std::optional<std::string> gpus, gpus_per_node, gpus_per_task, gpus_per_socket, gres;
    std::optional<std::string> nodes, nodelist, array, memory, mem_per_cpu, mem_per_gpu;
    std::string exclusive;  ///< "true" without a value, else "user" or "mcs"
    std::optional<std::int64_t> ntasks, ntasks_per_node, ntasks_per_socket, ntasks_per_gpu;
    std::optional<std::int64_t> cpus_per_task, cpus_per_gpu, mincpus, sockets_per_node, core_spec;
    bool reboot = false;
};

void add_count_options(CLI::App& command, CountOptions& options);

/// What sbatch would fill in (opt.c and proc_args.c of 22.05). Fails ("usage") where sbatch would not take an option.
[[nodiscard]] Result<GpuAsk> gpu_ask(const CountOptions& options);

}  // namespace accord
