// SPDX-License-Identifier: GPL-2.0-or-later
#include <glob.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "doctor/node_controls.hpp"
#include "doctor/plugin_release.hpp"
#include "seal/munge.hpp"
#include "store/hash.hpp"

namespace accord {
namespace {

constexpr const char* default_munge_socket = "/run/munge/munge.socket.2";
constexpr const char* default_munge_key = "/etc/munge/munge.key";
constexpr const char* installed_config = ACCORD_SYSCONFDIR "/accord.toml";
constexpr const char* credentials_folder = ACCORD_SYSCONFDIR "/credentials";
constexpr const char* slurms_own_plugin = "auth_munge.so";  ///< of each daemon, wherever grants can be sealed
constexpr int most_includes = 8;  ///< nested
constexpr std::size_t short_hash_digits = 16;

std::optional<std::string> text_of_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) return {};
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::string> files_of(const std::string& pattern) {
    glob_t found{};
    std::vector<std::string> files;
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    return files;
}

/// plugstack.conf and what it includes; relative names are beside it (spank_stack_load, 22.05).
bool read_plugstack(const std::string& path, std::vector<PlugstackLine>& lines, int depth = 0) {
    const auto text = text_of_file(path);
    if (!text) return false;
    auto own = spank_lines(path, *text);
    lines.insert(lines.end(), own.begin(), own.end());
    const auto folder = path.substr(0, path.rfind('/') + 1);
    for (const auto& include : plugstack_includes(*text))
        if (depth < most_includes)
            for (const auto& file : files_of(include.starts_with('/') ? include : folder + include))
                read_plugstack(file, lines, depth + 1);
    return true;
}

/// As root a whole round trip, since grants can be opened by root only.
std::string munge_trouble(const Config& config) {
    const Munge munge(config.munge_socket);
    const auto sealed = munge.seal("accord doctor");
    if (!sealed) return sealed.error().what;
    if (::geteuid() != 0) return {};
    const auto opened = munge.unseal(*sealed);
    return opened ? "" : opened.error().what;
}

}  // namespace

FileFacts find_plugin(const std::string& name, const std::string& plugin_dir) {
    if (name.starts_with('/')) return look_at_file(name);
    FileFacts found;
    std::istringstream folders(plugin_dir);
    for (std::string folder; std::getline(folders, folder, ':');) {
        found = look_at_file(folder + "/" + name);
        if (found.there) break;
    }
    return found;
}

std::string short_hash_of(const std::string& path) {
    const auto text = text_of_file(path);
    return text ? blake2b_hex(*text).substr(0, short_hash_digits) : "";
}

HostFacts look_at_host(const Config& config, const std::string& config_path, const std::string& plugin_dir,
                       const std::string& plugstack, bool compute_node) {
    HostFacts facts;
    facts.config_path = config_path;
    facts.plugstack = plugstack;
    facts.plugstack_readable = read_plugstack(plugstack, facts.spank);
    if (!facts.spank.empty()) {
        const auto& line = facts.spank.front();
        facts.spank_plugin = find_plugin(line.plugin, plugin_dir);
        facts.spank_hash = short_hash_of(facts.spank_plugin.path);
        facts.spank_version = plugin_version_of(facts.spank_plugin.path);
        facts.scope_config = line.conf.empty() ? installed_config : line.conf;
        facts.scope_config_hash = short_hash_of(facts.scope_config);
    }
    if (!compute_node) {
        facts.submit_plugin = find_plugin("job_submit_accord.so", plugin_dir);
        facts.submit_version = plugin_version_of(facts.submit_plugin->path);
    }
    facts.slurm_version = plugin_version_of(find_plugin(slurms_own_plugin, plugin_dir).path);
    facts.munge_trouble = munge_trouble(config);
    if (config.munge_socket == default_munge_socket) {
        auto key = look_at_file(default_munge_key);
        if (key.there && key.trouble.empty()) facts.munge_key = std::move(key);
    }
    auto run_dir = look_at_file("/run/accord");
    if (run_dir.there) facts.run_dir = std::move(run_dir);
    auto credentials = look_at_file(credentials_folder);
    if (credentials.there) facts.credentials = std::move(credentials);
    return facts;
}

}  // namespace accord
