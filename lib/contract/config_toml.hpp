// SPDX-License-Identifier: GPL-2.0-or-later
// accord.toml: from the file to the settings.
#pragma once

#include <optional>
#include <string>

#include "contract/schema.hpp"
#include "policy/config.hpp"
#include "policy/error.hpp"

namespace accord {

/// ACCORD_CONF where it is set (and the process runs with its caller's own rights), else the installed place.
[[nodiscard]] std::string config_path();

/// Every key of accord.toml, bound to `config`, which holds the defaults before and the file's values after reading.
[[nodiscard]] Schema config_schema(Config& config);

struct JudgedConfig {
    std::optional<Config> config;  ///< nothing when there are errors
    Report report;
};

/// All that is wrong with the text. `path` is for messages.
[[nodiscard]] JudgedConfig judge_config(const std::string& text, const std::string& path);

/// Reads and judges the file. The error ("io", "invalid") is the first that was found, with file and line.
[[nodiscard]] Result<Config> load_config(const std::string& path);

}  // namespace accord
