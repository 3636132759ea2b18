// SPDX-License-Identifier: GPL-2.0-or-later
// Whether accordd works on the store, as its lock file tells.
#pragma once

#include <cstdint>
#include <optional>

#include "policy/error.hpp"
#include "store/store_paths.hpp"

namespace accord {

struct AccorddState {
    bool running = false;                     ///< on this host
    std::optional<std::int64_t> last_pass_s;  ///< when it last made a pass; unset: never on this store

    /// Running, and its passes go on.
    [[nodiscard]] bool well_at(std::int64_t now_s) const { return running && last_pass_s && now_s - *last_pass_s <= patience_s; }

    /// A pass takes seconds, on a slow slurmctld as long as that takes to answer.
    static constexpr std::int64_t patience_s = 60;
};

[[nodiscard]] Result<AccorddState> accordd_state(const StorePaths& paths);

}  // namespace accord
