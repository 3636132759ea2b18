// SPDX-License-Identifier: GPL-2.0-or-later
// R13, live: which running borrowed jobs go, so that the owners who wait can start.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/gpus.hpp"

namespace accord {

/// GPUs of one type on one node, by the node's place in its list.
struct NodeGpus {
    std::size_t node = 0;
    Gpus gpus = 0;
    bool operator==(const NodeGpus&) const = default;
};

/// A running borrowed job that may be preempted, as a whole. `contract` is a place in LentNodes::beyond.
struct Loan {
    std::size_t contract = 0;
    std::int64_t start_s = 0;
    std::vector<NodeGpus> parts;

    [[nodiscard]] Gpus gpus() const;
};

/// What one node has for owners: GPUs that are idle, and loans (places in LentNodes::loans) that hold GPUs of it.
struct ReclaimNode {
    Gpus idle = 0;
    std::vector<std::size_t> loans;
};

/// That many nodes with at least that many GPUs each.
struct NodeNeed {
    std::int64_t nodes = 0;
    Gpus gpus = 0;
    auto operator<=>(const NodeNeed&) const = default;
};
/// A waiting guaranteed job: needs on different nodes, the one with the most GPUs on a node first.
using Owner = std::vector<NodeNeed>;

/// GPUs of one type, the loans that lie on them and what the contracts use beyond their guarantees.
struct LentNodes {
    std::span<const ReclaimNode> nodes;
    std::span<const Loan> loans;
    std::span<const Gpus> beyond;
    std::int64_t now_s = 0;
};

struct Victim {
    std::size_t loan = 0;
    std::size_t owner = 0;  ///< the first of the owners that gets GPUs of it
    bool operator==(const Victim&) const = default;
};

struct ReclaimPlan {
    std::vector<Victim> victims;                  ///< by their owners
    std::vector<std::vector<NodeGpus>> placings;  ///< by owner; empty: it cannot start whatever is preempted, and takes nothing
};

/// The victims that let as many of `owners` start as can, in their order, and from which none can be left out. Of several
/// choices the one with the fewest jobs whose contract falls within its guarantee without them, then with the fewest
/// GPU-seconds lost, the fewest jobs, and the youngest. Owners share what one victim frees. Jobs that take several nodes
/// find theirs one by one, and are packed in the nodes' order, so that a better choice for all at once may be missed, but
/// never one victim too many.
[[nodiscard]] ReclaimPlan choose_victims(const LentNodes& lent, std::span<const Owner> owners);

}  // namespace accord
