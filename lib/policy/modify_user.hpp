// SPDX-License-Identifier: GPL-2.0-or-later
// R17 for the people whose jobs these are: what they may change, and what their changes claim.
#pragma once

#include <optional>

#include "policy/judgement.hpp"

namespace accord {

/// Of a job in a pool. Empty: it passes without a record.
[[nodiscard]] std::optional<Decision> judge_user(const Judgement& judgement);

}  // namespace accord
