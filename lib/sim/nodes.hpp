// SPDX-License-Identifier: GPL-2.0-or-later
// The nodes of one GPU type of a pool: what is idle, what is lent, and where a job can be placed.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/reclaim.hpp"

namespace accord::sim {

/// How a job's GPUs lie on nodes: on `wide.nodes` nodes `wide.gpus` each, on others `narrow.gpus`, which are fewer. None
/// at all for a job without GPUs.
struct Layout {
    NodeNeed wide, narrow;
    auto operator<=>(const Layout&) const = default;

    [[nodiscard]] Gpus gpus() const { return wide.nodes * wide.gpus + narrow.nodes * narrow.gpus; }
    [[nodiscard]] Owner owner() const;
};

/// `gpus` over `nodes` nodes as evenly as whole GPUs go; with `nodes` 0 over as few nodes of `most_on_a_node` GPUs as it
/// takes, all but the last one whole.
[[nodiscard]] Layout layout_of(Gpus gpus, std::int64_t nodes, Gpus most_on_a_node);

/// A set of nodes.
class NodeSet {
public:
    NodeSet() = default;
    explicit NodeSet(std::size_t nodes) : words_((nodes + 63) / 64) {}
    void insert(std::size_t node) { words_[node / 64] |= std::uint64_t{1} << node % 64; }
    void erase(std::size_t node) { words_[node / 64] &= ~(std::uint64_t{1} << node % 64); }
    [[nodiscard]] bool contains(std::size_t node) const { return words_[node / 64] >> node % 64 & 1; }
    [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

private:
    std::vector<std::uint64_t> words_;
};

/// Nodes are named by their places, loans by places of the caller's own.
class Nodes {
public:
    /// `gpus`: of each node.
    explicit Nodes(const std::vector<Gpus>& gpus);

    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    [[nodiscard]] Gpus most_on_a_node() const { return static_cast<Gpus>(fits_.size()) - 1; }
    [[nodiscard]] Gpus idle() const { return idle_; }
    [[nodiscard]] Gpus within_reach() const { return within_reach_; }  ///< idle and lent
    [[nodiscard]] Gpus capacity() const { return capacity_; }

    /// Whether it could be placed on idle GPUs; were every loan gone; were nothing there.
    [[nodiscard]] bool fits_idle(const Layout& layout) const { return fits(layout, idle_counts_); }
    [[nodiscard]] bool fits_with_loans(const Layout& layout) const { return fits(layout, reach_counts_); }
    [[nodiscard]] bool fits_empty(const Layout& layout) const { return fits(layout, empty_counts_); }

    /// The first nodes with idle GPUs for it, beside those of the sets in `closed`, into `parts`. False where there are none.
    [[nodiscard]] bool place(const Layout& layout, std::span<const NodeSet* const> closed, std::vector<NodeGpus>& parts) const;

    void take(std::span<const NodeGpus> parts);
    void give_back(std::span<const NodeGpus> parts);
    /// Marks what `loan` holds as lent, or as not lent any more.
    void lend(std::size_t loan, std::span<const NodeGpus> parts);
    void unlend(std::size_t loan, std::span<const NodeGpus> parts);

    [[nodiscard]] std::span<const ReclaimNode> for_reclaim() const { return nodes_; }

private:
    using Counts = std::vector<std::int64_t>;  ///< nodes with at least that many GPUs, by the number
    static bool fits(const Layout& layout, const Counts& counts);
    bool pick(const NodeNeed& need, std::span<const NodeSet* const> closed, std::vector<NodeGpus>& parts) const;
    void set_idle(std::size_t node, Gpus idle);
    void set_reach(std::size_t node, Gpus reach);

    std::vector<ReclaimNode> nodes_;
    std::vector<Gpus> reach_;    ///< idle and lent, by node
    std::vector<NodeSet> fits_;  ///< nodes with at least that many idle GPUs, by the number
    Counts idle_counts_, reach_counts_, empty_counts_;
    Gpus idle_ = 0, within_reach_ = 0, capacity_ = 0;
};

}  // namespace accord::sim
