// SPDX-License-Identifier: GPL-2.0-or-later
// R10: what all contracts together may guarantee.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "policy/policy.hpp"
#include "policy/utc.hpp"

namespace accord {

namespace {

struct Peak {
    Gpus gpus = 0;
    std::int64_t at_s = 0;
};

/// By when it holds, how much a type's guarantees of one partition change.
using Changes = std::map<std::int64_t, Gpus>;

Peak peak_of(const Changes& changes) {
    Peak peak;
    Gpus sum = 0;
    for (const auto& [at_s, change] : changes) {
        sum += change;
        if (sum > peak.gpus) peak = {sum, at_s};
    }
    return peak;
}

std::map<std::string, Changes> changes_in(const std::string& partition, const std::vector<PolicyContract>& contracts) {
    std::map<std::string, Changes> by_type;
    for (const auto& [contract, version, state, members, hash] : contracts) {
        if (contract->partition != partition || state != ContractState::active) continue;
        for (const auto& [type, capacity] : contract->capacity) {
            by_type[type][contract->valid_from_s] += capacity.guaranteed;
            if (contract->valid_until_s < std::numeric_limits<std::int64_t>::max())
                by_type[type][contract->valid_until_s + 1] -= capacity.guaranteed;
        }
    }
    return by_type;
}

}  // namespace

std::vector<std::string> guarantee_breaches(const Config& config, const std::vector<PolicyContract>& contracts) {
    std::vector<std::string> breaches;
    for (const auto& pool : config.pools) {
        for (const auto& [type, changes] : changes_in(pool.partition, contracts)) {
            const auto peak = peak_of(changes);
            const auto capacity = amount_of(pool.gpus, type);
            if (peak.gpus <= capacity) continue;
            breaches.push_back(fmt::format(
                "partition {}: its contracts together would guarantee {} {} from {} on, and the pool has {}: lower "
                "guarantees by {}",
                pool.partition, peak.gpus, type, utc_text(peak.at_s), capacity, peak.gpus - capacity));
        }
    }
    return breaches;
}

}  // namespace accord
