// SPDX-License-Identifier: GPL-2.0-or-later
// R4: how many GPUs a request may come to hold.
#pragma once

#include <string>
#include <vector>

#include "policy/gpus.hpp"
#include "policy/request.hpp"
#include "policy/shape.hpp"

namespace accord {

/// GPUs per type, per task for arrays. The type "" is an untyped request, which R9 settles. `exact` is false where the
/// request could only be bounded from above; `steps` tell, in words, how the figure came about.
struct GpuCount {
    GpuIntervals gpus;
    bool exact = true;
    std::vector<std::string> steps;
};

/// `shape` may be null (no snapshot yet): node counts are then unbounded and `pool_gpus` bounds the answer.
/// Fails ("gpu_type" or "invalid") where the request names no countable GPU, such as a missing count, and says what
/// the field was.
[[nodiscard]] GpuCount count_gpus(const GpuAsk& ask, const PartitionShape* shape, const GpuVector& pool_gpus);

}  // namespace accord
