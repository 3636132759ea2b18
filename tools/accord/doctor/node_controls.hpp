// SPDX-License-Identifier: GPL-2.0-or-later
// The controls of one host: plugins, plugstack.conf, munge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/control.hpp"
#include "doctor/file_facts.hpp"
#include "policy/config.hpp"

namespace accord {

/// A line of plugstack.conf about spank_accord.so.
struct PlugstackLine {
    std::string file;
    bool required = false;
    std::string plugin;  ///< as named: a path, or a file in PluginDir
    std::string conf;    ///< its conf= argument
    std::string text;
};

struct HostFacts {
    std::string plugstack;                 ///< path of plugstack.conf
    bool plugstack_readable = false;
    std::vector<PlugstackLine> spank;      ///< lines that load spank_accord.so, includes followed
    FileFacts spank_plugin;                ///< the file that the first line names
    std::optional<FileFacts> submit_plugin;  ///< job_submit_accord.so in PluginDir; unset on a compute node
    std::optional<std::uint32_t> slurm_version;  ///< Slurm's own, as one of its plugins here has it
    std::optional<std::uint32_t> spank_version, submit_version;  ///< those that the two plugins are built for
    std::string config_path;               ///< the accord.toml that this program reads
    std::string munge_trouble;             ///< why nothing can be sealed; empty when it can
    std::optional<FileFacts> munge_key;    ///< where its place is known
    std::optional<FileFacts> run_dir;      ///< /run/accord, once a job has been here
    std::optional<FileFacts> credentials;  ///< the folder of the contracts' credentials, where there is one
    std::string scope_config;              ///< the accord.toml that spank_accord.so reads
    std::string scope_config_hash, spank_hash;  ///< short hashes of that file and of the plugin; empty: cannot be read
};

/// What nodes are compared by: controls of these names are found with a short hash.
inline constexpr const char* config_contents = "accord.toml contents";
inline constexpr const char* plugin_contents = "spank_accord.so contents";

/// The first digits of the file's BLAKE2b; empty where it cannot be read.
[[nodiscard]] std::string short_hash_of(const std::string& path);
/// A path as it is; a bare name in the first of PluginDir's folders that has it, else in the last.
[[nodiscard]] FileFacts find_plugin(const std::string& name, const std::string& plugin_dir);

/// `plugin_dir` and `plugstack` are slurm.conf's. Best asked as root, before anything gives that up.
[[nodiscard]] HostFacts look_at_host(const Config& config, const std::string& config_path, const std::string& plugin_dir,
                                     const std::string& plugstack, bool compute_node);

/// Lines about spank_accord.so in the text of plugstack.conf.
[[nodiscard]] std::vector<PlugstackLine> spank_lines(const std::string& file, const std::string& text);
/// What its include lines name, as they stand there.
[[nodiscard]] std::vector<std::string> plugstack_includes(const std::string& text);

[[nodiscard]] Controls check_host(const Config& config, const HostFacts& facts);

}  // namespace accord
