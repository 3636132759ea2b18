// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's TRES strings ("gres:gpu:a100:4,gres/gpu=2"), in every release's spelling.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/gpus.hpp"

namespace accord {

/// One field's GPUs, as Slurm reads them. Of a repeated (name, type) the last one holds; a count of 0 is no request.
struct TresGpus {
    GpuVector gpus;               ///< "" for those of no named type
    GpuVector shards;             ///< likewise
    bool mps = false;             ///< asks for a part of a GPU by MPS, which Slurm gives of one GPU on each node
    bool malformed = false;       ///< a "gres" token that Slurm refuses, such as "gpu::1" or "gpu:a100:x"
    std::string_view without_prefix;  ///< a token such as "gpu:1", which Slurm skips: it asks for nothing; else empty
};

/// Reads the grammar of 22.05's _get_next_gres and 24.11's slurm_get_next_tres, whichever separators are used:
/// `gres` `:` or `/`, the name, `:TYPE`, and `:` or `=` with a count. A second part that is a number is a count, never
/// a type. Counts may carry a multiplier (K, KiB = 1024, KB = 1000, M, G, T, P) and saturate. `without_prefix` points
/// into `text`.
[[nodiscard]] TresGpus parse_tres_gpus(std::string_view text);

/// The same text with `type` given to every token that asks for GPUs of no named type (R9).
[[nodiscard]] std::string with_gpu_type(std::string_view text, std::string_view type);

/// A count with its multiplier, saturating at `gpus_max`; nothing when it is not a number.
[[nodiscard]] std::optional<Gpus> parse_tres_count(std::string_view text);

}  // namespace accord
