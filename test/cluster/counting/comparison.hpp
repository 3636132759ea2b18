// SPDX-License-Identifier: GPL-2.0-or-later
// Accord's count of a request beside what Slurm gave: alike, different for a reason with a name, or a fault.
#pragma once

#include <optional>
#include <string>

#include "placement.hpp"
#include "policy/decision.hpp"
#include "request.hpp"

namespace accord::test {

struct Verdict {
    enum class Kind { agreement, explained, fault } kind = Kind::agreement;
    std::string reason;  ///< of an explained difference: one of a few; of a fault: what is wrong
};

/// `decision` is none where the client itself refused the request.
Verdict compare(const Request& request, const std::optional<Decision>& decision, const Placement& placement);

}  // namespace accord::test
