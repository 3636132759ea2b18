// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "contract/config_toml.hpp"
#include "contract/schema.hpp"

namespace accord {

namespace {

/// What was typed or read comes back in errors: control characters in it neither break the line nor reach the terminal.
std::string without_controls(std::string text) {
    for (auto& byte : text)
        if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) byte = '?';
    return text;
}

}  // namespace

int complain(const Error& error) {
    if (error.where.empty()) return complain(error.what);
    fmt::print(stderr, "{}\n", without_controls(one_line(error)));
    return refused;
}

int complain(const std::string& what) {
    fmt::print(stderr, "accord: {}\n", without_controls(what));
    return refused;
}

void warn(const Error& warning) {
    const auto where = warning.where.empty() ? "" : warning.where + ": ";
    fmt::print(stderr, "{}\n", without_controls(where + "warning: " + warning.what));
}

Result<Config> site_config() { return load_config(config_path()); }

}  // namespace accord
