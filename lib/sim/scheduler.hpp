// SPDX-License-Identifier: GPL-2.0-or-later
// A model of Slurm's scheduling in one pool: two tiers, priority, placement on nodes, backfill and preemption.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "sim/loan_meter.hpp"
#include "sim/nodes.hpp"

namespace accord::sim {

enum class Tier : std::size_t { governed, lend };
enum class ReclaimMode { live, fixed };  ///< R13; fixed: `static`

/// A job that waits, in the order in which Slurm looks at them: by priority, then as submitted.
struct Waiting {
    std::int64_t priority = 0;
    std::uint32_t job = 0;

    friend bool operator<(const Waiting& left, const Waiting& right) {
        return left.priority != right.priority ? left.priority > right.priority : left.job < right.job;
    }
    friend bool operator==(const Waiting&, const Waiting&) = default;
};

/// Where a job, or a component of a heterogeneous one, has its GPUs; `ground` is a place in Scheduler's grounds.
struct Component {
    std::size_t ground = 0;
    Layout layout;
    auto operator<=>(const Component&) const = default;
};
/// What a job needs. None: no GPU; several: it is heterogeneous.
using Shape = std::vector<Component>;

/// Something that runs: a job, a task of an array, a component of a heterogeneous job. What it holds is the loan in the
/// same place.
struct Run {
    std::uint32_t job = 0;
    std::int64_t task = -1;
    std::int64_t start_s = 0;
    std::int64_t limit_end_s = 0;  ///< when its time limit ends it
    std::int64_t priority = 0;
    std::uint32_t generation = 0;  ///< rises with each run in this place
    bool lent = false;             ///< may be preempted
    bool running = false;
};
struct RunPlace {
    std::size_t ground = 0, slot = 0;
    auto operator<=>(const RunPlace&) const = default;
};

/// What the scheduler asks of the jobs and tells about them.
class Workload {
public:
    virtual ~Workload() = default;
    /// How long the job may run at most.
    [[nodiscard]] virtual std::int64_t limit_s(std::uint32_t job) const = 0;
    /// Its place among the parties of the ground's meter.
    [[nodiscard]] virtual std::size_t party(std::uint32_t job, std::size_t ground) = 0;
    /// The job, or one task of it, starts, with one run for each of its components (none without GPUs). What waits no more
    /// is dequeued by this.
    virtual void starts(std::uint32_t job, std::span<const RunPlace> runs) = 0;
    /// The run is preempted for the job, and over.
    virtual void preempted(const Run& run, RunPlace place, std::uint32_t beneficiary) = 0;
};

/// GPUs of one type.
struct Ground {
    Nodes nodes;
    LoanMeter meter;
    std::vector<Run> runs;
    std::vector<Loan> loans;  ///< what the runs hold
    std::vector<std::size_t> free_slots;

    /// Backfill: the first job of a tier that cannot start has nodes kept for it.
    struct Reservation {
        std::optional<Waiting> holder;
        Layout layout;
        bool known = false;       ///< the rest is worked out, once someone would overtake
        std::int64_t start_s = 0;
        NodeSet closed;           ///< to what would still run then
    };
    std::array<Reservation, 2> reservations;
};

/// What it does and does not model is in doc/simulation.md.
class Scheduler {
public:
    Scheduler(Workload& workload, ReclaimMode mode) : workload_(workload), mode_(mode) {}

    std::size_t add_ground(const std::vector<Gpus>& gpus_of_nodes, std::int64_t start_s);
    [[nodiscard]] Ground& ground(std::size_t at) { return grounds_[at]; }
    [[nodiscard]] const Ground& ground(std::size_t at) const { return grounds_[at]; }
    [[nodiscard]] std::size_t grounds() const { return grounds_.size(); }

    /// The place of an equal shape, or of a new one.
    std::size_t shape(Shape shape);
    [[nodiscard]] const Shape& shape_at(std::size_t at) const { return shapes_[at].needs; }
    /// Whether it could start with nothing else there.
    [[nodiscard]] bool could_start(std::size_t shape) const;

    void enqueue(std::size_t shape, Tier tier, Waiting waiting);
    void dequeue(std::size_t shape, Tier tier, Waiting waiting);
    [[nodiscard]] bool anything_waits() const { return !active_[0].empty() || !active_[1].empty(); }
    /// GPUs that the jobs waiting in the governed tier want of the ground.
    [[nodiscard]] Gpus about_to_start(std::size_t ground) const;
    /// Starts what can start, and preempts for it.
    void pass(std::int64_t now_s);

    [[nodiscard]] Run& run(RunPlace place) { return grounds_[place.ground].runs[place.slot]; }
    [[nodiscard]] Gpus gpus_of(RunPlace place) const { return grounds_[place.ground].loans[place.slot].gpus(); }
    /// R13, live: from now on it is not preempted.
    void protect(RunPlace place);
    void end(RunPlace place);

private:
    using Queue = std::set<Waiting>;
    struct ShapeQueues {
        Shape needs;
        std::array<Queue, 2> queues;
        std::array<std::size_t, 2> active_at{};  ///< its place among the active ones of the tier, where the queue is not empty
    };
    struct Head {
        Waiting waiting;
        std::size_t shape = 0;
    };
    struct WaitingOwner {
        Head head;
        bool bound = false;  ///< by a reservation
    };

    /// Node sets that are closed to a job; there is at most one of each tier.
    class Closed {
    public:
        void add(const NodeSet& set) { sets_[count_++] = &set; }
        [[nodiscard]] bool empty() const { return count_ == 0; }
        [[nodiscard]] std::span<const NodeSet* const> sets() const { return std::span(sets_).first(count_); }

    private:
        std::array<const NodeSet*, 2> sets_{};
        std::size_t count_ = 0;
    };

    void collect_heads(Tier tier);
    bool pass_tier(Tier tier, std::int64_t now_s);
    bool try_start(const Head& head, Tier tier, std::int64_t now_s);
    bool place_all(const Head& head, Tier tier, std::int64_t now_s);
    void launch(const Head& head, Tier tier, std::int64_t now_s);
    void keep_for(const Head& head, Tier tier);
    void forget(std::uint32_t job, Tier tier, const Shape& shape);
    [[nodiscard]] Closed closed_to(const Head& head, Tier tier, Ground& ground, std::int64_t now_s);
    [[nodiscard]] bool may_reclaim(const Head& head) const;
    bool reclaim(std::span<const WaitingOwner> owners, std::int64_t now_s);
    bool reclaim_on(std::size_t ground, std::span<const WaitingOwner> owners, bool bound, std::int64_t now_s);
    void preempt(RunPlace place, std::uint32_t beneficiary);
    RunPlace new_run(std::size_t ground, const Head& head, Tier tier, std::span<const NodeGpus> parts, std::int64_t now_s);

    Workload& workload_;
    ReclaimMode mode_;
    std::vector<Ground> grounds_;
    std::vector<ShapeQueues> shapes_;
    std::map<Shape, std::size_t> shape_places_;
    std::array<std::vector<std::size_t>, 2> active_;  ///< shapes whose queue is not empty, by tier
    std::array<std::vector<std::size_t>, 2> fresh_;   ///< shapes with a new first job since the last pass
    bool freed_ = false;                              ///< GPUs have become idle since the last pass
    bool dropped_ = false;                            ///< a reservation that held others back is gone
    // kept for their memory
    std::vector<Head> heads_;                         ///< a heap: the first jobs of the shapes that are looked at
    std::vector<std::vector<NodeGpus>> placing_;      ///< by component, of the job under trial
    std::vector<RunPlace> launched_;
};

}  // namespace accord::sim
