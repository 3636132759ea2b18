// SPDX-License-Identifier: GPL-2.0-or-later
// Sets of nodes by how much is idle, kept as it changes, so that placing looks at no node that is full.
#include "sim/nodes.hpp"

#include <algorithm>
#include <bit>

namespace accord::sim {

Owner Layout::owner() const {
    Owner owner;
    for (const auto& need : {wide, narrow})
        if (need.nodes > 0) owner.push_back(need);
    return owner;
}

Layout layout_of(Gpus gpus, std::int64_t nodes, Gpus most_on_a_node) {
    if (gpus <= 0) return {};
    if (nodes == 0) {
        const auto rest = gpus % most_on_a_node, whole = gpus / most_on_a_node;
        const NodeNeed all{whole, most_on_a_node}, last{rest > 0 ? 1 : 0, rest};
        return whole > 0 ? Layout{all, last} : Layout{last, {}};
    }
    nodes = std::min(nodes, gpus);  // a node without a GPU of the job is of no matter here
    const auto each = gpus / nodes, more = gpus % nodes;
    if (more == 0) return {{nodes, each}, {}};
    return {{more, each + 1}, {nodes - more, each}};
}

Nodes::Nodes(const std::vector<Gpus>& gpus) : nodes_(gpus.size()), reach_(gpus.size(), 0) {
    const auto most = static_cast<std::size_t>(*std::max_element(gpus.begin(), gpus.end()));
    fits_.assign(most + 1, NodeSet(gpus.size()));
    idle_counts_.assign(most + 1, 0);
    reach_counts_.assign(most + 1, 0);
    for (std::size_t node = 0; node < gpus.size(); ++node) {
        set_idle(node, gpus[node]);
        set_reach(node, gpus[node]);
        capacity_ += gpus[node];
    }
    empty_counts_ = idle_counts_;
}

bool Nodes::fits(const Layout& layout, const Counts& counts) {
    const auto enough = [&](Gpus gpus, std::int64_t nodes) {
        return nodes == 0 || (gpus < static_cast<Gpus>(counts.size()) && counts[static_cast<std::size_t>(gpus)] >= nodes);
    };
    return enough(layout.wide.gpus, layout.wide.nodes) &&
           (layout.narrow.nodes == 0 || enough(layout.narrow.gpus, layout.wide.nodes + layout.narrow.nodes));
}

bool Nodes::pick(const NodeNeed& need, std::span<const NodeSet* const> closed, std::vector<NodeGpus>& parts) const {
    auto left = need.nodes;
    const auto before = parts.size();
    const auto& words = fits_[static_cast<std::size_t>(need.gpus)].words();
    for (std::size_t word = 0; word < words.size() && left > 0; ++word) {
        auto open = words[word];
        for (const auto* set : closed) open &= ~set->words()[word];
        for (; open != 0 && left > 0; open &= open - 1) {
            const auto node = word * 64 + static_cast<std::size_t>(std::countr_zero(open));
            const bool taken = std::any_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(before),
                                           [&](const auto& part) { return part.node == node; });
            if (taken) continue;
            parts.push_back({node, need.gpus});
            --left;
        }
    }
    return left == 0;
}

bool Nodes::place(const Layout& layout, std::span<const NodeSet* const> closed, std::vector<NodeGpus>& parts) const {
    parts.clear();
    if (!fits_idle(layout)) return false;
    return (layout.wide.nodes == 0 || pick(layout.wide, closed, parts)) &&
           (layout.narrow.nodes == 0 || pick(layout.narrow, closed, parts));
}

void Nodes::set_idle(std::size_t node, Gpus idle) {
    auto& now = nodes_[node].idle;
    idle_ += idle - now;
    for (; now < idle; ++now) {
        fits_[static_cast<std::size_t>(now) + 1].insert(node);
        ++idle_counts_[static_cast<std::size_t>(now) + 1];
    }
    for (; now > idle; --now) {
        fits_[static_cast<std::size_t>(now)].erase(node);
        --idle_counts_[static_cast<std::size_t>(now)];
    }
}

void Nodes::set_reach(std::size_t node, Gpus reach) {
    auto& now = reach_[node];
    within_reach_ += reach - now;
    for (; now < reach; ++now) ++reach_counts_[static_cast<std::size_t>(now) + 1];
    for (; now > reach; --now) --reach_counts_[static_cast<std::size_t>(now)];
}

void Nodes::take(std::span<const NodeGpus> parts) {
    for (const auto& [node, gpus] : parts) {
        set_idle(node, nodes_[node].idle - gpus);
        set_reach(node, reach_[node] - gpus);
    }
}

void Nodes::give_back(std::span<const NodeGpus> parts) {
    for (const auto& [node, gpus] : parts) {
        set_idle(node, nodes_[node].idle + gpus);
        set_reach(node, reach_[node] + gpus);
    }
}

void Nodes::lend(std::size_t loan, std::span<const NodeGpus> parts) {
    for (const auto& [node, gpus] : parts) {
        nodes_[node].loans.push_back(loan);
        set_reach(node, reach_[node] + gpus);
    }
}

void Nodes::unlend(std::size_t loan, std::span<const NodeGpus> parts) {
    for (const auto& [node, gpus] : parts) {
        std::erase(nodes_[node].loans, loan);
        set_reach(node, reach_[node] - gpus);
    }
}

}  // namespace accord::sim
