// SPDX-License-Identifier: GPL-2.0-or-later
// Which of slurm.conf's controllers this host is.
#include "slurm/controller.hpp"

namespace accord {
namespace {

std::string short_name(const std::string& host) { return host.substr(0, host.find('.')); }

}  // namespace

std::uint32_t controller_index(const std::vector<std::string>& controllers, const std::string& host) {
    for (std::uint32_t i = 0; i < controllers.size(); ++i)
        if (controllers[i] == host) return i;
    for (std::uint32_t i = 0; i < controllers.size(); ++i)
        if (short_name(controllers[i]) == short_name(host)) return i;
    return 0;
}

}  // namespace accord
