// SPDX-License-Identifier: GPL-2.0-or-later
// What can be wrong with a chain of records.
#pragma once

#include <string>

namespace accord {

enum class FaultKind { altered, missing, inserted, reordered, truncated };
[[nodiscard]] const char* to_string(FaultKind kind);

/// The first bad record of a chain.
struct ChainFault {
    FaultKind kind = FaultKind::altered;
    std::string record;  ///< its id; where even that cannot be read, its place
    std::string what;    ///< a sentence
};

}  // namespace accord
