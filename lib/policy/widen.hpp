// SPDX-License-Identifier: GPL-2.0-or-later
// R17: a change of what a job asks for, judged as a new request where it widens anything.
#pragma once

#include <cstdint>
#include <optional>

#include "policy/judgement.hpp"

namespace accord {

/// By a user, of a job in a pool. Empty where nothing is asked for, or slurmctld would do nothing about it.
[[nodiscard]] std::optional<Decision> judge_asks(const Judgement& judgement);

/// How many more of an array's tasks its new throttle lets run at once than the one on record did: 0 where it lets no
/// more; nothing where the change sets no throttle or the record knows none. What an unknown number of tasks that were
/// split off may do counts, so as many as the throttle was raised by, whatever the rest has; without a throttle as many
/// as the pool holds.
[[nodiscard]] std::optional<std::int64_t> more_tasks(const Judgement& judgement);

}  // namespace accord
