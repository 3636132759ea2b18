// SPDX-License-Identifier: GPL-2.0-or-later
// The site at this moment, as far as its files tell: for status and why.
#pragma once

#include <string>
#include <vector>

#include "accordd_state.hpp"
#include "policy/config.hpp"
#include "policy/error.hpp"
#include "policy/policy.hpp"
#include "report/record.hpp"

namespace accord {

struct SiteNow {
    Config config;
    std::vector<PolicyContract> contracts;  ///< in any state
    LedgerNow now;
    Record record;
    AccorddState accordd;
};

/// The contracts of contracts.db, in any state; none where the file is not there.
[[nodiscard]] Result<std::vector<PolicyContract>> contracts_in(const std::string& contracts_db);

/// As root, becomes the stores' owner.
[[nodiscard]] Result<SiteNow> read_site_now();

}  // namespace accord
