// SPDX-License-Identifier: GPL-2.0-or-later
// Accord's lines in slurmd's log.
#pragma once

#include <string>

#include "sys/text.hpp"

extern "C" {
#include <slurm/spank.h>
}

namespace accord::spank {

// A line may quote paths and names that users chose.
inline void log_info(const std::string& line) { slurm_info("accord: %s", sanitised(line, 2048).c_str()); }
inline void log_error(const std::string& line) { slurm_error("accord: %s", sanitised(line, 2048).c_str()); }

}  // namespace accord::spank
