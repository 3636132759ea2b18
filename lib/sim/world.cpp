// SPDX-License-Identifier: GPL-2.0-or-later
// The clock: in each second what ends comes first, then accordd, what is submitted, and the scheduler.
#include "sim/world.hpp"

#include <algorithm>
#include <limits>

namespace accord::sim {

namespace {

/// When contracts come into force and when they leave it.
std::vector<std::int64_t> dates_of(const Policy& policy, std::int64_t after_s) {
    std::vector<std::int64_t> dates;
    for (const auto& contract : policy.contracts()) {
        dates.push_back(contract.contract->valid_from_s);
        if (contract.contract->valid_until_s < std::numeric_limits<std::int64_t>::max())
            dates.push_back(contract.contract->valid_until_s + 1);
    }
    std::sort(dates.begin(), dates.end());
    dates.erase(std::unique(dates.begin(), dates.end()), dates.end());
    dates.erase(dates.begin(), std::upper_bound(dates.begin(), dates.end(), after_s));
    return dates;
}

}  // namespace

World::World(const Setting& setting, EventSink& sink)
    : setting_(setting),
      trace_(setting.trace),
      sink_(sink),
      scheduler_(*this, setting.reclaim),
      books_(setting.policy, setting.shape, scheduler_, setting.period_of, setting.start_s),
      requests_(setting.trace, setting.people),
      now_s_(setting.start_s),
      jobs_(setting.trace.jobs.size()),
      dates_(dates_of(setting.policy, setting.start_s)),
      het_(setting.trace.het_groups),
      pool_queues_(setting.policy.config().pools.size()) {
    constexpr std::int64_t second_ms = 1000;
    const auto interval_ms = setting.policy.config().interval_ms;
    last_event_s_ = setting.start_s;
    for (std::size_t party = 0; party < books_.size(); ++party)
        if (books_.at(party).contract->contract->budget) budgeted_.push_back(party);
    if (interval_ms > second_ms) between_passes_s_ = ceil_div(interval_ms, second_ms);
}

std::int64_t World::next_s() const {
    constexpr auto never = std::numeric_limits<std::int64_t>::max();
    auto next = never;
    if (next_row_ < trace_.jobs.size()) next = setting_.start_s + trace_.jobs[next_row_].submit_s;
    if (!ends_.empty()) next = std::min(next, ends_.top().time_s);
    if (!wakeups_.empty()) next = std::min(next, wakeups_.top().time_s);
    for (const auto& queue : pool_queues_) next = std::min(next, next_try_s(queue));
    // dates alone do not keep the clock running
    if (next == never && dirty_.empty() && !scheduler_.anything_waits()) return never;
    if (!dirty_.empty()) next = std::min(next, std::max(next_pass_s_, now_s_));
    if (next_date_ < dates_.size()) next = std::min(next, dates_[next_date_]);
    return next;
}

Totals World::run() {
    const auto first_s = setting_.start_s + (trace_.jobs.empty() ? 0 : trace_.jobs.front().submit_s);
    auto last_s = first_s;
    for (auto next = next_s(); next != std::numeric_limits<std::int64_t>::max(); next = next_s()) {
        second(next);
        last_s = std::max(last_s, last_event_s_);
    }
    auto totals = books_.totals(first_s, last_s);
    totals.ungoverned = ungoverned_;
    return totals;
}

void World::second(std::int64_t now_s) {
    now_s_ = now_s;
    end_runs();
    change_of_dates();
    wake_up();
    if (pass_is_due()) pass();
    submit();
    do {
        scheduler_.pass(now_s_);
        settle_candidacy();
    } while (pass_is_due() && pass());
}

bool World::pass_is_due() const { return !dirty_.empty() && now_s_ >= next_pass_s_; }

void World::end_runs() {
    while (!ends_.empty() && ends_.top().time_s <= now_s_) {
        const auto end = ends_.top();
        ends_.pop();
        auto cls = jobs_[end.job].cls;
        if (end.place) {
            const auto run = scheduler_.run(*end.place);
            if (!run.running || run.generation != end.generation) continue;
            forget_loan(run, *end.place);
            scheduler_.end(*end.place);
            cls = class_of(run);
        }
        tell(EventKind::end, end.job, end.task, cls, jobs_[end.job].party, end.by_limit ? Reason::time_limit : Reason::none);
        over(end.job, cls);
    }
    settle_candidacy();
}

void World::change_of_dates() {
    if (next_date_ >= dates_.size() || dates_[next_date_] > now_s_) return;
    while (next_date_ < dates_.size() && dates_[next_date_] <= now_s_) ++next_date_;
    books_.put_in_force(now_s_);
    for (std::size_t party = 0; party < books_.size(); ++party) dirty_.insert(party);
    all_ = true;
}

/// R13: what rested from being preempted; R14: what was released, has not started, and keeps others waiting.
void World::wake_up() {
    while (!wakeups_.empty() && wakeups_.top().time_s <= now_s_) {
        const auto row = wakeups_.top().row;
        wakeups_.pop();
        if (jobs_[row].waiting == 0 || jobs_[row].cls != JobClass::queued) continue;
        unsettled_.push_back(row);
        returned_.push_back(row);
        dirty_.insert(jobs_[row].party);
    }
    settle_candidacy();
    for (std::size_t pool = 0; pool < pool_queues_.size(); ++pool) {
        auto& queue = pool_queues_[pool];
        if (next_try_s(queue) > now_s_) continue;
        queue.tried_s = now_s_;
        giving_way_ = true;
        for (const auto& [since_s, row] : queue.stuck)
            if (since_s + patience_s <= now_s_) returned_.push_back(row);
        for (std::size_t party = 0; party < books_.size(); ++party)
            if (books_.at(party).pool == pool) dirty_.insert(party);
    }
}

std::int64_t World::next_try_s(const PoolQueue& queue) const {
    // without anything that runs nothing is kept from starting
    if (queue.stuck.empty() || queue.could_borrow == 0 || ends_.empty()) return std::numeric_limits<std::int64_t>::max();
    return std::max(queue.stuck.begin()->first, queue.tried_s) + patience_s;
}

void World::tell(EventKind kind, std::uint32_t row, std::int64_t task, std::optional<JobClass> cls, std::size_t party,
                 Reason reason, std::optional<JobName> beneficiary) {
    last_event_s_ = now_s_;
    sink_.take({now_s_ - setting_.start_s, name_of(row, task), kind, cls, books_.at(party).key, reason, beneficiary});
}

Totals simulate(const Setting& setting, EventSink& sink) { return World(setting, sink).run(); }

}  // namespace accord::sim
