// SPDX-License-Identifier: GPL-2.0-or-later
// The test program as the plugin's host: opens it as slurmctld does and stands in for what slurmctld brings. The
// allocator, the structures' defaults and the buffers are Slurm's own, from libslurm.
#pragma once

#include <slurm/slurm.h>

#include <cstdint>
#include <string>
#include <vector>

#include "slurm/compat.hpp"

/// Lines that the plugin logged since the last call, errors with "error: " before them.
[[nodiscard]] std::vector<std::string> take_log();

/// What the host's slurm.conf says.
struct HostSettings {
    std::uint32_t slurm_user = 0;
    bool requeue = true;
    int controller = 0;
};
void set_host(const HostSettings& settings);

/// Whom slurmdbd names an operator.
inline constexpr std::uint32_t slurm_operator = 2001;

/// A hook's answer.
struct HookAnswer {
    int code = 0;
    std::string message;
    int error_number = 0;  ///< errno afterwards
};

/// The plugin, opened and started; ended and closed again unless it is abandoned.
class OpenPlugin {
public:
    /// `config_path` is where ACCORD_CONF points.
    explicit OpenPlugin(const std::string& config_path);
    ~OpenPlugin();
    OpenPlugin(const OpenPlugin&) = delete;
    OpenPlugin& operator=(const OpenPlugin&) = delete;

    HookAnswer submit(job_desc_msg_t& desc, std::uint32_t caller) const;
    /// `job` is what slurmctld would list the job as; null: a job record that cannot be read.
    HookAnswer modify(job_desc_msg_t& desc, const slurm_job_info_t* job, std::uint32_t caller) const;

private:
    void* handle_ = nullptr;
    int (*submit_)(job_desc_msg_t*, std::uint32_t, char**) = nullptr;
    int (*modify_)(job_desc_msg_t*, void*, std::uint32_t ACCORD_MODIFY_MESSAGE_PARAMETER) = nullptr;
};

/// A request as a client sends it; all of it is freed as slurmctld frees it.
class Request {
public:
    explicit Request(std::uint32_t uid);
    ~Request();
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    job_desc_msg_t& desc() { return *desc_; }
    job_desc_msg_t* operator->() { return desc_; }
    /// Sets a text field, in Slurm's memory.
    Request& set(char* job_desc_msg_t::*field, const std::string& text);
    Request& add_spank_env(const std::string& entry);
    [[nodiscard]] std::string text(char* job_desc_msg_t::*field) const;
    /// The entries of spank_job_env, up to its NULL.
    [[nodiscard]] std::vector<std::string> spank_env() const;

private:
    job_desc_msg_t* desc_;
};
