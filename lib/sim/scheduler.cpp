// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs of one shape wait in one queue, of which only the first is looked at: where it cannot start, neither can the others.
#include "sim/scheduler.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/static_reclaim.hpp"

namespace accord::sim {

namespace {

constexpr std::size_t index_of(Tier tier) { return static_cast<std::size_t>(tier); }

/// When the nodes with the earliest enough GPUs have them, by the time limits of what runs there.
class Forecast {
public:
    Forecast(const Ground& ground, Tier tier, std::int64_t now_s) : now_s_(now_s) {
        for (const auto& node : ground.nodes.for_reclaim()) idle_.push_back(node.idle);
        for (std::size_t slot = 0; slot < ground.runs.size(); ++slot) {
            const auto& run = ground.runs[slot];
            if (!run.running) continue;
            for (const auto& part : ground.loans[slot].parts) {
                if (tier == Tier::governed && run.lent)
                    idle_[part.node] += part.gpus;
                else
                    ends_.push_back({part.node, run.limit_end_s, part.gpus});
            }
        }
        std::sort(ends_.begin(), ends_.end());
    }

    void keep(const NodeNeed& need, Ground::Reservation& reservation) const {
        std::vector<std::pair<std::int64_t, std::size_t>> ready;
        auto end = ends_.begin();
        for (std::size_t node = 0; node < idle_.size(); ++node) {
            const auto first = end;
            while (end != ends_.end() && end->node == node) ++end;
            if (!reservation.closed.contains(node)) ready.emplace_back(ready_s(idle_[node], {first, end}, need.gpus), node);
        }
        const auto wanted = std::min(ready.size(), static_cast<std::size_t>(need.nodes));
        std::partial_sort(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(wanted), ready.end());
        for (std::size_t at = 0; at < wanted; ++at) {
            reservation.closed.insert(ready[at].second);
            reservation.start_s = std::max(reservation.start_s, ready[at].first);
        }
    }

private:
    struct End {
        std::size_t node = 0;
        std::int64_t time_s = 0;
        Gpus gpus = 0;
        auto operator<=>(const End&) const = default;
    };

    [[nodiscard]] std::int64_t ready_s(Gpus idle, std::span<const End> ends, Gpus need) const {
        if (idle >= need) return now_s_;
        for (const auto& end : ends)
            if ((idle += end.gpus) >= need) return std::max(end.time_s, now_s_);
        return std::numeric_limits<std::int64_t>::max();
    }

    std::int64_t now_s_;
    std::vector<Gpus> idle_;  ///< by node
    std::vector<End> ends_;   ///< by node and time
};

void work_out(const Ground& ground, Ground::Reservation& reservation, Tier tier, std::int64_t now_s) {
    reservation.known = true;
    reservation.start_s = now_s;
    reservation.closed = NodeSet(ground.nodes.size());
    const Forecast forecast(ground, tier, now_s);
    for (const auto& need : {reservation.layout.wide, reservation.layout.narrow})
        if (need.nodes > 0) forecast.keep(need, reservation);
}

}  // namespace

std::size_t Scheduler::add_ground(const std::vector<Gpus>& gpus_of_nodes, std::int64_t start_s) {
    Nodes nodes(gpus_of_nodes);
    LoanMeter meter(nodes.capacity(), start_s);
    grounds_.push_back({std::move(nodes), std::move(meter), {}, {}, {}, {}});
    return grounds_.size() - 1;
}

std::size_t Scheduler::shape(Shape shape) {
    const auto [known, is_new] = shape_places_.try_emplace(shape, shapes_.size());
    if (is_new) shapes_.push_back({std::move(shape), {}, {}});
    return known->second;
}

bool Scheduler::could_start(std::size_t shape) const {
    const auto& needs = shapes_[shape].needs;
    return std::all_of(needs.begin(), needs.end(),
                       [&](const auto& need) { return grounds_[need.ground].nodes.fits_empty(need.layout); });
}

void Scheduler::enqueue(std::size_t shape, Tier tier, Waiting waiting) {
    auto& queue = shapes_[shape].queues[index_of(tier)];
    if (queue.empty()) {
        shapes_[shape].active_at[index_of(tier)] = active_[index_of(tier)].size();
        active_[index_of(tier)].push_back(shape);
    }
    const auto entry = queue.insert(waiting).first;
    if (entry == queue.begin()) fresh_[index_of(tier)].push_back(shape);
}

void Scheduler::dequeue(std::size_t shape, Tier tier, Waiting waiting) {
    auto& queues = shapes_[shape];
    auto& queue = queues.queues[index_of(tier)];
    const bool was_first = !queue.empty() && *queue.begin() == waiting;
    if (queue.erase(waiting) == 0) return;
    forget(waiting.job, tier, queues.needs);
    if (!queue.empty()) {
        if (was_first) fresh_[index_of(tier)].push_back(shape);
        return;
    }
    auto& active = active_[index_of(tier)];
    const auto at = queues.active_at[index_of(tier)];
    active[at] = active.back();
    shapes_[active[at]].active_at[index_of(tier)] = at;
    active.pop_back();
}

Gpus Scheduler::about_to_start(std::size_t ground) const {
    Gpus sum = 0;
    for (const auto shape : active_[index_of(Tier::governed)])
        for (const auto& need : shapes_[shape].needs)
            if (need.ground == ground)
                sum += need.layout.gpus() * static_cast<Gpus>(shapes_[shape].queues[index_of(Tier::governed)].size());
    return sum;
}

/// A reservation that has no holder any more keeps nothing: what it held back is looked at again.
void Scheduler::forget(std::uint32_t job, Tier tier, const Shape& shape) {
    for (const auto& need : shape) {
        auto& reservation = grounds_[need.ground].reservations[index_of(tier)];
        if (!reservation.holder || reservation.holder->job != job) continue;
        dropped_ = dropped_ || reservation.known;
        reservation = {};
    }
}

void Scheduler::collect_heads(Tier tier) {
    heads_.clear();
    auto& fresh = fresh_[index_of(tier)];
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    const bool full = std::all_of(grounds_.begin(), grounds_.end(), [](const auto& one) { return one.nodes.idle() == 0; });
    for (const auto shape : freed_ ? active_[index_of(tier)] : fresh) {
        const auto& [needs, queues, active_at] = shapes_[shape];
        const auto& queue = queues[index_of(tier)];
        if (queue.empty() || (tier == Tier::lend && full && !needs.empty())) continue;
        heads_.push_back({*queue.begin(), shape});
    }
    fresh.clear();
}

void Scheduler::pass(std::int64_t now_s) {
    do {
        freed_ = std::exchange(dropped_, false) || freed_;
        while (pass_tier(Tier::governed, now_s)) {
        }
        pass_tier(Tier::lend, now_s);
        freed_ = false;
    } while (dropped_);
}

/// True where owners were given what was preempted for them, so that there may be more to do.
bool Scheduler::pass_tier(Tier tier, std::int64_t now_s) {
    collect_heads(tier);
    auto& heap = heads_;
    const auto later = [](const Head& left, const Head& right) { return right.waiting < left.waiting; };
    std::make_heap(heap.begin(), heap.end(), later);
    std::vector<WaitingOwner> owners;
    std::map<std::size_t, Gpus> wanted;
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        const auto head = heap.back();
        heap.pop_back();
        auto& queue = shapes_[head.shape].queues[index_of(tier)];
        auto next = queue.end();
        if (try_start(head, tier, now_s)) {
            next = queue.lower_bound(head.waiting);
        } else if (tier == Tier::governed && may_reclaim(head)) {
            const auto& need = shapes_[head.shape].needs.front();
            auto& ground = grounds_[need.ground];
            const bool bound = !closed_to(head, tier, ground, now_s).empty();
            auto& sum = wanted[need.ground];
            sum += need.layout.gpus();
            if (sum > ground.nodes.within_reach()) continue;
            owners.push_back({head, bound});
            next = queue.upper_bound(head.waiting);
        } else {
            keep_for(head, tier);
        }
        if (next == queue.end()) continue;
        heap.push_back({*next, head.shape});
        std::push_heap(heap.begin(), heap.end(), later);
    }
    return !owners.empty() && reclaim(owners, now_s);
}

bool Scheduler::try_start(const Head& head, Tier tier, std::int64_t now_s) {
    if (!place_all(head, tier, now_s)) return false;
    launch(head, tier, now_s);
    return true;
}

/// Takes idle GPUs for all components, or none.
bool Scheduler::place_all(const Head& head, Tier tier, std::int64_t now_s) {
    const auto& needs = shapes_[head.shape].needs;
    if (placing_.size() < needs.size()) placing_.resize(needs.size());
    for (std::size_t at = 0; at < needs.size(); ++at) {
        auto& ground = grounds_[needs[at].ground];
        const bool placed = ground.nodes.fits_idle(needs[at].layout) &&
                            ground.nodes.place(needs[at].layout, closed_to(head, tier, ground, now_s).sets(), placing_[at]);
        if (placed) {
            ground.nodes.take(placing_[at]);
            continue;
        }
        while (at-- > 0) grounds_[needs[at].ground].nodes.give_back(placing_[at]);
        return false;
    }
    return true;
}

/// With what placing_ says it has taken.
void Scheduler::launch(const Head& head, Tier tier, std::int64_t now_s) {
    const auto& needs = shapes_[head.shape].needs;
    launched_.clear();
    for (std::size_t at = 0; at < needs.size(); ++at)
        launched_.push_back(new_run(needs[at].ground, head, tier, placing_[at], now_s));
    forget(head.waiting.job, tier, needs);
    workload_.starts(head.waiting.job, launched_);
}

RunPlace Scheduler::new_run(std::size_t at, const Head& head, Tier tier, std::span<const NodeGpus> parts,
                            std::int64_t now_s) {
    auto& ground = grounds_[at];
    if (ground.free_slots.empty()) {
        ground.free_slots.push_back(ground.runs.size());
        ground.runs.emplace_back();
        ground.loans.emplace_back();
    }
    const auto slot = ground.free_slots.back();
    ground.free_slots.pop_back();
    auto& run = ground.runs[slot];
    const auto limit_s = workload_.limit_s(head.waiting.job);
    run = {head.waiting.job, -1, now_s, limit_s > std::numeric_limits<std::int64_t>::max() - now_s ? limit_s : now_s + limit_s,
           head.waiting.priority, run.generation + 1, tier == Tier::lend, true};
    auto& loan = ground.loans[slot];
    loan.contract = workload_.party(run.job, at);
    loan.start_s = now_s;
    loan.parts.assign(parts.begin(), parts.end());
    if (run.lent) ground.nodes.lend(slot, loan.parts);
    return {at, slot};
}

void Scheduler::protect(RunPlace place) {
    auto& ground = grounds_[place.ground];
    ground.runs[place.slot].lent = false;
    ground.nodes.unlend(place.slot, ground.loans[place.slot].parts);
}

void Scheduler::end(RunPlace place) {
    auto& ground = grounds_[place.ground];
    if (ground.runs[place.slot].lent) protect(place);
    ground.runs[place.slot].running = false;
    ground.nodes.give_back(ground.loans[place.slot].parts);
    ground.free_slots.push_back(place.slot);
    freed_ = true;
}

// Backfill.

void Scheduler::keep_for(const Head& head, Tier tier) {
    const auto& needs = shapes_[head.shape].needs;
    if (needs.size() != 1) return;
    auto& reservation = grounds_[needs.front().ground].reservations[index_of(tier)];
    if (reservation.holder && !(head.waiting < *reservation.holder)) return;
    reservation = {};
    reservation.holder = head.waiting;
    reservation.layout = needs.front().layout;
}

Scheduler::Closed Scheduler::closed_to(const Head& head, Tier tier, Ground& ground, std::int64_t now_s) {
    Closed closed;
    for (const auto of : {Tier::governed, Tier::lend}) {
        if (of > tier) break;
        auto& reservation = ground.reservations[index_of(of)];
        if (!reservation.holder || (of == tier && !(*reservation.holder < head.waiting))) continue;
        if (!reservation.known || reservation.start_s < now_s) work_out(ground, reservation, of, now_s);
        if (workload_.limit_s(head.waiting.job) > reservation.start_s - now_s) closed.add(reservation.closed);
    }
    return closed;
}

// Preemption.

/// R7: not for a heterogeneous job.
bool Scheduler::may_reclaim(const Head& head) const {
    const auto& needs = shapes_[head.shape].needs;
    return needs.size() == 1 && grounds_[needs.front().ground].nodes.fits_with_loans(needs.front().layout);
}

bool Scheduler::reclaim(std::span<const WaitingOwner> owners, std::int64_t now_s) {
    bool started = false;
    for (std::size_t ground = 0; ground < grounds_.size(); ++ground)
        for (const bool bound : {false, true}) started = reclaim_on(ground, owners, bound, now_s) || started;
    return started;
}

bool Scheduler::reclaim_on(std::size_t at, std::span<const WaitingOwner> owners, bool bound, std::int64_t now_s) {
    auto& ground = grounds_[at];
    std::vector<const Head*> heads;
    std::vector<Owner> asks;
    for (const auto& owner : owners) {
        const auto& need = shapes_[owner.head.shape].needs.front();
        if (owner.bound != bound || need.ground != at) continue;
        heads.push_back(&owner.head);
        asks.push_back(need.layout.owner());
    }
    if (asks.empty()) return false;
    auto nodes = ground.nodes.for_reclaim();
    std::vector<ReclaimNode> open;
    if (const auto& kept = ground.reservations[index_of(Tier::governed)]; bound && kept.known) {
        for (std::size_t node = 0; node < nodes.size(); ++node)
            open.push_back(kept.closed.contains(node) ? ReclaimNode() : nodes[node]);
        nodes = open;
    }
    std::vector<Gpus> beyond;
    for (std::size_t party = 0; party < ground.meter.parties(); ++party) beyond.push_back(ground.meter.beyond(party));
    const LentNodes lent{nodes, ground.loans, beyond, now_s};
    ReclaimPlan plan;
    if (mode_ == ReclaimMode::live) {
        plan = choose_victims(lent, asks);
    } else {
        std::vector<std::int64_t> priorities;
        for (const auto& run : ground.runs) priorities.push_back(run.priority);
        plan = choose_victims_as_slurm(lent, asks, priorities);
    }
    for (const auto& victim : plan.victims) preempt({at, victim.loan}, heads[victim.owner]->waiting.job);
    bool started = false;
    for (std::size_t owner = 0; owner < heads.size(); ++owner) {
        if (plan.placings[owner].empty()) {
            keep_for(*heads[owner], Tier::governed);
            continue;
        }
        if (placing_.empty()) placing_.resize(1);
        placing_.front() = std::move(plan.placings[owner]);
        grounds_[at].nodes.take(placing_.front());
        launch(*heads[owner], Tier::governed, now_s);
        started = true;
    }
    return started;
}

void Scheduler::preempt(RunPlace place, std::uint32_t beneficiary) {
    const auto over = run(place);
    if (!over.running) return;  // went with another component of its job
    end(place);
    workload_.preempted(over, place, beneficiary);
}

}  // namespace accord::sim
