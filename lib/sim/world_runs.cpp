// SPDX-License-Identifier: GPL-2.0-or-later
// Runs: how jobs start and end, are preempted and wait again, and what follows for claims and use.
#include <algorithm>

#include "policy/classify.hpp"
#include "sim/world.hpp"

namespace accord::sim {

namespace {

constexpr std::size_t guaranteed = 0, borrowed = 1;

constexpr std::size_t index_of(JobClass cls) { return cls == JobClass::borrowed ? borrowed : guaranteed; }

}  // namespace

JobClass World::class_of(const Run& run) const {
    if (run.lent) return JobClass::borrowed;
    return jobs_[run.job].cls == JobClass::exempt ? JobClass::exempt : JobClass::guaranteed;
}

std::size_t World::party(std::uint32_t job, std::size_t ground) { return books_.place(jobs_[job].party, ground); }

std::span<const std::uint32_t> World::together_with(const std::uint32_t& row) const {
    const auto group = trace_.jobs[row].het;
    return group == none ? std::span(&row, 1) : std::span(het_[group]);
}

/// The tasks that were preempted first, then the others by their indices.
World::Task World::next_task(std::uint32_t row) {
    const auto array = trace_.jobs[row].array;
    if (array == none) return {-1, jobs_[row].preemptions > 0};
    auto& rest = arrays_[row];
    if (!rest.returned.empty()) return {rest.returned.extract(rest.returned.begin()).value(), true};
    while (!trace_.arrays[array].contains(rest.next)) ++rest.next;
    return {rest.next++, false};
}

JobName World::next_name(std::uint32_t row) const {
    const auto array = trace_.jobs[row].array;
    if (array == none) return name_of(row, -1);
    const auto& rest = arrays_.at(row);
    if (!rest.returned.empty()) return name_of(row, *rest.returned.begin());
    auto next = rest.next;
    while (!trace_.arrays[array].contains(next)) ++next;
    return name_of(row, next);
}

void World::starts(std::uint32_t first, std::span<const RunPlace> runs) {
    const auto rows = together_with(first);
    std::size_t run = 0;
    for (const auto row : rows) start_run(row, jobs_[row].claim > 0 ? &runs[run++] : nullptr);
}

void World::start_run(std::uint32_t row, const RunPlace* place) {
    auto& job = jobs_[row];
    const auto task = next_task(row);
    const auto span_s = std::min(trace_.jobs[row].duration_s, job.limit_s);
    End end{now_s_ + span_s, end_order_++, {}, 0, row, task.index, span_s < trace_.jobs[row].duration_s};
    if (place != nullptr) {
        auto& run = scheduler_.run(*place);
        run.job = row;
        run.task = task.index;
        scheduler_.ground(place->ground).loans[place->slot].contract = party(row, place->ground);
        end.place = *place;
        end.generation = run.generation;
        job.place = *place;
        books_.use(job.party, place->ground, job.gpus, now_s_);
        if (run.lent && setting_.reclaim == ReclaimMode::live && trace_.jobs[row].het == none)
            lend(row, *place);
    }
    ends_.push(end);
    --job.waiting;
    ++job.running[index_of(job.cls)];
    auto& party = books_.at(job.party);
    if (!task.again) {
        ++party.counts.started;
        party.waits_s.push_back(now_s_ - setting_.start_s - trace_.jobs[row].submit_s);
    }
    tell(EventKind::start, row, task.index, job.cls, job.party, Reason::none);
    settle(row);
}

/// An array borrows as a whole; its tasks may be within the guarantee.
void World::lend(std::uint32_t row, RunPlace place) {
    const auto& run = scheduler_.run(place);
    lent_.insert(jobs_[row].party, jobs_[row].claim, {run.priority, run.start_s, row, place});
    if (run.task >= 0) dirty_.insert(jobs_[row].party);
}

void World::forget_loan(const Run& run, RunPlace place) {
    if (!run.lent || setting_.reclaim != ReclaimMode::live || trace_.jobs[run.job].het != none) return;
    lent_.erase(jobs_[run.job].party, jobs_[run.job].claim, {run.priority, run.start_s, run.job, place});
}

/// What held GPUs, if it did, holds them no more.
void World::over(std::uint32_t row, JobClass cls) {
    auto& job = jobs_[row];
    --job.running[index_of(cls)];
    if (job.claim > 0) books_.use(job.party, job.ground, -job.gpus, now_s_);
    settle(row);
}

/// A heterogeneous job goes as a whole.
void World::preempted(const Run& run, RunPlace place, std::uint32_t beneficiary) {
    forget_loan(run, place);
    const auto rows = together_with(run.job);
    take_away(run, beneficiary);
    for (const auto row : rows) {
        if (row == run.job || jobs_[row].claim == 0) continue;
        const auto other = scheduler_.run(jobs_[row].place);
        if (!other.running || other.job != row) continue;
        scheduler_.end(jobs_[row].place);
        take_away(other, beneficiary);
    }
}

void World::take_away(const Run& run, std::uint32_t beneficiary) {
    const auto row = run.job;
    auto& job = jobs_[row];
    auto& counts = books_.at(job.party).counts;
    ++counts.preempted;
    counts.lost_gpu_s += job.gpus * (now_s_ - run.start_s);
    ++job.preemptions;
    job.last_preempted_s = now_s_;
    tell(EventKind::preempt, row, run.task, JobClass::borrowed, job.party, Reason::none, next_name(beneficiary));
    const auto& as_submitted = trace_.jobs[row];
    if (as_submitted.requeue && as_submitted.kind != WorkloadType::interactive) {
        ++job.waiting;
        if (as_submitted.array != none) arrays_[row].returned.insert(run.task);
        returned_.push_back(row);
        dirty_.insert(job.party);
    } else {
        tell(EventKind::cancel, row, run.task, JobClass::borrowed, job.party, Reason::none);
    }
    over(row, JobClass::borrowed);
}

void World::settle(std::uint32_t row) {
    auto& job = jobs_[row];
    const bool leads = together_with(row).front() == row;
    const auto tier = job.cls == JobClass::borrowed ? Tier::lend : Tier::governed;
    const bool waits = leads && job.cls != JobClass::queued && job.waiting > 0 &&
                       job.running[guaranteed] + job.running[borrowed] < job.throttle;
    const Waiting waiting{job.site_factor + trace_.jobs[row].priority, row};
    if (job.enqueued && !(waits && *job.enqueued == tier && job.enqueued_as == waiting)) {
        scheduler_.dequeue(job.shape, *job.enqueued, job.enqueued_as);
        job.enqueued.reset();
    }
    if (waits && !job.enqueued) {
        scheduler_.enqueue(job.shape, tier, waiting);
        job.enqueued = tier;
        job.enqueued_as = waiting;
    }
    settle_claims(row);
    unsettled_.push_back(row);
}

/// R7: an array claims in each class as many tasks as may run at once, and what runs.
void World::settle_claims(std::uint32_t row) {
    auto& job = jobs_[row];
    if (job.claim == 0) return;
    std::array<Gpus, 2> more{};
    for (const auto cls : {guaranteed, borrowed}) {
        const bool rest = job.cls != JobClass::queued && index_of(job.cls) == cls;
        const auto tasks = job.running[cls] + (rest ? job.waiting : 0);
        more[cls] = job.claim * std::max(job.running[cls], std::min(tasks, job.throttle)) - job.claimed[cls];
        if (more[cls] == 0) continue;
        job.claimed[cls] += more[cls];
        books_.claim(job.party, job.uid, job.ground, cls == borrowed ? JobClass::borrowed : JobClass::guaranteed, more[cls]);
    }
    if (more[guaranteed] < 0 || more[guaranteed] + more[borrowed] < 0) dirty_.insert(job.party);
}

bool World::could_borrow(std::uint32_t row, const std::optional<CandidateKind>& kind) const {
    const auto* contract = books_.at(jobs_[row].party).contract;
    return kind && kind->cls == JobClass::queued && !kind->rests && contract != nullptr &&
           may_borrow(*contract->contract, kind->type, kind->requeue);
}

void World::note_candidacy(std::uint32_t row, const std::optional<CandidateKind>& kind) {
    auto& job = jobs_[row];
    auto& queue = pool_queues_[job.pool];
    queue.could_borrow += (could_borrow(row, kind) ? 1 : 0) - (could_borrow(row, job.candidate) ? 1 : 0);
    const auto stuck_since_s = kind && kind->cls == JobClass::borrowed ? job.released_s : 0;
    if (stuck_since_s == job.stuck_since_s) return;
    if (job.stuck_since_s != 0) queue.stuck.erase({job.stuck_since_s, row});
    if (stuck_since_s != 0) queue.stuck.emplace(stuck_since_s, row);
    job.stuck_since_s = stuck_since_s;
}

/// Of the jobs that have changed, and wait still: most start in the second in which they come.
void World::settle_candidacy() {
    for (const auto row : unsettled_) {
        auto& job = jobs_[row];
        std::optional<CandidateKind> kind;
        const bool can_move = job.cls == JobClass::queued || (job.cls == JobClass::borrowed && job.claim > 0);
        if (can_move && job.waiting > 0 && trace_.jobs[row].het == none)
            kind = CandidateKind{job.ground, would_claim(row), job.cls, job.uid, trace_.jobs[row].kind, trace_.jobs[row].requeue,
                                 job.rests_until_s > now_s_};
        const auto since_s = std::max(job.decided_s, job.sent_back_s);
        if (kind == job.candidate && since_s == job.candidate_since_s) continue;
        if (job.candidate) candidates_.erase(job.party, *job.candidate, job.candidate_since_s, row);
        if (kind) candidates_.insert(job.party, *kind, since_s, row);
        note_candidacy(row, kind);
        job.candidate = kind;
        job.candidate_since_s = since_s;
    }
    unsettled_.clear();
}

}  // namespace accord::sim
