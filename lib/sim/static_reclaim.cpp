// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim/static_reclaim.hpp"

#include <algorithm>
#include <tuple>

namespace accord::sim {

namespace {

class Choosing {
public:
    Choosing(const LentNodes& lent, std::span<const std::int64_t> priorities)
        : lent_(lent), priorities_(priorities), gone_(lent.loans.size(), false) {
        for (const auto& node : lent.nodes) idle_.push_back(node.idle);
    }

    void serve(const Owner& owner, std::size_t at, ReclaimPlan& plan) {
        auto& placing = plan.placings.emplace_back();
        auto room = idle_;
        std::vector<std::size_t> victims;
        for (const auto& need : owner) {
            auto left = need.nodes;
            for (std::size_t node = 0; node < room.size() && left > 0; ++node) {
                const auto same = [&](const auto& part) { return part.node == node; };
                if (std::any_of(placing.begin(), placing.end(), same)) continue;
                if (!make_room(node, need.gpus, room, victims)) continue;
                placing.push_back({node, need.gpus});
                --left;
            }
            if (left == 0) continue;
            for (const auto loan : victims) gone_[loan] = false;
            return placing.clear();
        }
        for (const auto loan : victims) plan.victims.push_back({loan, at});
        // of what was idle before, it takes what its victims did not give
        for (const auto& [node, gpus] : placing) idle_[node] -= std::max<Gpus>(0, gpus - (room[node] - idle_[node]));
    }

private:
    [[nodiscard]] Gpus held_on(std::size_t loan, std::size_t node) const {
        for (const auto& part : lent_.loans[loan].parts)
            if (part.node == node) return part.gpus;
        return 0;
    }

    bool make_room(std::size_t node, Gpus need, std::vector<Gpus>& room, std::vector<std::size_t>& victims) {
        std::vector<std::size_t> loans;
        auto reach = room[node];
        for (const auto loan : lent_.nodes[node].loans)
            if (!gone_[loan]) {
                loans.push_back(loan);
                reach += held_on(loan, node);
            }
        if (reach < need) return false;
        std::sort(loans.begin(), loans.end(), [&](auto left, auto right) {
            const auto order = [&](auto loan) { return std::tuple(priorities_[loan], -lent_.loans[loan].start_s, loan); };
            return order(left) < order(right);
        });
        for (auto loan = loans.begin(); room[node] < need; ++loan) {
            gone_[*loan] = true;
            victims.push_back(*loan);
            for (const auto& part : lent_.loans[*loan].parts) room[part.node] += part.gpus;
        }
        return true;
    }

    const LentNodes& lent_;
    std::span<const std::int64_t> priorities_;
    std::vector<bool> gone_;
    std::vector<Gpus> idle_;  ///< what was idle before, less what earlier owners take
};

}  // namespace

ReclaimPlan choose_victims_as_slurm(const LentNodes& lent, std::span<const Owner> owners,
                                    std::span<const std::int64_t> priorities) {
    ReclaimPlan plan;
    Choosing choosing(lent, priorities);
    for (std::size_t owner = 0; owner < owners.size(); ++owner) choosing.serve(owners[owner], owner, plan);
    return plan;
}

}  // namespace accord::sim
