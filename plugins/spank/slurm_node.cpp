// SPDX-License-Identifier: GPL-2.0-or-later
// Reads Slurm's own configuration structure and slurmd's environment; asks nobody.
#include "slurm_node.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <slurm/slurm.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "seal/grant.hpp"

namespace accord::spank {
namespace {

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }
std::string variable(const char* name) { return text_of(std::getenv(name)); }

Result<std::uint32_t> number(const char* name) {
    const std::string text = variable(name);
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return fail("invalid", fmt::format("{}=\"{}\": is not a number", name, text));
    return value;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

void add_absolute(std::vector<std::string>& paths, const std::string& path) {
    if (path.size() > 1 && path.front() == '/') paths.push_back(path.back() == '/' ? path.substr(0, path.size() - 1) : path);
}

/// slurm.conf's %n and %h: the node's name, and the host's up to the first dot.
std::string expanded(std::string path, const std::string& node) {
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    const std::string short_host(host, std::string_view(host).find('.') == std::string_view::npos
                                           ? std::string_view(host).size()
                                           : std::string_view(host).find('.'));
    for (const auto& [pattern, value] : {std::pair{"%n", node}, {"%h", short_host}})
        for (std::size_t at = 0; (at = path.find(pattern, at)) != std::string::npos; at += value.size())
            path.replace(at, 2, value);
    return path;
}

/// "socket=PATH" among AuthInfo's options.
std::string auth_socket(const std::string& options) {
    constexpr std::string_view key = "socket=";
    const std::size_t at = options.find(key);
    if (at == std::string::npos || (at > 0 && options[at - 1] != ',')) return {};
    return options.substr(at + key.size(), options.find(',', at) - at - key.size());
}

std::string own_program() {
    char text[PATH_MAX];
    const ssize_t size = readlink("/proc/self/exe", text, sizeof text);
    return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
}

/// Newer releases (24.11) hand slurmstepd what slurm.conf says without its path, which slurmd puts into the environment.
std::string slurm_conf_path(const slurm_conf_t& conf) {
    return conf.slurm_conf != nullptr ? conf.slurm_conf : variable("SLURM_CONF");
}

std::vector<std::string> needs_of(const slurm_conf_t& conf, const std::string& node) {
    std::vector<std::string> needs;
    add_absolute(needs, expanded(text_of(conf.slurmd_spooldir), node));
    add_absolute(needs, folder_of(auth_socket(text_of(conf.authinfo))));
    add_absolute(needs, slurm_conf_path(conf));
    for (const char* file : {conf.plugstack, conf.task_prolog}) add_absolute(needs, text_of(file));
    add_absolute(needs, folder_of(own_program()));
    std::string_view folders = conf.plugindir == nullptr ? std::string_view() : std::string_view(conf.plugindir);
    while (!folders.empty()) {
        const std::size_t colon = folders.find(':');
        add_absolute(needs, std::string(folders.substr(0, colon)));
        folders.remove_prefix(colon == std::string_view::npos ? folders.size() : colon + 1);
    }
    return needs;
}

}  // namespace

NodePlace SlurmNode::place() const {
    NodePlace place;
    place.cluster = cluster;
    place.node = name;
    return place;
}

// The process's own copy: reading it asks nobody. SPANK opens this plugin only under the release whose header it was
// built with, so the structure is the header's.
Result<SlurmNode> slurm_node() {
    const auto* conf = static_cast<const slurm_conf_t*>(dlsym(RTLD_DEFAULT, "slurm_conf"));
    if (conf == nullptr || conf->cluster_name == nullptr)
        return fail("unavailable", "slurm.conf: cannot be read: this program has not loaded it");
    SlurmNode node;
    node.cluster = conf->cluster_name;
    node.name = variable("SLURMD_NODENAME");
    node.slurm_user = conf->slurm_user_id;
    if (node.name.empty()) return fail("unavailable", "SLURMD_NODENAME: slurmd did not say which node this is");
    node.needs = needs_of(*conf, node.name);
    return node;
}

Result<SlurmJob> slurm_job() {
    const auto id = number("SLURM_JOB_ID"), restart = number("SLURM_JOB_RESTART_COUNT"), uid = number("SLURM_JOB_UID"),
               gid = number("SLURM_JOB_GID");
    for (const auto* found : {&id, &uid, &gid})
        if (!*found) return tl::unexpected(found->error());
    SlurmJob job;
    job.start = {*id, restart.value_or(0)};
    job.uid = *uid;
    job.gid = *gid;
    job.account = variable("SLURM_JOB_ACCOUNT");
    job.partition = variable("SLURM_JOB_PARTITION");
    job.sealed_grant = variable(grant_env);
    job.decision = variable(decision_env);
    return job;
}

}  // namespace accord::spank
