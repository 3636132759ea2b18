// SPDX-License-Identifier: GPL-2.0-or-later
// What was judged, as the JSON object that the journal keeps beside the decision.
#pragma once

#include <string>

#include "policy/ledger.hpp"
#include "policy/modify.hpp"
#include "policy/request.hpp"

namespace accord {

/// The request's fields that are set, and what the ledger says of the contract before this job: its claims, and what is
/// used of its budget.
[[nodiscard]] std::string inputs_of(const JobRequest& request, const Ledger& ledger, const std::string& contract);

/// The change, who asked for it, the job as slurmctld had it, and the same of the ledger.
[[nodiscard]] std::string inputs_of(const Modification& modification, const Ledger& ledger, const std::string& contract);

}  // namespace accord
