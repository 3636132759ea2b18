// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim/candidates.hpp"

namespace accord::sim {

void WaitingCandidates::insert(std::size_t party, const CandidateKind& kind, std::int64_t decided_s, std::uint32_t job) {
    if (parties_.size() <= party) parties_.resize(party + 1);
    parties_[party][kind].emplace(decided_s, job);
}

void WaitingCandidates::erase(std::size_t party, const CandidateKind& kind, std::int64_t decided_s, std::uint32_t job) {
    const auto group = parties_[party].find(kind);
    group->second.erase({decided_s, job});
    if (group->second.empty()) parties_[party].erase(group);
}

const WaitingCandidates::Groups& WaitingCandidates::of(std::size_t party) {
    if (parties_.size() <= party) parties_.resize(party + 1);
    return parties_[party];
}

void LentRuns::insert(std::size_t party, Gpus claim, const Lent& lent) {
    if (parties_.size() <= party) parties_.resize(party + 1);
    parties_[party][lent.place.ground][claim].insert(lent);
}

void LentRuns::erase(std::size_t party, Gpus claim, const Lent& lent) {
    auto& sizes = parties_[party][lent.place.ground];
    const auto size = sizes.find(claim);
    size->second.erase(lent);
    if (size->second.empty()) sizes.erase(size);
}

const Lent* LentRuns::first_within(std::size_t party, std::size_t ground, Gpus most) const {
    if (parties_.size() <= party) return nullptr;
    const auto sizes = parties_[party].find(ground);
    if (sizes == parties_[party].end()) return nullptr;
    const Lent* first = nullptr;
    for (const auto& [claim, runs] : sizes->second) {
        if (claim > most) break;
        if (first == nullptr || *runs.begin() < *first) first = &*runs.begin();
    }
    return first;
}

}  // namespace accord::sim
