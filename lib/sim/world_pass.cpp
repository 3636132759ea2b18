// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's pass: plan() over the jobs that it could do something for.
#include <algorithm>
#include <limits>
#include <utility>

#include "policy/classify.hpp"
#include "policy/planning.hpp"
#include "sim/world.hpp"

namespace accord::sim {

namespace {

constexpr std::size_t guaranteed = 0, borrowed = 1;
constexpr auto all = std::numeric_limits<std::size_t>::max();

}  // namespace

/// True where something was moved, so that the scheduler has something new.
bool World::pass() {
    next_pass_s_ = now_s_ + between_passes_s_;
    auto parties = std::exchange(dirty_, {});
    add_neighbours(parties);
    for (const auto party : parties) {
        books_.meter_budget(party, now_s_);
        if (setting_.reclaim == ReclaimMode::live) promote_running(party);
    }
    const auto rows = in_question(parties);
    const auto actions = rows.empty() ? std::vector<Action>() : planned(rows);
    all_ = giving_way_ = false;
    for (const auto& action : actions) carry_out(action);
    settle_candidacy();
    return !actions.empty();
}

/// R14: where a pool has lend limits, all its contracts are concerned by what one of them does.
void World::add_neighbours(std::set<std::size_t>& parties) {
    std::set<std::size_t> pools;
    for (const auto party : parties)
        if (books_.is_limited(books_.at(party).pool)) pools.insert(books_.at(party).pool);
    for (std::size_t party = 0; !pools.empty() && party < books_.size(); ++party)
        if (pools.contains(books_.at(party).pool)) parties.insert(party);
}

/// R13: a contract that is back within its guarantee has what it borrows made guaranteed, in the order in which a guarantee
/// is filled.
void World::promote_running(std::size_t at) {
    const auto& party = books_.at(at);
    if (party.contract == nullptr || !party.contract->active_at(now_s_)) return;
    const auto& contract = *party.contract->contract;
    if (standing_of(contract, books_.ledger().base().budgets, now_s_).limit != BudgetLimit::none) return;
    for (std::size_t ground = 0; ground < scheduler_.grounds(); ++ground) {
        const auto& type = books_.place_of_ground(ground).type;
        while (true) {
            const auto room = headroom_of(contract, *party.claims, type);
            const auto* first = room == 0 ? nullptr : lent_.first_within(at, ground, room);
            if (first == nullptr) break;
            const auto lent = *first;
            auto& job = jobs_[lent.job];
            lent_.erase(at, job.claim, lent);
            scheduler_.protect(lent.place);
            --job.running[borrowed];
            ++job.running[guaranteed];
            tell(EventKind::promote, lent.job, scheduler_.run(lent.place).task, JobClass::guaranteed, at, Reason::headroom);
            settle(lent.job);
        }
    }
}

std::vector<std::uint32_t> World::in_question(const std::set<std::size_t>& parties) {
    std::vector<std::uint32_t> rows;
    for (const auto party : parties) collect(party, rows);
    for (const auto group : het_waiting_) rows.insert(rows.end(), het_[group].begin(), het_[group].end());
    for (const auto row : std::exchange(returned_, {}))
        if (jobs_[row].waiting > 0) rows.push_back(row);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

void World::collect(std::size_t party, std::vector<std::uint32_t>& found) {
    for (const auto& [kind, jobs] : candidates_.of(party)) {
        auto left = most_moves(party, kind);
        for (auto job = jobs.begin(); job != jobs.end() && left > 0; ++job, --left) found.push_back(job->second);
    }
}

/// How many of the kind there is room for at most; those behind them in the order cannot have it.
std::size_t World::most_moves(std::size_t at, const CandidateKind& kind) {
    const auto& party = books_.at(at);
    if (all_ || (giving_way_ && kind.cls == JobClass::queued) || party.contract == nullptr || kind.ask == 0) return all;
    const auto& contract = *party.contract->contract;
    const auto& type = books_.place_of_ground(kind.ground).type;
    auto room = headroom_of(contract, *party.claims, type) / kind.ask;
    if (kind.cls == JobClass::queued && !kind.rests && may_borrow(contract, kind.type, kind.requeue)) {
        const auto capacity = contract.capacity.find(type);
        const bool limited = capacity != contract.capacity.end() && capacity->second.borrow_limit;
        if (!limited) return all;
        const auto excess = excess_of(contract, *party.claims, type);
        const auto claims = amount_of(party.claims->guaranteed, type) + amount_of(party.claims->borrowed, type);
        const auto within = std::max<Gpus>(0, capacity->second.guaranteed - claims);
        room += std::max<Gpus>(0, *capacity->second.borrow_limit - excess + within) / kind.ask;
    }
    return static_cast<std::size_t>(std::max<Gpus>(0, room));
}

Gpus World::would_claim(std::uint32_t row) const {
    const auto& job = jobs_[row];
    return job.claim * std::min(job.waiting, job.throttle);
}

JobView World::view_of(std::uint32_t row) const {
    const auto& job = jobs_[row];
    const auto& key = books_.at(job.party).key;
    const auto& pool = setting_.policy.config().pools[job.pool];
    JobView view;
    view.job_id = row + 1;
    if (trace_.jobs[row].het != none) view.het_job_id = het_[trace_.jobs[row].het].front() + 1;
    view.uid = job.uid;
    view.account = key.substr(0, key.rfind('/'));
    view.partition = job.cls == JobClass::guaranteed || job.cls == JobClass::exempt ? pool.partition : pool.lend_partition;
    view.hold = job.cls == JobClass::queued ? Hold::admin : Hold::none;
    view.submit_s = job.decided_s;
    view.priority = static_cast<std::uint32_t>(std::clamp<std::int64_t>(job.site_factor + trace_.jobs[row].priority, 0, 0xffffffff));
    view.restarts = static_cast<std::uint32_t>(job.preemptions);
    view.type = trace_.jobs[row].kind;
    view.requeueable = trace_.jobs[row].requeue;
    view.gpus.min_nodes = trace_.jobs[row].nodes > 0 ? std::optional<std::int64_t>(trace_.jobs[row].nodes) : std::nullopt;
    if (job.limit_s < std::numeric_limits<std::int64_t>::max() / 4) view.time_limit_min = job.limit_s / 60;
    return view;
}

GovernedJob World::governed(std::uint32_t row, const JobView& view) {
    const auto& job = jobs_[row];
    GovernedJob one;
    one.job = &view;
    one.contract = books_.at(job.party).key;
    one.cls = job.cls == JobClass::exempt ? JobClass::guaranteed : job.cls;
    if (job.claim > 0) {
        const auto& type = books_.place_of_ground(job.ground).type;
        one.would_claim[type] = would_claim(row);
        if (job.cls != JobClass::queued) one.claim = one.would_claim;
    }
    auto& facts = one.facts.emplace();
    facts.decision = {0, row + 1};
    facts.decided_s = job.decided_s;
    facts.cls = job.cls;
    facts.released_s = job.released_s;
    facts.sent_back_s = job.sent_back_s;
    facts.preemptions = job.preemptions;
    facts.last_preempted_s = job.last_preempted_s;
    return one;
}

/// What is not in question counts as one job that runs: that is what the rest of a pool is to a heterogeneous job.
std::vector<Action> World::planned(const std::vector<std::uint32_t>& rows) {
    std::vector<JobView> views;
    views.reserve(rows.size() + scheduler_.grounds());
    std::vector<GovernedJob> jobs;
    std::unordered_map<std::string, ContractClaims> claims;
    bool het = false, limited = all_ || giving_way_;
    for (const auto row : rows) {
        views.push_back(view_of(row));
        jobs.push_back(governed(row, views.back()));
        const auto& party = books_.at(jobs_[row].party);
        claims.try_emplace(party.key, *party.claims);
        limited = limited || books_.is_limited(party.pool);  // the others' claims matter, too
        het = het || trace_.jobs[row].het != none;
    }
    for (std::size_t party = 0; limited && party < books_.size(); ++party)
        claims.try_emplace(books_.at(party).key, *books_.at(party).claims);
    for (std::size_t ground = 0; (het || limited) && ground < scheduler_.grounds(); ++ground) {
        const auto& nodes = scheduler_.ground(ground).nodes;
        const auto& place = books_.place_of_ground(ground);
        JobView running;
        running.partition = setting_.policy.config().pools[place.pool].partition;
        running.state = JobState::running;
        running.allocated[place.type] = nodes.capacity() - nodes.idle() + scheduler_.about_to_start(ground);
        views.push_back(std::move(running));
        GovernedJob rest;
        rest.job = &views.back();
        rest.cls = JobClass::guaranteed;
        jobs.push_back(std::move(rest));
    }
    return plan(setting_.policy, setting_.shape, jobs, std::move(claims), books_.ledger().base().budgets, now_s_);
}

void World::carry_out(const Action& action) {
    const auto row = action.job_id - 1;
    auto& job = jobs_[row];
    const auto became = [&](EventKind kind) {
        note_move(row, action.to);
        job.cls = action.to;
        if (action.site_factor) job.site_factor = *action.site_factor;
        tell(kind, row, -1, job.cls, job.party, action.reason);
        if (const auto group = trace_.jobs[row].het; group != none) {
            if (job.cls == JobClass::queued)
                het_waiting_.insert(group);
            else
                het_waiting_.erase(group);
        }
        settle(row);
    };
    switch (action.kind) {
        case ActionKind::promote: return became(EventKind::promote);
        case ActionKind::release: return became(EventKind::release);
        case ActionKind::demote: return became(EventKind::demote);
        case ActionKind::hold: return became(EventKind::hold);
        case ActionKind::cancel: return cancel(row);
        case ActionKind::park:
        case ActionKind::throttle: return;  // nothing depends on others here, and nobody changes a throttle
    }
}

/// What accordd would have on record of it.
void World::note_move(std::uint32_t row, JobClass to) {
    auto& job = jobs_[row];
    if (job.cls == JobClass::queued && to == JobClass::borrowed) job.released_s = now_s_;
    if (job.cls != JobClass::borrowed || to != JobClass::queued) return;
    const auto view = view_of(row);
    const auto* contract = books_.at(job.party).contract;
    job.rests_until_s = contract == nullptr ? 0 : borrows_again_s(*contract->contract, governed(row, view));
    if (job.rests_until_s <= now_s_)
        job.sent_back_s = now_s_;
    else if (job.rests_until_s < std::numeric_limits<std::int64_t>::max())
        wakeups_.push({job.rests_until_s, row});
}

void World::cancel(std::uint32_t row) {
    jobs_[row].waiting = 0;
    tell(EventKind::cancel, row, -1, jobs_[row].cls, jobs_[row].party, Reason::not_active);
    settle(row);
}

}  // namespace accord::sim
