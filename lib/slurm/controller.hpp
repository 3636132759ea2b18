// SPDX-License-Identifier: GPL-2.0-or-later
// Which of slurm.conf's controllers this host is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace accord {

/// The place of `host` among the names of slurm.conf's SlurmctldHost, which is the C of its decisions' ids; 0 when it is
/// none of them. Names are compared in full, then up to their first dot.
[[nodiscard]] std::uint32_t controller_index(const std::vector<std::string>& controllers, const std::string& host);

}  // namespace accord
