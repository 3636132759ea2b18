// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/node_controls.hpp"

#include <sstream>

#include <fmt/format.h>

#include "slurm/compat.hpp"

namespace accord {
namespace {

using State = ControlState;

constexpr std::string_view plugin_name = "spank_accord.so";

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// Root's, and nobody else can write it: slurmd loads it as root.
void check_plugin_file(Controls& controls, const std::string& control, const FileFacts& file, const std::string& line) {
    const auto found = file.there          ? file.path
                       : file.path.empty() ? std::string("not looked for: only slurmctld knows Slurm's plugin folder")
                                           : file.path + ": not there";
    check(controls, control, file.there, State::missing, found, {"Slurm cannot load it", line});
    if (file.there)
        check(controls, control + " mode", (file.mode & 0022) == 0, State::mismatch,
              fmt::format("{:04o} {}", file.mode, file.owner),
              {"who can write it runs code as root on every node", fmt::format("chmod go-w {}", file.path)});
}

/// What opens `plugin` refuses it where it is built for another release; not looked at where either is not known.
void check_release(Controls& controls, const std::string& plugin, const HostFacts& facts, std::optional<std::uint32_t> built_for,
                   bool (*opens)(std::uint32_t, std::uint32_t), const std::string& why) {
    if (!facts.slurm_version || !built_for) return;
    const auto here = compat::release_name(*facts.slurm_version), own = compat::release_name(*built_for);
    const bool right = opens(*facts.slurm_version, *built_for);
    check(controls, plugin + " release", right, State::mismatch,
          right ? own : fmt::format("built for Slurm {}, and Slurm is {} here", own, here),
          {why, fmt::format("install the Accord that is built for Slurm {}", here)});
}

void check_spank(Controls& controls, const HostFacts& facts) {
    // slurmd asks at its start whether any plugin has a prolog (22.05); slurmstepd reads the file for every step
    const auto right_line = fmt::format("{}: required spank_accord.so; then restart slurmd, which looks for prologs in it "
                                        "only at its start", facts.plugstack);
    if (!facts.plugstack_readable) {
        check(controls, "plugstack.conf", false, State::missing, facts.plugstack + ": cannot be read",
              {"no job is scoped on this host without spank_accord.so", right_line});
        return;
    }
    check(controls, "plugstack.conf", !facts.spank.empty(), State::missing,
          facts.spank.empty() ? "no line names spank_accord.so" : facts.spank.front().text,
          {"no job is scoped on this host without it", right_line});
    if (facts.spank.empty()) return;
    const auto& line = facts.spank.front();
    check(controls, "plugstack.conf required", line.required, State::mismatch, line.required ? "required" : "optional",
          {"with optional a plugin that is missing goes unnoticed, and jobs run unscoped",
           fmt::format("{}: required {}", line.file, line.plugin)});
    check(controls, "plugstack.conf once", facts.spank.size() == 1, State::mismatch,
          facts.spank.size() == 1 ? "one line" : fmt::format("{} lines", facts.spank.size()),
          {"a second one would build a second view", fmt::format("{}: remove all but one line", facts.plugstack)});
    check_plugin_file(controls, "spank_accord.so", facts.spank_plugin, "install Accord on this host");
    check_release(controls, "spank_accord.so", facts, facts.spank_version, compat::opens_spank,
                  "sbatch, srun and salloc fail on this host, and every job on this node");
    check(controls, plugin_contents, !facts.spank_hash.empty(), State::mismatch,
          facts.spank_hash.empty() ? facts.spank_plugin.path + ": cannot be read" : facts.spank_hash,
          {"Slurm cannot load it", "install Accord on this host"});
    check(controls, config_contents, !facts.scope_config_hash.empty(), State::missing,
          facts.scope_config_hash.empty() ? facts.scope_config + ": cannot be read" : facts.scope_config_hash,
          {"without it every job but root's is refused here", fmt::format("copy the controller's accord.toml to {}", facts.scope_config)});
    if (!line.conf.empty())
        check(controls, "plugstack.conf conf=", line.conf == facts.config_path, State::warning, line.conf,
              {fmt::format("this program reads {}", facts.config_path), fmt::format("{}: conf={}", line.file, facts.config_path)});
}

void check_munge(Controls& controls, const Config& config, const HostFacts& facts) {
    check(controls, "munge", facts.munge_trouble.empty(), State::mismatch,
          facts.munge_trouble.empty() ? config.munge_socket : facts.munge_trouble,
          {"grants can neither be sealed nor opened", "systemctl start munge; accord.toml: [munge] socket"});
    if (facts.munge_key)
        check(controls, "munge key mode", (facts.munge_key->mode & 0077) == 0, State::mismatch,
              fmt::format("{:04o} {}", facts.munge_key->mode, facts.munge_key->owner),
              {"who can read the key can forge grants", fmt::format("chmod 0400 {}", facts.munge_key->path)});
}

}  // namespace

std::vector<PlugstackLine> spank_lines(const std::string& file, const std::string& text) {
    std::vector<PlugstackLine> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto words = words_of(line);
        if (words.size() < 2 || (words[0] != "required" && words[0] != "optional")) continue;
        if (!std::string_view(words[1]).ends_with(plugin_name)) continue;
        PlugstackLine one{file, words[0] == "required", words[1], {}, line};
        for (std::size_t i = 2; i < words.size(); ++i)
            if (words[i].starts_with("conf=")) one.conf = words[i].substr(5);
        found.push_back(std::move(one));
    }
    return found;
}

std::vector<std::string> plugstack_includes(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto words = words_of(line);
        if (words.size() >= 2 && words[0] == "include") found.push_back(words[1]);
    }
    return found;
}

Controls check_host(const Config& config, const HostFacts& facts) {
    Controls controls;
    check_spank(controls, facts);
    if (facts.submit_plugin)
        check_plugin_file(controls, "job_submit_accord.so", *facts.submit_plugin, "install Accord on this host");
    check_release(controls, "job_submit_accord.so", facts, facts.submit_version, compat::opens_job_submit,
                  "slurmctld does not start with it");
    check_munge(controls, config, facts);
    if (facts.run_dir)
        check(controls, "/run/accord", facts.run_dir->owner == "root" && (facts.run_dir->mode & 0022) == 0, State::mismatch,
              fmt::format("{:04o} {}", facts.run_dir->mode, facts.run_dir->owner),
              {"verdicts and job views lie there, which root alone may write", "chown root: /run/accord; chmod 0755 /run/accord"});
    if (facts.credentials)
        check(controls, "credentials folder", facts.credentials->owner == "root" && (facts.credentials->mode & 0077) == 0,
              State::mismatch, fmt::format("{:04o} {}", facts.credentials->mode, facts.credentials->owner),
              {"secrets lie there, which root alone may read and name",
               fmt::format("chown root: {0}; chmod 0700 {0}", facts.credentials->path)});
    return controls;
}

}  // namespace accord
