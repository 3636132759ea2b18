// SPDX-License-Identifier: GPL-2.0-or-later
// Which decisions the job list accounts for, and which must still be counted by themselves.
#include "resolver.hpp"

#include <iterator>

namespace accord {

Resolver::Resolver(std::uint64_t resolved_through, const std::set<std::uint64_t>& counted, Clock::time_point now)
    : resolved_through_(resolved_through) {
    for (const auto number : counted) counted_.emplace(number, now);
}

void Resolver::add(const JournalRecord& record, Clock::time_point read, Clock::time_point since) {
    const auto number = record.id.number;
    if (number <= resolved_through_ || counted_.contains(number) || open_.contains(number)) return;
    const auto& decision = record.decision;
    if (decision.verdict == Verdict::rejected || !decision.cls) {
        counted_.emplace(number, read);
        return;
    }
    open_.emplace(number, Open{decision, read, since});
}

void Resolver::settle(const std::unordered_set<std::uint64_t>& shown, Clock::time_point began,
                      Clock::duration settle) {
    for (auto it = open_.begin(); it != open_.end();) {
        const auto& [number, open] = *it;
        const bool settled = open.decision.kind == DecisionKind::submission
                                 ? shown.contains(number) || open.since + settle <= began
                                 : open.read < began;
        if (settled) counted_.emplace(number, open.read);
        it = settled ? open_.erase(it) : std::next(it);
    }
    advance(began - settle);
}

/// Numbers that nobody has read are missing for good once a later one was read before `settled_before`: the writer
/// numbers in order, or leaves a block out where it cannot tell what was given.
void Resolver::advance(Clock::time_point settled_before) {
    while (!counted_.empty()) {
        const auto [next, read] = *counted_.begin();
        if (!open_.empty() && open_.begin()->first < next) return;
        if (next != resolved_through_ + 1 && read > settled_before) return;
        resolved_through_ = next;
        counted_.erase(counted_.begin());
    }
}

std::set<std::uint64_t> Resolver::counted() const {
    std::set<std::uint64_t> numbers;
    for (const auto& [number, read] : counted_) numbers.insert(numbers.end(), number);
    return numbers;
}

}  // namespace accord
