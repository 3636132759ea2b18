// SPDX-License-Identifier: GPL-2.0-or-later
// What differs between Slurm's releases; no other file looks at the version.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace accord::compat {

/// What slurmctld compares a plugin's plugin_version with.
inline constexpr std::uint32_t build_version = SLURM_VERSION_NUMBER;

inline constexpr unsigned release =
    SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER) * 100 + SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER);

/// "22.05.8", of a version number as plugins carry it.
[[nodiscard]] inline std::string release_name(std::uint32_t version) {
    const auto two_digits = [](unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    return std::to_string(SLURM_VERSION_MAJOR(version)) + "." + two_digits(SLURM_VERSION_MINOR(version)) + "." +
           std::to_string(SLURM_VERSION_MICRO(version));
}

/// slurmctld opens a job_submit plugin of its own version alone, slurmd and srun a SPANK plugin of their major and minor
/// (_verify_syms, 22.05 and 24.11).
[[nodiscard]] constexpr bool opens_job_submit(std::uint32_t slurm, std::uint32_t plugin) { return slurm == plugin; }
[[nodiscard]] constexpr bool opens_spank(std::uint32_t slurm, std::uint32_t plugin) { return slurm >> 8 == plugin >> 8; }

/// The protocol number of the release that this was built for (its src/common/slurm_protocol_common.h); empty for one
/// that is not known here.
[[nodiscard]] constexpr std::optional<std::uint16_t> protocol_version() {
    switch (release) {
        case 2205: return 38 << 8;
        case 2302: return 39 << 8;
        case 2311: return 40 << 8;
        case 2405: return 41 << 8;
        case 2411: return 42 << 8;
        case 2505: return 43 << 8;
        case 2511: return 44 << 8;
        case 2605: return 45 << 8;
        default: return std::nullopt;
    }
}

/// PreemptParameters=min_exempt_priority is there from 23.02 on; `version` is slurmctld's, such as "22.05.8".
[[nodiscard]] inline bool exempts_by_priority(const std::string& version) { return version >= "23.02"; }

/// Updates of TRES strings were laid over the old ones until 23.02 (_update_job).
inline constexpr bool merges_updates = release < 2302;

/// `job_size_str`: node counts as a list ("2,4,8"), from 23.11 on.
template <typename Record>
[[nodiscard]] std::optional<std::string> job_size(const Record& record) {
    if constexpr (requires { record.job_size_str; }) {
        if (record.job_size_str != nullptr && *record.job_size_str != '\0') return std::string(record.job_size_str);
    }
    return std::nullopt;
}

/// TRES strings as slurmctld parses them: "gres:gpu" up to 23.02, "gres/gpu" from 23.11 on (_get_next_gres,
/// slurm_get_next_tres). Clients' own texts are in that spelling already.
[[nodiscard]] inline std::string spelled(std::string text) {
    constexpr char separator = release >= 2311 ? '/' : ':';
    constexpr std::size_t name = 4;
    for (auto at = text.find("gres"); at != std::string::npos; at = text.find("gres", at + name))
        if (at + name < text.size() && (text[at + name] == ':' || text[at + name] == '/')) text[at + name] = separator;
    return text;
}

/// Names the job that a request is about: `job_id`, within `step_id` from 25.11 on.
template <typename Request>
void set_job_id(Request& request, std::uint32_t job_id) {
    if constexpr (requires { request.job_id; }) request.job_id = job_id;
    else request.step_id.job_id = job_id;
}

/// slurm_kill_job_step, which takes flags in newer releases.
template <typename Kill = decltype(&::slurm_kill_job_step)>
[[nodiscard]] int kill_step(std::uint32_t job_id, std::uint32_t step_id, std::uint16_t signal,
                            Kill kill = &::slurm_kill_job_step) {
    if constexpr (std::is_invocable_v<Kill, std::uint32_t, std::uint32_t, std::uint16_t, std::uint16_t>)
        return kill(job_id, step_id, signal, 0);
    else
        return kill(job_id, step_id, signal);
}

/// JobContainerType, which is NamespaceType from 25.11 on; null: unset.
template <typename Conf>
[[nodiscard]] const char* container_type(const Conf& conf) {
    if constexpr (requires { conf.job_container_plugin; }) return conf.job_container_plugin;
    else return conf.namespace_plugin;
}

}  // namespace accord::compat

/// job_modify gets `err_msg` from 23.02 on; before, only its return code reaches the user.
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#define ACCORD_MODIFY_HAS_MESSAGE 1
#define ACCORD_MODIFY_MESSAGE_PARAMETER , char **err_msg
#define ACCORD_MODIFY_MESSAGE err_msg
#else
#define ACCORD_MODIFY_MESSAGE_PARAMETER
#define ACCORD_MODIFY_MESSAGE nullptr
#endif
