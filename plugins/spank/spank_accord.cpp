// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's door to Accord on a node: which hook runs what, and that no exception crosses it.
#include <cerrno>
#include <exception>
#include <string>
#include <string_view>

#include "hooks.hpp"
#include "log.hpp"

extern "C" {
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
}
SPANK_PLUGIN(accord, 1)

namespace {

using namespace accord::spank;

/// "conf=PATH" of plugstack.conf's line.
std::string config_path(int count, char** arguments) {
    constexpr std::string_view key = "conf=";
    for (int i = 0; i < count; ++i)
        if (std::string_view(arguments[i]).starts_with(key)) return arguments[i] + key.size();
    return ACCORD_SYSCONFDIR "/accord.toml";
}

template <typename Hook, typename Failed>
int guard(Hook hook, Failed failed) noexcept {
    try {
        try {
            hook();
        } catch (const std::exception& exception) {
            failed(exception.what());
        }
    } catch (...) {
        // Not even the failure could be told: a prolog has written no verdict then, and tasks end without one.
    }
    errno = 0;
    return ESPANK_SUCCESS;
}

}  // namespace

extern "C" {

int slurm_spank_job_prolog(spank_t, int count, char** arguments) {
    return guard([&] { prolog(config_path(count, arguments)); }, log_error);
}

int slurm_spank_task_init_privileged(spank_t spank, int, char**) {
    return guard([&] { task_privileged(spank); }, refuse_task);
}

int slurm_spank_task_init(spank_t, int, char**) { return guard(task_user, refuse_task); }

int slurm_spank_job_epilog(spank_t, int, char**) { return guard(epilog, log_error); }

}  // extern "C"
