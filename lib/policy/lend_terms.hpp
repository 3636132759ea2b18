// SPDX-License-Identifier: GPL-2.0-or-later
// R14: what all contracts of a partition together guarantee and may lend, at every instant of their dates.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/contract.hpp"

namespace accord {

struct PolicyContract;

/// Of one GPU type, while nothing is claimed.
struct LendSums {
    Gpus guaranteed = 0;         ///< by contracts in force
    Gpus lendable = 0;           ///< of that, within each one's lend limit
    std::int64_t limits = 0;     ///< contracts in force that have a lend limit
};

/// From `from_s` on, until before `until_s`.
struct LendWindow {
    std::int64_t from_s = std::numeric_limits<std::int64_t>::min();
    std::int64_t until_s = std::numeric_limits<std::int64_t>::max();
    LendSums sums;
};

/// Of the contracts whose state is active; made with a Policy, and never changed.
class LendTerms {
public:
    explicit LendTerms(const std::vector<PolicyContract>& contracts);

    [[nodiscard]] LendWindow at(std::string_view partition, std::string_view type, std::int64_t now_s) const;
    /// Types that a contract of the partition names.
    [[nodiscard]] std::vector<std::string> types_of(std::string_view partition) const;
    /// The first few contracts with a lend limit for the type, those that lend least first, whatever their dates.
    [[nodiscard]] const std::vector<std::shared_ptr<const Contract>>& limited(std::string_view partition,
                                                                             std::string_view type) const;

private:
    struct Step {
        std::int64_t from_s = 0;
        LendSums sums;
    };
    struct OfType {
        std::vector<Step> steps;  ///< by time
        std::vector<std::shared_ptr<const Contract>> limited;
    };
    using ByType = std::map<std::string, OfType, std::less<>>;

    [[nodiscard]] const OfType* find(std::string_view partition, std::string_view type) const;
    static void settle(OfType& of_type, const std::string& type);

    std::map<std::string, ByType, std::less<>> by_partition_;
};

}  // namespace accord
