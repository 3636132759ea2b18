// SPDX-License-Identifier: GPL-2.0-or-later
// R14: a released job that does not start goes back behind one that could.
#include <algorithm>
#include <optional>
#include <vector>

#include "policy/classify.hpp"
#include "policy/planning.hpp"

namespace accord {

namespace {

constexpr std::int64_t patience_s = 60;

bool is_released(const GovernedJob& governed, std::int64_t now_s) {
    return governed.cls == JobClass::borrowed && governed.job->hold == Hold::none && governed.job->het_job_id == 0 &&
           governed.facts && governed.facts->released_s != 0 && !governed.claim.empty() &&
           governed.job->eligible_at(now_s - patience_s) && now_s - governed.facts->released_s >= patience_s;
}

bool is_idle(const GpuVector& idle, const GpuVector& ask) {
    return std::all_of(ask.begin(), ask.end(),
                       [&](const auto& one) { return one.second <= amount_of(idle, one.first); });
}

/// Whether the one could start where the other does not: it asks for fewer GPUs, or otherwise for as many.
bool is_easier(const GovernedJob& one, const GovernedJob& than) {
    const auto asked = total(one.would_claim), stuck = total(than.would_claim);
    return asked < stuck || (asked == stuck && !(one.job->gpus == than.job->gpus));
}

/// Whether the limits would let `waiting` borrow what `stuck` claims.
bool could_follow(Planning& planning, const GovernedJob& stuck, const GovernedJob& waiting) {
    const auto& pool = planning.pool_of(stuck);
    if (&pool != &planning.pool_of(waiting) || !is_easier(waiting, stuck)) return false;
    auto freed = planning.claims.at(stuck.contract);
    move_claim(freed, stuck, JobClass::queued);
    auto loans = planning.loans_of(pool);
    if (loans.any_limit()) loans.set(planning.policy, stuck.contract, freed);
    const auto& claims = waiting.contract == stuck.contract ? freed : planning.claims.at(waiting.contract);
    return may_be_given(planning, claims, loans, waiting, JobClass::borrowed);
}

}  // namespace

void send_back(Planning& planning) {
    std::vector<const GovernedJob*> stuck, waiting;
    for (const auto& governed : planning.jobs) {
        if (!is_movable(governed) || planning.acted_on.contains(governed.job->job_id)) continue;
        if (is_released(governed, planning.now_s)) stuck.push_back(&governed);
        else if (governed.cls == JobClass::queued && governed.job->het_job_id == 0 && !governed.would_claim.empty())
            waiting.push_back(&governed);
    }
    if (stuck.empty()) return;
    std::erase_if(waiting, [&](const auto* one) {
        return !may_move(planning, *one) || !is_idle(planning.idle_in(planning.pool_of(*one)), one->would_claim);
    });
    std::sort(stuck.begin(), stuck.end(), [](const auto* left, const auto* right) {
        return std::pair(left->facts->released_s, left->job->job_id) < std::pair(right->facts->released_s, right->job->job_id);
    });
    for (const auto* one : stuck) {
        const auto next = std::find_if(waiting.begin(), waiting.end(),
                                       [&](const auto* other) { return could_follow(planning, *one, *other); });
        if (next == waiting.end() || planning.contract_in_force(*one) == nullptr) continue;
        const auto why = (*next)->contract == one->contract ? Reason::borrow_limit : Reason::lend_limit;
        return planning.add(queueing_of(planning, *one, ActionKind::demote, why));
    }
}

}  // namespace accord
