// SPDX-License-Identifier: GPL-2.0-or-later
// The statement that carries a job's scope from its submission to its nodes; doc/grant-format.md describes its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/contract.hpp"
#include "policy/error.hpp"

namespace accord {

/// Entries of `spank_job_env` ("NAME=value"). Slurm hands them to a node's prolog and epilog as environment variables.
inline constexpr const char* grant_env = "SPANK_ACCORD_GRANT";        ///< the sealed grant
inline constexpr const char* decision_env = "SPANK_ACCORD_DECISION";  ///< the decision's id ("0-17"), unsealed

/// The longest text of a grant. Sealed it stays below Munge::max_sealed_bytes whatever munge makes of it.
inline constexpr std::size_t max_grant_bytes = 24'000;

struct Grant {
    std::string cluster;
    bool exempt = false;                 ///< not judged (R3): contract, version and scope are empty
    std::string contract;                ///< key "account/partition"
    std::uint32_t contract_version = 0;
    std::uint32_t uid = 0;               ///< the job's user
    std::string account;                 ///< lower case; of an exempt job it is informative only
    std::string pool;                    ///< the governed partition; a job in the lend partition is of its pool
    std::int64_t issued_s = 0;           ///< seconds since the epoch
    std::int64_t valid_until_s = 0;      ///< last second in which a job may start by it; 0: no end (exempt)
    FilesystemScope scope;               ///< `login_env` and `landlock` are not carried
    bool operator==(const Grant&) const = default;
};

/// The grant's one canonical text.
[[nodiscard]] std::string to_json(const Grant& grant);

/// Reads what `to_json` wrote and nothing else: an unknown, missing or doubled key, another type, another spelling or
/// a text over `max_grant_bytes` is an Error{"invalid"} that says which.
[[nodiscard]] Result<Grant> grant_from_json(std::string_view text);

}  // namespace accord
