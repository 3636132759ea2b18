// SPDX-License-Identifier: GPL-2.0-or-later
// Who is who in a trace: names stand for themselves, whether or not this machine knows them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "policy/policy.hpp"
#include "sim/trace.hpp"

namespace accord::sim {

/// uids of the simulation's own.
struct People {
    std::map<std::string, std::uint32_t> uids;
    std::vector<std::uint32_t> by_name;  ///< of Trace::names, those that are users
    std::uint32_t nobody = 1;            ///< whose the jobs without a user are
};

struct Cast {
    People people;
    Policy policy;
};

/// The policy of the contracts for the trace's people, all contracts active. `members_of` gives the names in a group. Where the
/// trace has no users, everyone is a member everywhere and a member's own limit does not hold.
[[nodiscard]] Cast cast_of(const Trace& trace, const Config& config, const std::vector<Contract>& contracts,
                           const std::function<std::vector<std::string>(const std::string& group)>& members_of);

}  // namespace accord::sim
