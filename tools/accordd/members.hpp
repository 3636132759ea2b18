// SPDX-License-Identifier: GPL-2.0-or-later
// Looks the contracts' people up beside the passes: a name service that hangs must not hold them up.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/contracts_db.hpp"

namespace accord {

class MemberLookup {
public:
    [[nodiscard]] bool running() const { return answer_.valid(); }
    /// Starts a look-up in a thread of its own. Only while none is running.
    void start(Config config, std::vector<std::shared_ptr<const Contract>> contracts, std::string slurm_user);
    /// What the look-up found, once.
    [[nodiscard]] std::optional<ResolvedMembers> finished();

private:
    std::future<ResolvedMembers> answer_;
};

}  // namespace accord
