// SPDX-License-Identifier: GPL-2.0-or-later
// The release of Slurm that a plugin was built for, read off its file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace accord {

/// `plugin_version` of a Slurm plugin, as its file has it (ELF, of this machine's kind); nothing of it is run. Empty where
/// the file cannot be read or is no such plugin.
[[nodiscard]] std::optional<std::uint32_t> plugin_version_of(const std::string& path);

/// The same of a file's bytes, whatever they are.
[[nodiscard]] std::optional<std::uint32_t> plugin_version_in(std::string_view image);

}  // namespace accord
