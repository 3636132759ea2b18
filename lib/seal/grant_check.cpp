// SPDX-License-Identifier: GPL-2.0-or-later
// The checks in the order of what they reveal: the sealer first, then whose grant it is, then its date.
#include "seal/grant_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "policy/utc.hpp"

namespace accord {
namespace {

std::string lower_case(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

}  // namespace

Result<void> check_grant(const Grant& grant, uid_t sealer, uid_t slurm_user, const GrantedJob& job, std::int64_t now_s) {
    const auto differs = [](const char* what, const auto& found, const auto& right) {
        return fail("grant", fmt::format("its grant is for the {} {}, not for {}", what, found, right));
    };
    if (sealer != slurm_user)
        return fail("grant", fmt::format("its grant was sealed by uid {}, not by SlurmUser (uid {})", sealer, slurm_user));
    if (grant.cluster != job.cluster) return differs("cluster", grant.cluster, job.cluster);
    if (grant.uid != job.uid) return differs("uid", grant.uid, job.uid);
    if (grant.pool != job.pool) return differs("pool", grant.pool, job.pool);
    const std::string account = lower_case(job.account);
    if (!grant.exempt && grant.account != account) return differs("account", grant.account, account);
    if (grant.valid_until_s != 0 && now_s > grant.valid_until_s)
        return fail("grant", fmt::format("its contract {} ended at {}", grant.contract, utc_text(grant.valid_until_s)));
    return {};
}

}  // namespace accord
