// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's one question and answer: may this job run, and with which claim on capacity?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "policy/decision.hpp"
#include "policy/ledger.hpp"
#include "policy/policy.hpp"
#include "policy/request.hpp"

namespace accord {

/// Whether a decision gets its line for the researcher. Without it only what the line says is missing, and a rejection has
/// it all the same.
enum class Wording { full, none };

/// Judges a submission: R1 chooses the pool, authorize the right, classify the class. Pure: the caller claims what the
/// decision says while it still holds the ledger. Empty when the job is none of Accord's business (R1).
[[nodiscard]] std::optional<Decision> decide(const Policy& policy, const Ledger& ledger, const JobRequest& request,
                                             std::int64_t now_s, Wording wording = Wording::full);

/// R6: the ledger that a scrontab job is judged by, without the jobs that it replaces, where that is another one.
[[nodiscard]] std::optional<Ledger> ledger_besides_replaced(const Ledger& ledger, const JobRequest& request, std::int64_t now_s);

/// R1: whether the request is for a pool's partition or lend partition, or names none while the default is a pool's or
/// not known. `decide` answers exactly these.
[[nodiscard]] bool concerns(const Config& config, const ClusterShape& shape, const JobRequest& request);

/// The answer when there is no policy to judge by (section "When something fails"): rejected, or let through with an
/// exempt grant, as `on_unavailable` says; root is always let through.
[[nodiscard]] Decision decide_unavailable(OnUnavailable what, const JobRequest& request, const std::string& why,
                                          std::int64_t now_s);

}  // namespace accord
