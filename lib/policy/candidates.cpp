// SPDX-License-Identifier: GPL-2.0-or-later
// R16: the pending jobs that might be promoted or released, in their order.
#include "policy/candidates.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "policy/classify.hpp"

namespace accord {

namespace {

bool awaits_promotion(const GovernedJob& governed) {
    return governed.cls == JobClass::borrowed && governed.job->hold == Hold::none && is_movable(governed);
}

bool awaits_move(const GovernedJob& governed) {
    return (governed.cls == JobClass::queued && is_movable(governed)) || awaits_promotion(governed);
}

/// Pointers to the jobs that may be moved, those of one heterogeneous job side by side.
std::vector<const GovernedJob*> movable_jobs(const Planning& planning) {
    std::vector<const GovernedJob*> movable, components;
    for (const auto& governed : planning.jobs)
        if (awaits_move(governed) && !planning.acted_on.contains(governed.job->job_id))
            (governed.job->het_job_id == 0 ? movable : components).push_back(&governed);
    std::sort(components.begin(), components.end(), [](const auto* left, const auto* right) {
        return std::pair(left->job->het_job_id, left->job->job_id) < std::pair(right->job->het_job_id, right->job->job_id);
    });
    movable.insert(movable.end(), components.begin(), components.end());
    return movable;
}

/// R7: what the components of one heterogeneous job have become so far.
struct HetState {
    bool guaranteed = false, borrowed = false, queued = false, all_pending = true;

    /// The class that the others must follow; none while all have the same.
    [[nodiscard]] std::optional<JobClass> ahead() const {
        if (guaranteed) return JobClass::guaranteed;
        return borrowed && queued ? std::optional(JobClass::borrowed) : std::nullopt;
    }
    [[nodiscard]] bool is_behind(const GovernedJob& governed) const {
        return guaranteed || !queued || governed.cls == JobClass::queued;
    }
};

std::unordered_map<std::uint32_t, HetState> het_states(const std::vector<GovernedJob>& jobs) {
    std::unordered_map<std::uint32_t, HetState> states;
    for (const auto& governed : jobs) {
        if (governed.job->het_job_id == 0) continue;
        auto& state = states[governed.job->het_job_id];
        state.guaranteed = state.guaranteed || governed.cls == JobClass::guaranteed;
        state.borrowed = state.borrowed || governed.cls == JobClass::borrowed;
        state.queued = state.queued || governed.cls == JobClass::queued;
        state.all_pending = state.all_pending && governed.job->state == JobState::pending;
    }
    return states;
}

Candidate candidate_of_het(std::span<const GovernedJob*> components, const HetState& state) {
    const auto rest = std::stable_partition(components.begin(), components.end(),
                                            [&](const auto* one) { return state.is_behind(*one); });
    return {{components.begin(), rest}, state.ahead(), state.all_pending};
}

/// The end of what belongs to the job at `first`.
auto end_of_job(std::vector<const GovernedJob*>::iterator first, std::vector<const GovernedJob*>::iterator end) {
    const auto het_job_id = (*first)->job->het_job_id;
    if (het_job_id == 0) return first + 1;
    return std::find_if(first, end, [&](const auto* one) { return one->job->het_job_id != het_job_id; });
}

/// A released job that did not start is behind those that were decided until it was sent back (R14).
std::pair<std::int64_t, std::uint32_t> age_of(const Candidate& candidate) {
    const auto& [job, facts] = std::pair(candidate.first().job, candidate.first().facts ? &*candidate.first().facts : nullptr);
    return {facts == nullptr ? job->submit_s : std::max(facts->decided_s, facts->sent_back_s), job->job_id};
}

/// What candidates of one queue have in common.
struct Kind {
    const GovernedJob* like = nullptr;
    std::uint32_t het_job_id = 0;  ///< such a job is alone in its queue

    bool operator==(const Kind& other) const {
        return het_job_id == other.het_job_id && like->cls == other.like->cls && like->contract == other.like->contract &&
               like->would_claim == other.like->would_claim;
    }
};
struct KindHash {
    std::size_t operator()(const Kind& kind) const {
        const auto gpus = static_cast<std::size_t>(total(kind.like->would_claim));
        return std::hash<std::string>()(kind.like->contract) * 31 + gpus * 7 + static_cast<std::size_t>(kind.like->cls) +
               kind.het_job_id;
    }
};

}  // namespace

Candidates::Candidates(const Planning& planning) : planning_(planning), movable_(movable_jobs(planning)) {
    collect();
    line_up();
    for (std::size_t queue = 0; queue < queues_.size(); ++queue) push(queue);
}

void Candidates::collect() {
    const auto states = het_states(planning_.jobs);
    for (auto first = movable_.begin(); first != movable_.end();) {
        const auto last = end_of_job(first, movable_.end());
        const auto state = states.find((*first)->job->het_job_id);
        auto candidate = state == states.end() ? Candidate{{first, last}, {}, true}
                                               : candidate_of_het({first, last}, state->second);
        first = last;
        if (!candidate.parts.empty()) all_.push_back(candidate);
    }
}

void Candidates::line_up() {
    std::unordered_map<Kind, std::size_t, KindHash> known;
    for (std::size_t index = 0; index < all_.size(); ++index) {
        const auto& first = all_[index].first();
        const auto [found, is_new] = known.try_emplace(Kind{&first, first.job->het_job_id}, queues_.size());
        if (is_new) queues_.emplace_back();
        queues_[found->second].members.push_back(index);
    }
    for (auto& queue : queues_)
        std::sort(queue.members.begin(), queue.members.end(),
                  [&](auto left, auto right) { return age_of(all_[left]) < age_of(all_[right]); });
}

/// As what it would run now: guaranteed where that fits, else as a loan.
std::int64_t Candidates::factor_of(const Candidate& candidate) const {
    const auto& first = candidate.first();
    const auto* contract = planning_.contract_in_force(first);
    if (contract == nullptr) return 0;
    static const ContractClaims none;
    const auto known = planning_.claims.find(first.contract);
    const auto& claims = known == planning_.claims.end() ? none : known->second;
    const bool guaranteed =
        first.cls == JobClass::borrowed || first.would_claim.empty() || candidate.is_het() ||
        (planning_.within_budget(*contract, first, JobClass::guaranteed) && !beyond_headroom(*contract, claims, first.would_claim));
    return site_factor(planning_.policy.config(), *contract, guaranteed ? JobClass::guaranteed : JobClass::borrowed, claims,
                       first.would_claim);
}

void Candidates::push(std::size_t queue) {
    const auto& [members, at] = queues_[queue];
    if (at == members.size()) return;
    const auto& candidate = all_[members[at]];
    const auto [decided_s, job_id] = age_of(candidate);
    heads_.push({factor_of(candidate), decided_s, job_id, queue});
}

std::optional<Candidate> Candidates::next() {
    while (!heads_.empty()) {
        const auto head = heads_.top();
        heads_.pop();
        auto& queue = queues_[head.queue];
        const auto& candidate = all_[queue.members[queue.at]];
        if (factor_of(candidate) < head.factor) {
            push(head.queue);
            continue;
        }
        ++queue.at;
        push(head.queue);
        return candidate;
    }
    return std::nullopt;
}

}  // namespace accord
