// SPDX-License-Identifier: GPL-2.0-or-later
// R16: the pending jobs that might be promoted or released, in their order.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

#include "policy/planning.hpp"

namespace accord {

/// A pending job that might be promoted or released, or the components of a heterogeneous one that might be so together.
struct Candidate {
    std::span<const GovernedJob* const> parts;
    std::optional<JobClass> among;  ///< R7: the class that other components of it have already
    bool whole = true;              ///< false: some of its components are no longer pending

    [[nodiscard]] const GovernedJob& first() const { return *parts.front(); }
    [[nodiscard]] bool is_het() const { return first().job->het_job_id != 0; }
};

/// All candidates of a list. They come by the site factor that each would get at this moment, then by the time of their
/// decision. What is given away meanwhile moves others: a contract's excess grows with each of its loans, and what no
/// longer fits the guarantee is ordered as a loan. Candidates of one contract and class that ask for the same are in
/// one queue, of which only the first is looked at.
class Candidates {
public:
    explicit Candidates(const Planning& planning);
    Candidates(const Candidates&) = delete;
    Candidates& operator=(const Candidates&) = delete;

    /// The next one, by `planning`'s claims as they are now; none: all have had their turn.
    [[nodiscard]] std::optional<Candidate> next();
    /// All of them, in no order that matters.
    [[nodiscard]] const std::vector<Candidate>& all() const { return all_; }

private:
    struct Key {
        std::int64_t factor = 0, decided_s = 0;
        std::uint32_t job_id = 0;
        std::size_t queue = 0;
        /// The greatest is first: the highest factor, then the earliest decision.
        bool operator<(const Key& other) const {
            return std::tuple(factor, other.decided_s, other.job_id) < std::tuple(other.factor, decided_s, job_id);
        }
    };
    struct Queue {
        std::vector<std::size_t> members;  ///< of all_, by the time of their decision
        std::size_t at = 0;
    };

    void collect();
    void line_up();
    void push(std::size_t queue);
    [[nodiscard]] std::int64_t factor_of(const Candidate& candidate) const;

    const Planning& planning_;
    std::vector<const GovernedJob*> movable_;  ///< those of one heterogeneous job side by side; all_ points into it
    std::vector<Candidate> all_;
    std::vector<Queue> queues_;
    std::priority_queue<Key> heads_;
};

}  // namespace accord
