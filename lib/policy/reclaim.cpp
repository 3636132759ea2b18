// SPDX-License-Identifier: GPL-2.0-or-later
// Owners one by one take the cheapest nodes; then every victim that they can do without is spared.
#include "policy/reclaim.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace accord {

namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

/// What a choice of victims costs; the smaller is the better.
struct Cost {
    std::int64_t breaks = 0;  ///< victims whose contract is within its guarantee without them
    std::int64_t lost_gpu_s = 0;
    std::int64_t jobs = 0;
    std::int64_t age_s = 0;

    auto operator<=>(const Cost&) const = default;
    Cost operator+(const Cost& other) const {
        return {breaks + other.breaks, lost_gpu_s + other.lost_gpu_s, jobs + other.jobs, age_s + other.age_s};
    }
};

/// Loans of one node that are looked at; more of them than a node has GPUs cannot be.
constexpr std::size_t most_loans = 64;

/// A choice among the loans of one node, by their places in its list.
struct NodeChoice {
    Cost cost;
    std::uint64_t loans = 0;
};

/// The world while victims are chosen: what is idle on each node once those so far are gone.
class Choosing {
public:
    Choosing(const LentNodes& lent, std::span<const Owner> owners)
        : lent_(lent),
          owners_(owners),
          beyond_(lent.beyond.begin(), lent.beyond.end()),
          owner_of_(lent.loans.size(), nobody) {
        for (const auto& node : lent.nodes) idle_.push_back(node.idle);
    }

    ReclaimPlan plan() {
        for (std::size_t owner = 0; owner < owners_.size(); ++owner) serve(owner);
        spare();
        return finished();
    }

private:
    [[nodiscard]] Gpus held_on(std::size_t loan, std::size_t node) const {
        for (const auto& part : lent_.loans[loan].parts)
            if (part.node == node) return part.gpus;
        return 0;
    }

    [[nodiscard]] Cost cost_of(std::size_t index) const {
        const auto& loan = lent_.loans[index];
        const auto gpus = loan.gpus();
        const auto age_s = std::max<std::int64_t>(0, lent_.now_s - loan.start_s);
        return {gpus > beyond_[loan.contract] ? 1 : 0, saturating_mul(gpus, age_s), 1, age_s};
    }

    [[nodiscard]] std::span<const std::size_t> loans_on(std::size_t node) const {
        const std::span<const std::size_t> loans(lent_.nodes[node].loans);
        return loans.first(std::min(loans.size(), most_loans));
    }

    [[nodiscard]] Gpus within_reach(std::size_t node) const {
        auto gpus = idle_[node];
        for (const auto loan : loans_on(node))
            if (owner_of_[loan] == nobody) gpus += held_on(loan, node);
        return gpus;
    }

    /// The cheapest loans of the node that bring its idle GPUs to `need`; the best for each number of GPUs that they free
    /// at least follows from the best for fewer.
    [[nodiscard]] std::optional<NodeChoice> cheapest_on(std::size_t node, Gpus need) {
        const auto missing = static_cast<std::size_t>(std::max<Gpus>(0, need - idle_[node]));
        best_.assign(missing + 1, std::nullopt);
        best_[0] = NodeChoice{};
        const auto loans = loans_on(node);
        for (std::size_t at = 0; at < loans.size(); ++at) {
            if (owner_of_[loans[at]] != nobody) continue;
            const auto frees = static_cast<std::size_t>(held_on(loans[at], node));
            const auto cost = cost_of(loans[at]);
            for (auto freed = missing; freed > 0; --freed) {
                const auto& before = best_[freed > frees ? freed - frees : 0];
                if (!before || (best_[freed] && best_[freed]->cost <= before->cost + cost)) continue;
                best_[freed] = NodeChoice{before->cost + cost, before->loans | std::uint64_t{1} << at};
            }
        }
        return best_[missing];
    }

    /// Whether the owner can be placed if every loan goes: nodes of the larger need serve the smaller one too.
    [[nodiscard]] bool can_start(const Owner& owner) const {
        std::int64_t wanted = 0;
        for (const auto& need : owner) {
            wanted += need.nodes;
            std::int64_t found = 0;
            for (std::size_t node = 0; node < idle_.size() && found < wanted; ++node)
                if (within_reach(node) >= need.gpus) ++found;
            if (found < wanted) return false;
        }
        return true;
    }

    void take(std::size_t loan, std::size_t owner) {
        owner_of_[loan] = owner;
        order_.push_back(loan);
        beyond_[lent_.loans[loan].contract] -= lent_.loans[loan].gpus();
        for (const auto& part : lent_.loans[loan].parts) idle_[part.node] += part.gpus;
    }

    /// The node that costs least, beside those of `placing`.
    [[nodiscard]] std::optional<std::pair<std::size_t, NodeChoice>> cheapest_node(Gpus need,
                                                                                  const std::vector<NodeGpus>& placing) {
        std::optional<std::pair<std::size_t, NodeChoice>> best;
        for (std::size_t node = 0; node < idle_.size(); ++node) {
            const bool taken = std::any_of(placing.begin(), placing.end(), [&](const auto& part) { return part.node == node; });
            if (taken || within_reach(node) < need) continue;
            const auto choice = cheapest_on(node, need);
            if (choice && (!best || choice->cost < best->second.cost)) best.emplace(node, *choice);
            if (best && best->second.loans == 0) break;
        }
        return best;
    }

    void serve(std::size_t owner) {
        auto& placing = placings_.emplace_back();
        if (!can_start(owners_[owner])) return;
        for (const auto& need : owners_[owner])
            for (std::int64_t count = 0; count < need.nodes; ++count) {
                const auto found = cheapest_node(need.gpus, placing);
                if (!found) return placing.clear();
                const auto [node, choice] = *found;
                const auto loans = loans_on(node);
                for (std::size_t at = 0; at < loans.size(); ++at)
                    if (choice.loans >> at & 1) take(loans[at], owner);
                placing.push_back({node, need.gpus});
            }
        for (const auto& part : placing) idle_[part.node] -= part.gpus;
    }

    /// First fit in the nodes' order, the owners' larger needs first. Nothing when some owner that is served now would
    /// not be.
    [[nodiscard]] std::optional<std::vector<std::vector<NodeGpus>>> packed_without(std::size_t spared) const {
        std::vector<Gpus> idle;
        for (const auto& node : lent_.nodes) idle.push_back(node.idle);
        for (const auto loan : order_)
            if (loan != spared)
                for (const auto& part : lent_.loans[loan].parts) idle[part.node] += part.gpus;
        std::vector<std::vector<NodeGpus>> placings(owners_.size());
        for (const auto owner : by_size()) {
            if (placings_[owner].empty()) continue;
            if (!pack(owners_[owner], idle, placings[owner])) return std::nullopt;
        }
        return placings;
    }

    static bool pack(const Owner& owner, std::vector<Gpus>& idle, std::vector<NodeGpus>& placing) {
        for (const auto& need : owner) {
            auto left = need.nodes;
            for (std::size_t node = 0; node < idle.size() && left > 0; ++node) {
                const auto same = [&](const auto& part) { return part.node == node; };
                if (idle[node] < need.gpus || std::any_of(placing.begin(), placing.end(), same)) continue;
                placing.push_back({node, need.gpus});
                --left;
            }
            if (left > 0) return false;
        }
        for (const auto& part : placing) idle[part.node] -= part.gpus;
        return true;
    }

    [[nodiscard]] std::vector<std::size_t> by_size() const {
        std::vector<std::size_t> order(owners_.size());
        for (std::size_t owner = 0; owner < order.size(); ++owner) order[owner] = owner;
        std::stable_sort(order.begin(), order.end(), [&](auto left, auto right) {
            const auto size = [&](auto owner) { return owners_[owner].empty() ? Gpus{0} : owners_[owner].front().gpus; };
            return size(left) > size(right);
        });
        return order;
    }

    /// Those that cost most are spared first.
    void spare() {
        if (order_.size() < 2) return;
        auto dearest = order_;
        beyond_.assign(lent_.beyond.begin(), lent_.beyond.end());
        std::stable_sort(dearest.begin(), dearest.end(),
                         [&](auto left, auto right) { return cost_of(left) > cost_of(right); });
        for (const auto loan : dearest)
            if (auto placings = packed_without(loan)) {
                placings_ = std::move(*placings);
                std::erase(order_, loan);
                owner_of_[loan] = nobody;
            }
    }

    /// Whose node a victim's GPUs are on, after sparing has moved owners.
    [[nodiscard]] std::size_t beneficiary_of(std::size_t loan) const {
        for (std::size_t owner = 0; owner < placings_.size(); ++owner)
            for (const auto& part : placings_[owner])
                if (held_on(loan, part.node) > 0) return owner;
        return owner_of_[loan];
    }

    ReclaimPlan finished() {
        ReclaimPlan plan;
        for (const auto loan : order_) plan.victims.push_back({loan, beneficiary_of(loan)});
        std::stable_sort(plan.victims.begin(), plan.victims.end(),
                         [](const auto& left, const auto& right) { return left.owner < right.owner; });
        plan.placings = std::move(placings_);
        return plan;
    }

    const LentNodes& lent_;
    std::span<const Owner> owners_;
    std::vector<Gpus> idle_, beyond_;
    std::vector<std::optional<NodeChoice>> best_;  ///< of the node under choice
    std::vector<std::size_t> owner_of_;  ///< by loan; nobody: it stays
    std::vector<std::size_t> order_;     ///< the victims so far
    std::vector<std::vector<NodeGpus>> placings_;
};

}  // namespace

Gpus Loan::gpus() const {
    Gpus sum = 0;
    for (const auto& part : parts) sum += part.gpus;
    return sum;
}

ReclaimPlan choose_victims(const LentNodes& lent, std::span<const Owner> owners) {
    return Choosing(lent, owners).plan();
}

}  // namespace accord
