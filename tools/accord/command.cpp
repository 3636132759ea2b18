// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "contract/config_toml.hpp"
#include "contract/schema.hpp"

namespace accord {

int complain(const Error& error) {
    if (error.where.empty()) return complain(error.what);
    fmt::print(stderr, "{}\n", one_line(error));
    return refused;
}

int complain(const std::string& what) {
    fmt::print(stderr, "accord: {}\n", what);
    return refused;
}

Result<Config> site_config() { return load_config(config_path()); }

}  // namespace accord
