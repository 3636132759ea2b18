// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of a simulation and what happens to them, second by second.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "policy/plan.hpp"
#include "sim/books.hpp"
#include "sim/candidates.hpp"
#include "sim/requests.hpp"
#include "sim/simulation.hpp"

namespace accord::sim {

/// A row that was admitted or queued. Of an array all tasks that wait have one class; those that run keep theirs.
struct Job {
    std::size_t party = 0, pool = 0, shape = 0;
    std::size_t ground = 0;  ///< of its GPUs; meaningless without
    std::uint32_t uid = 0;
    JobClass cls = JobClass::queued;  ///< of what waits
    std::int64_t site_factor = 0, decided_s = 0, limit_s = 0;
    Gpus gpus = 0;   ///< held by a run
    Gpus claim = 0;  ///< of a run: what it holds and makes unusable (R4)
    std::int64_t waiting = 0;                   ///< tasks; 1 for a job that waits
    std::array<std::int64_t, 2> running{};      ///< tasks by class, guaranteed and borrowed
    std::array<Gpus, 2> claimed{};              ///< what the ledger counts, by class
    std::int64_t throttle = 0;                  ///< tasks that may run at once
    std::int64_t preemptions = 0, last_preempted_s = 0;
    std::int64_t released_s = 0;   ///< last, to borrow; 0: never
    std::int64_t rests_until_s = 0;  ///< R13: borrows no more before, since it was preempted too often
    std::int64_t sent_back_s = 0;  ///< R14: when it was queued again, since it had not started; 0: never
    RunPlace place;                             ///< of its run, where it is no array
    std::optional<Tier> enqueued;
    Waiting enqueued_as;
    std::optional<CandidateKind> candidate;
    std::int64_t candidate_since_s = 0;  ///< its place among its kind
    std::int64_t stuck_since_s = 0;      ///< as its pool's queue has it; 0: it is not there
};

class World final : public Workload {
public:
    World(const Setting& setting, EventSink& sink);
    Totals run();

private:
    struct End {
        std::int64_t time_s = 0;
        std::uint64_t order = 0;
        std::optional<RunPlace> place;  ///< none: without GPUs, and so never preempted
        std::uint32_t generation = 0;
        std::uint32_t job = 0;
        std::int64_t task = -1;
        bool by_limit = false;
        bool operator>(const End& other) const {
            return time_s != other.time_s ? time_s > other.time_s : order > other.order;
        }
    };
    /// Of an array: which tasks wait.
    struct ArrayRest {
        std::int64_t next = 0;            ///< the first index not given out yet
        std::set<std::int64_t> returned;  ///< preempted, to run again first
    };
    /// Where a row has its GPUs, and how many with those that it makes unusable.
    struct Placed {
        std::size_t pool = 0, ground = 0;
        Gpus claim = 0;
        Shape shape;
    };
    /// R14: what a pool's jobs that were released, and have not started, may have to give way to.
    struct PoolQueue {
        std::set<std::pair<std::int64_t, std::uint32_t>> stuck;  ///< when it was released, row
        std::int64_t could_borrow = 0;  ///< queued jobs that may borrow
        std::int64_t tried_s = 0;
    };
    /// When a job that rested from being preempted may borrow again.
    struct Wakeup {
        std::int64_t time_s = 0;
        std::uint32_t row = 0;
        auto operator<=>(const Wakeup&) const = default;
    };
    struct Task {
        std::int64_t index = -1;
        bool again = false;  ///< has started before
    };

    // world.cpp: the clock
    [[nodiscard]] std::int64_t next_s() const;
    void second(std::int64_t now_s);
    void end_runs();
    void change_of_dates();
    void wake_up();
    [[nodiscard]] std::int64_t next_try_s(const PoolQueue& queue) const;
    void note_candidacy(std::uint32_t row, const std::optional<CandidateKind>& kind);
    [[nodiscard]] bool could_borrow(std::uint32_t row, const std::optional<CandidateKind>& kind) const;
    void tell(EventKind kind, std::uint32_t row, std::int64_t task, std::optional<JobClass> cls, std::size_t party,
              Reason reason, std::optional<JobName> beneficiary = {});
    [[nodiscard]] bool pass_is_due() const;

    // world_submit.cpp: what the plugin does
    void submit();
    void submit_one(std::uint32_t row);
    void submit_het(std::uint32_t row);
    [[nodiscard]] std::optional<Decision> judge(std::uint32_t row, JobRequest& request);
    [[nodiscard]] Placed placed(std::uint32_t row, const Decision& decision);
    void admit(std::uint32_t row, const Decision& decision, const Placed& placed, std::size_t shape);
    void reject(std::uint32_t row, const Decision& decision, Reason reason);
    [[nodiscard]] std::int64_t tasks_of(std::uint32_t row) const;

    // world_runs.cpp: what slurmctld does
    [[nodiscard]] std::int64_t limit_s(std::uint32_t job) const override { return jobs_[job].limit_s; }
    [[nodiscard]] std::size_t party(std::uint32_t job, std::size_t ground) override;
    void starts(std::uint32_t job, std::span<const RunPlace> runs) override;
    void preempted(const Run& run, RunPlace place, std::uint32_t beneficiary) override;
    void start_run(std::uint32_t row, const RunPlace* place);
    void take_away(const Run& run, std::uint32_t beneficiary);
    void lend(std::uint32_t row, RunPlace place);
    void forget_loan(const Run& run, RunPlace place);
    [[nodiscard]] JobClass class_of(const Run& run) const;
    [[nodiscard]] Gpus would_claim(std::uint32_t row) const;
    [[nodiscard]] JobName next_name(std::uint32_t row) const;
    void over(std::uint32_t row, JobClass cls);
    [[nodiscard]] Task next_task(std::uint32_t row);
    [[nodiscard]] JobName name_of(std::uint32_t row, std::int64_t task) const { return {trace_.jobs[row].id, task}; }
    /// The rows that start and are preempted together: of a heterogeneous job all, the first of which waits for all.
    [[nodiscard]] std::span<const std::uint32_t> together_with(const std::uint32_t& row) const;
    /// Brings a job's queue, claims and candidacy in line with what it is.
    void settle(std::uint32_t row);
    void settle_claims(std::uint32_t row);
    void settle_candidacy();

    // world_pass.cpp: what accordd does
    bool pass();
    void add_neighbours(std::set<std::size_t>& parties);
    void promote_running(std::size_t party);
    [[nodiscard]] std::vector<std::uint32_t> in_question(const std::set<std::size_t>& parties);
    void collect(std::size_t party, std::vector<std::uint32_t>& found);
    [[nodiscard]] std::size_t most_moves(std::size_t party, const CandidateKind& kind);
    [[nodiscard]] std::vector<Action> planned(const std::vector<std::uint32_t>& rows);
    [[nodiscard]] JobView view_of(std::uint32_t row) const;
    [[nodiscard]] GovernedJob governed(std::uint32_t row, const JobView& view);
    void carry_out(const Action& action);
    void note_move(std::uint32_t row, JobClass to);
    void cancel(std::uint32_t row);

    static constexpr std::int64_t patience_s = 60;  ///< R14: a released job has so long to start

    const Setting& setting_;
    const Trace& trace_;
    EventSink& sink_;
    Scheduler scheduler_;
    Books books_;
    Requests requests_;
    std::int64_t now_s_ = 0;  ///< since the epoch
    std::size_t next_row_ = 0;
    std::vector<Job> jobs_;  ///< by row
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::uint64_t end_order_ = 0;
    std::vector<std::int64_t> dates_;  ///< when contracts come into force or leave it, and budgets begin anew; sorted
    std::size_t next_date_ = 0;
    std::unordered_map<std::uint32_t, ArrayRest> arrays_;             ///< by job
    std::vector<std::vector<std::uint32_t>> het_;                     ///< by group: its rows, once they are submitted
    std::int64_t ungoverned_ = 0, last_event_s_ = 0;
    std::vector<std::size_t> budgeted_;  ///< parties with a budget

    std::vector<std::uint32_t> unsettled_;  ///< whose candidacy may have changed
    WaitingCandidates candidates_;
    LentRuns lent_;
    std::set<std::uint32_t> het_waiting_;  ///< groups that are queued
    std::set<std::size_t> dirty_;          ///< parties for which something has changed since the last pass
    std::vector<std::uint32_t> returned_;  ///< jobs that were requeued since the last pass
    std::vector<PoolQueue> pool_queues_;
    bool giving_way_ = false;  ///< the next pass looks at all jobs that are queued
    std::priority_queue<Wakeup, std::vector<Wakeup>, std::greater<>> wakeups_;
    std::int64_t next_pass_s_ = 0;
    std::int64_t between_passes_s_ = 0;
    bool all_ = false;  ///< the next pass looks at every job that waits
};

}  // namespace accord::sim
