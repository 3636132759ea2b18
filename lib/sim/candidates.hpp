// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs that accordd could do something for, by what they have in common, so that a pass looks at those alone that have a
// chance.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "policy/decision.hpp"
#include "sim/scheduler.hpp"

namespace accord::sim {

/// What plan() looks at in a waiting job, but for its place in the order.
struct CandidateKind {
    std::size_t ground = 0;
    Gpus ask = 0;
    JobClass cls = JobClass::queued;
    std::uint32_t uid = 0;
    WorkloadType type = WorkloadType::batch;
    bool requeue = true;
    bool rests = false;  ///< was preempted too often to borrow now
    auto operator<=>(const CandidateKind&) const = default;
};

/// By party. Jobs of one kind are alike but for their order, by the time of their decision.
class WaitingCandidates {
public:
    using Group = std::set<std::pair<std::int64_t, std::uint32_t>>;  ///< time of the decision, job
    using Groups = std::map<CandidateKind, Group>;

    void insert(std::size_t party, const CandidateKind& kind, std::int64_t decided_s, std::uint32_t job);
    void erase(std::size_t party, const CandidateKind& kind, std::int64_t decided_s, std::uint32_t job);
    /// Of a party; only groups that have jobs.
    [[nodiscard]] const Groups& of(std::size_t party);

private:
    std::vector<Groups> parties_;
};

/// A running borrowed job, in the order in which a guarantee is filled: by priority, start, job.
struct Lent {
    std::int64_t priority = 0, start_s = 0;
    std::uint32_t job = 0;
    RunPlace place;

    friend bool operator<(const Lent& left, const Lent& right) {
        if (left.priority != right.priority) return left.priority > right.priority;
        if (left.start_s != right.start_s) return left.start_s < right.start_s;
        return left.job != right.job ? left.job < right.job : left.place < right.place;
    }
};

/// R13, live: running borrowed jobs by party, ground and claim.
class LentRuns {
public:
    using BySize = std::map<Gpus, std::set<Lent>>;

    void insert(std::size_t party, Gpus claim, const Lent& lent);
    void erase(std::size_t party, Gpus claim, const Lent& lent);
    /// The first in the order that claims at most `most` GPUs of the ground; null where there is none.
    [[nodiscard]] const Lent* first_within(std::size_t party, std::size_t ground, Gpus most) const;

private:
    std::vector<std::map<std::size_t, BySize>> parties_;
};

}  // namespace accord::sim
