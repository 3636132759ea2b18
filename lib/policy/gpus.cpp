// SPDX-License-Identifier: GPL-2.0-or-later
// Sums and words of GPU amounts.
#include "policy/gpus.hpp"

#include <fmt/format.h>

namespace accord {

Gpus total(const GpuVector& gpus) {
    Gpus sum = 0;
    for (const auto& [type, count] : gpus) sum = saturating_add(sum, count);
    return sum;
}

Gpus amount_of(const GpuVector& gpus, const std::string& type) {
    const auto found = gpus.find(type);
    return found == gpus.end() ? 0 : found->second;
}

void add(GpuVector& to, const GpuVector& what, int sign) {
    for (const auto& [type, count] : what) {
        auto& slot = to[type];
        slot = saturating_add(slot, sign * count);
        if (slot == 0) to.erase(type);
    }
}

void add(GpuIntervals& to, const GpuIntervals& what) {
    for (const auto& [type, interval] : what) {
        auto& sum = to[type];
        sum = {saturating_add(sum.min, interval.min), saturating_add(sum.max, interval.max)};
    }
}

GpuVector maxima(const GpuIntervals& intervals) {
    GpuVector most;
    for (const auto& [type, interval] : intervals)
        if (interval.max != 0) most[type] = interval.max;
    return most;
}

std::string describe(const GpuVector& gpus) {
    std::string text;
    for (const auto& [type, count] : gpus) {
        if (!text.empty()) text += " + ";
        text.append(fmt::format_int(count).c_str()).append(" ").append(type.empty() ? "GPU" : type);
    }
    return text.empty() ? "no GPU" : text;
}

}  // namespace accord
