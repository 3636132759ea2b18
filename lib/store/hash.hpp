// SPDX-License-Identifier: GPL-2.0-or-later
// The hash of every chain and checksum in the stores.
#pragma once

#include <string>
#include <string_view>

namespace accord {

/// What the first record of a chain names as the one before it.
inline constexpr std::string_view no_hash = "0000000000000000000000000000000000000000000000000000000000000000";

/// BLAKE2b-256 in 64 lower-case hexadecimal digits.
[[nodiscard]] std::string blake2b_hex(std::string_view data);

}  // namespace accord
