// SPDX-License-Identifier: GPL-2.0-or-later
// The places that a network rule names.
#pragma once

#include <string>

namespace accord {

/// Empty for "CIDR", "CIDR:port" or "CIDR:first-last" ("10.20.0.0/16:443", "[fd00::/8]:443", "[fd00::/8]"); otherwise
/// what is wrong and what would be right.
[[nodiscard]] std::string check_network(const std::string& text);

}  // namespace accord
