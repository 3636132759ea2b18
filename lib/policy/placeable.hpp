// SPDX-License-Identifier: GPL-2.0-or-later
// R9: whether a partition's nodes could give a request GPUs of one type.
#pragma once

#include <string>

#include "policy/request.hpp"
#include "policy/shape.hpp"

namespace accord {

/// Whether the nodes that the request names, excludes and counts could give it its GPUs as GPUs of `type`, busy or not.
/// `typed` is the request's ask with that type; `shape` may be null, which rules nothing out.
[[nodiscard]] bool is_placeable(const JobRequest& request, const GpuAsk& typed, const std::string& type,
                                const PartitionShape* shape);

}  // namespace accord
