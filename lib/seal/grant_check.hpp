// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a grant is the one of the job that brings it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "policy/error.hpp"
#include "seal/grant.hpp"

namespace accord {

/// What slurmd knows of a job, whatever its grant says.
struct GrantedJob {
    std::string cluster;
    std::uint32_t uid = 0;
    std::string account;  ///< in any case, empty for none
    std::string pool;     ///< the governed partition of the pool that the job runs in
};

/// Fails ("grant", with the end of a sentence about "its grant") unless `sealer` is `slurm_user`, every fact is the job's,
/// and the contract has not ended by `now_s`. An exempt grant's account is not compared.
[[nodiscard]] Result<void> check_grant(const Grant& grant, uid_t sealer, uid_t slurm_user, const GrantedJob& job,
                                       std::int64_t now_s);

}  // namespace accord
