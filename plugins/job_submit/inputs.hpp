// SPDX-License-Identifier: GPL-2.0-or-later
// What was judged, as the JSON object that the journal keeps beside the decision.
#pragma once

#include <string>

#include "policy/ledger.hpp"
#include "policy/modify.hpp"
#include "policy/request.hpp"

namespace accord {

/// The request's fields that are set, and the contract's claims before this job.
[[nodiscard]] std::string inputs_of(const JobRequest& request, const ContractClaims& claims);

/// The change, who asked for it, and the job as slurmctld had it.
[[nodiscard]] std::string inputs_of(const Modification& modification, const ContractClaims& claims);

}  // namespace accord
