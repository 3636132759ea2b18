// SPDX-License-Identifier: GPL-2.0-or-later
// The ledger's snapshot from a job list, and what must be counted beside it.
#include "snapshot.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace accord {

std::unordered_set<std::uint64_t> open_decisions_shown(const std::vector<JobView>& jobs, const Roster& roster,
                                                       const Resolver& resolver, std::uint32_t controller) {
    std::unordered_set<std::uint64_t> shown;
    if (resolver.open().empty()) return shown;
    for (const auto& job : jobs) {
        const auto decision = roster.decision_of(job);
        if (decision && decision->controller == controller && resolver.open().contains(decision->number))
            shown.insert(decision->number);
    }
    return shown;
}

namespace {

void note_released(LedgerBase& base, const std::vector<GovernedJob>& jobs, const Roster& roster, std::uint32_t controller) {
    for (const auto& governed : jobs) {
        if (governed.cls == JobClass::queued || governed.job->array_job_id == 0 || governed.job->state != JobState::pending)
            continue;
        const auto decision = roster.decision_of(*governed.job);
        if (decision && decision->controller == controller && base.queued.contains(decision->number))
            base.released[decision->number].insert(governed.job->job_id);
    }
}

}  // namespace

LedgerBase snapshot(const std::vector<GovernedJob>& jobs, const Roster& roster, const Resolver& resolver,
                    const ClusterShape& shape, std::uint32_t controller, std::int64_t taken_s) {
    LedgerBase base;
    base.taken_s = taken_s;
    base.resolved_through = resolver.resolved_through();
    base.counted = resolver.counted();
    for (const auto& governed : jobs) {
        const auto& job = *governed.job;
        if (job.type == WorkloadType::cron && job.state == JobState::pending && !governed.claim.empty())
            base.crons.push_back({{governed.contract, job.uid, governed.cls, governed.claim}, job.begin_s});
        const bool is_queued = governed.cls == JobClass::queued;
        const auto facts = governed.facts.value_or(JobFacts{});
        const bool had_limit = facts.max_nodes && job.state == JobState::pending && job.lacks_node_limit();
        if (!is_queued && !facts.throttle && !had_limit) continue;
        const auto decision = roster.decision_of(job);
        if (!decision || decision->controller != controller) continue;
        if (is_queued) base.queued.insert(decision->number);
        if (facts.throttle) base.throttles[decision->number] = *facts.throttle;
        if (had_limit) base.node_limits[decision->number] = *facts.max_nodes;
    }
    note_released(base, jobs, roster, controller);
    base.contracts = claims_of(jobs);
    base.shape = shape;
    return base;
}

bool same_ledger(const LedgerBase& left, const LedgerBase& right) {
    const auto parts = [](const LedgerBase& base) {
        return std::tie(base.resolved_through, base.counted, base.queued, base.released, base.node_limits, base.throttles,
                        base.contracts, base.crons, base.shape);
    };
    return parts(left) == parts(right);
}

bool budgets_are_due(const Policy& policy, const LedgerBase& written, const LedgerBase& newer) {
    constexpr std::int64_t longest_s = 60;
    if (written.budgets == newer.budgets) return false;
    if (newer.metered_s - written.metered_s >= longest_s || written.budgets.size() != newer.budgets.size()) return true;
    return std::any_of(newer.budgets.begin(), newer.budgets.end(), [&](const auto& budget) {
        const auto& [key, use] = budget;
        const auto before = written.budgets.find(key);
        if (before == written.budgets.end() || before->second.period != use.period) return true;
        const auto* contract = policy.contract(key);
        return contract != nullptr && standing_of(*contract->contract, written.budgets, newer.taken_s).limit !=
                                          standing_of(*contract->contract, newer.budgets, newer.taken_s).limit;
    });
}

std::unordered_map<std::string, ContractClaims> all_claims(std::shared_ptr<const LedgerBase> base,
                                                           const Resolver& resolver) {
    auto claims = base->contracts;
    Ledger ledger;
    ledger.rebase(std::move(base));
    for (const auto& [number, open] : resolver.open()) apply_to_ledger(ledger, number, open.decision);
    for (const auto& [number, open] : resolver.open()) {
        const auto& decision = open.decision;
        const auto key = decision.contract.empty() ? decision.account + "/" + decision.partition : decision.contract;
        claims[key] = ledger.of(key);
    }
    return claims;
}

}  // namespace accord
