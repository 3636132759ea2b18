// SPDX-License-Identifier: GPL-2.0-or-later
// The periods of budgets, by the calendar of the cluster's time zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/budget.hpp"

namespace accord {

/// The months of a generation around a moment: looked up once, since that takes the process's time zone for itself.
class Calendar {
public:
    Calendar() = default;
    /// `zone` as for local_to_epoch_s, and with its restriction to one thread.
    Calendar(const std::string& zone, std::int64_t around_s);

    /// The "month", "quarter" or "year" (of January) that `when_s` lies in; nothing outside of the calendar.
    [[nodiscard]] std::optional<Period> period_at(const std::string& length, std::int64_t when_s) const;

private:
    std::vector<std::int64_t> months_;  ///< their first seconds, from a January on
};

}  // namespace accord
