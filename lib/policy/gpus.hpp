// SPDX-License-Identifier: GPL-2.0-or-later
// GPU amounts: whole GPUs per type, and intervals of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace accord {

/// Whole GPUs. 64 bits, so that no request that Slurm can express overflows.
using Gpus = std::int64_t;

/// As much as any amount is ever counted: sums and products of amounts stop here, and a few of them still add up.
inline constexpr Gpus gpus_max = Gpus{1} << 60;

/// Of amounts from 0 to gpus_max.
[[nodiscard]] constexpr Gpus saturating_add(Gpus left, Gpus right) { return std::min(left + right, gpus_max); }
[[nodiscard]] constexpr Gpus saturating_mul(Gpus left, Gpus right) {
    return right != 0 && left > gpus_max / right ? gpus_max : left * right;
}

/// Rounded up, of a value from 0 and a divisor from 1.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t by) {
    return value / by + (value % by != 0 ? 1 : 0);
}

/// Whole GPUs per GPU type; a type that is absent counts 0. The key "" stands for GPUs of no named type.
using GpuVector = std::map<std::string, Gpus>;

/// The fewest and the most GPUs that a job may come to hold (R4).
struct GpuInterval {
    Gpus min = 0;
    Gpus max = 0;
    bool operator==(const GpuInterval&) const = default;
};
using GpuIntervals = std::map<std::string, GpuInterval>;

[[nodiscard]] Gpus total(const GpuVector& gpus);
[[nodiscard]] Gpus amount_of(const GpuVector& gpus, const std::string& type);
/// Adds, or with `sign` -1 takes away; entries that become 0 are removed.
void add(GpuVector& to, const GpuVector& what, int sign = 1);
/// End by end.
void add(GpuIntervals& to, const GpuIntervals& what);
/// The upper ends of all intervals that are not 0.
[[nodiscard]] GpuVector maxima(const GpuIntervals& intervals);
/// "8 a100" or "4 a100 + 2 v100"; "no GPU" when empty.
[[nodiscard]] std::string describe(const GpuVector& gpus);

}  // namespace accord
