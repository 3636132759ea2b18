// SPDX-License-Identifier: GPL-2.0-or-later
// Submissions: what the job_submit plugin would decide, and what becomes of it.
#include <limits>

#include "policy/decide.hpp"
#include "sim/world.hpp"

namespace accord::sim {

namespace {

/// What a job without a time limit may run at most.
constexpr auto unlimited_s = std::numeric_limits<std::int64_t>::max() / 4;

std::string key_of(const Decision& decision) {
    if (!decision.contract.empty()) return decision.contract;
    return decision.verdict == Verdict::rejected ? "" : decision.account + "/" + decision.partition;
}

}  // namespace

std::int64_t World::tasks_of(std::uint32_t row) const {
    const auto array = trace_.jobs[row].array;
    return array == none ? 1 : trace_.arrays[array].tasks;
}

void World::submit() {
    for (; next_row_ < trace_.jobs.size(); ++next_row_) {
        const auto row = static_cast<std::uint32_t>(next_row_);
        const auto& job = trace_.jobs[row];
        if (setting_.start_s + job.submit_s > now_s_) return;
        if (job.het == none)
            submit_one(row);
        else if (het_[job.het].empty())
            submit_het(row);
    }
}

std::optional<Decision> World::judge(std::uint32_t row, JobRequest& request) {
    for (const auto party : budgeted_) books_.meter_budget(party, now_s_);
    auto decision = decide(setting_.policy, books_.ledger(), request, now_s_, Wording::none);
    const bool elsewhere = decision && decision->verdict != Verdict::rejected &&
                           setting_.policy.config().pool_of(decision->partition) == nullptr;
    if (!decision || elsewhere) {  // not Accord's business, or an exempt user's in a lend partition
        ungoverned_ += tasks_of(row);
        return std::nullopt;
    }
    const auto& job = trace_.jobs[row];
    auto limit_min = decision->rewrite.time_limit_min ? decision->rewrite.time_limit_min : request.time_limit_min;
    jobs_[row].limit_s = limit_min ? *limit_min * 60 : unlimited_s;
    jobs_[row].uid = request.uid;
    jobs_[row].gpus = job.gpus;
    return decision;
}

/// What it makes unusable is placed like what it holds.
World::Placed World::placed(std::uint32_t row, const Decision& decision) {
    Placed placed;
    const auto& pools = setting_.policy.config().pools;
    while (pools[placed.pool].partition != decision.partition) ++placed.pool;
    for (const auto& [type, gpus] : decision.gpus) {
        const auto ground = gpus.max == 0 ? std::nullopt : books_.ground(decision.partition, type);
        if (!ground) continue;
        placed.ground = *ground;
        placed.claim = gpus.max;
        const auto most_on_a_node = scheduler_.ground(*ground).nodes.most_on_a_node();
        placed.shape.push_back({*ground, layout_of(gpus.max, trace_.jobs[row].nodes, most_on_a_node)});
    }
    return placed;
}

void World::submit_one(std::uint32_t row) {
    const auto decision = judge(row, requests_.of(trace_.jobs[row]));
    if (!decision) return;
    if (decision->verdict == Verdict::rejected) return reject(row, *decision, decision->reason);
    const auto place = placed(row, *decision);
    const auto shape = scheduler_.shape(place.shape);
    if (!scheduler_.could_start(shape)) return reject(row, *decision, Reason::impossible);
    admit(row, *decision, place, shape);
    settle(row);
}

/// R7: the plugin is asked about one component after the other; one that is rejected takes the others with it.
void World::submit_het(std::uint32_t first) {
    const auto group = trace_.jobs[first].het;
    auto& rows = het_[group];
    std::vector<Decision> decisions;
    std::vector<Placed> places;
    Shape shape;
    HetPart part;
    std::optional<Reason> why_not;
    for (auto row = first; row < trace_.jobs.size() && trace_.jobs[row].submit_s == trace_.jobs[first].submit_s; ++row) {
        if (trace_.jobs[row].het != group) continue;
        auto& request = requests_.of(trace_.jobs[row]);
        part.offset = static_cast<std::uint32_t>(rows.size());
        request.het = part;
        auto decision = judge(row, request);
        if (!decision) continue;
        if (decision->verdict == Verdict::rejected && !why_not) why_not = decision->reason;
        if (!decision->contract.empty()) add(part.earlier[decision->contract], decision->gpus);
        places.push_back(why_not ? Placed() : placed(row, *decision));
        for (const auto& need : places.back().shape) shape.push_back(need);
        rows.push_back(row);
        decisions.push_back(std::move(*decision));
    }
    if (rows.empty()) return;
    const auto place = scheduler_.shape(std::move(shape));
    if (!why_not && !scheduler_.could_start(place)) why_not = Reason::impossible;
    for (std::size_t at = 0; at < rows.size(); ++at) {
        if (why_not)
            reject(rows[at], decisions[at], *why_not);
        else
            admit(rows[at], decisions[at], places[at], place);
    }
    if (why_not) return;
    for (const auto row : rows) settle(row);
    het_waiting_.insert(group);
    dirty_.insert(jobs_[rows.front()].party);
}

void World::reject(std::uint32_t row, const Decision& decision, Reason reason) {
    const auto party = books_.party(key_of(decision));
    auto& counts = books_.at(party).counts;
    counts.jobs += tasks_of(row);
    counts.rejected += tasks_of(row);
    tell(EventKind::reject, row, -1, std::nullopt, party, reason);
}

void World::admit(std::uint32_t row, const Decision& decision, const Placed& placed, std::size_t shape) {
    auto& job = jobs_[row];
    job.party = books_.party(key_of(decision));
    job.pool = placed.pool;
    job.ground = placed.ground;
    job.claim = placed.claim;
    job.shape = shape;
    job.cls = decision.cls.value_or(JobClass::queued);
    job.site_factor = decision.rewrite.site_factor.value_or(0);
    job.decided_s = now_s_;
    job.waiting = tasks_of(row);
    const auto throttle = decision.throttle.value_or(0);
    job.throttle = throttle > 0 ? throttle : job.waiting;
    if (trace_.jobs[row].array != none) arrays_[row];
    books_.at(job.party).counts.jobs += job.waiting;
    const bool queued = decision.verdict == Verdict::queued;
    tell(queued ? EventKind::queue : EventKind::admit, row, -1, job.cls, job.party, decision.reason);
}

}  // namespace accord::sim
