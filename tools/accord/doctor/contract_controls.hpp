// SPDX-License-Identifier: GPL-2.0-or-later
// The controls of contracts: what they name must be there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "doctor/control.hpp"
#include "policy/config.hpp"
#include "policy/policy.hpp"

namespace accord {

struct ContractFacts {
    std::vector<PolicyContract> contracts;     ///< in any state
    std::vector<std::string> member_warnings;  ///< users and groups that are not there, administrators left out
    std::vector<std::string> missing_owners;   ///< "vision/gpu: business owner vision-pi"
    std::optional<std::set<std::string>> accounts;  ///< that Slurm knows, in lower case; none where it keeps no accounts
    std::map<std::string, std::string> parents;     ///< account -> the account above it
};

[[nodiscard]] Controls check_contracts(const Config& config, const ContractFacts& facts);

/// Reads contracts.db and asks the name service and sacctmgr. Contracts are none where the file cannot be read.
[[nodiscard]] ContractFacts look_at_contracts(const Config& config, const std::string& slurm_user);

}  // namespace accord
