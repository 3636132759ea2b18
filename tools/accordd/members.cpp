// SPDX-License-Identifier: GPL-2.0-or-later
// Looks the contracts' people up beside the passes: a name service that hangs must not hold them up.
#include "members.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace accord {

void MemberLookup::start(Config config, std::vector<std::shared_ptr<const Contract>> contracts,
                         std::string slurm_user) {
    std::packaged_task<ResolvedMembers()> lookup(
        [config = std::move(config), contracts = std::move(contracts), slurm_user = std::move(slurm_user)] {
            return resolve_members(config, contracts, slurm_user);
        });
    answer_ = lookup.get_future();
    // Not joined: at accordd's end a look-up that hangs is left behind.
    std::thread(std::move(lookup)).detach();
}

std::optional<ResolvedMembers> MemberLookup::finished() {
    if (!running() || answer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
    return answer_.get();
}

}  // namespace accord
