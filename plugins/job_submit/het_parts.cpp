// SPDX-License-Identifier: GPL-2.0-or-later
#include "het_parts.hpp"

namespace accord {
namespace {

/// slurmctld serves at most 256 requests at once (MAX_SERVER_THREADS): with more than these, all are long over.
constexpr std::size_t most_threads = 1024;

}  // namespace

void HetParts::recall(HetPart& het, std::uint32_t uid) {
    const std::lock_guard lock(mutex_);
    const auto found = by_thread_.find(std::this_thread::get_id());
    if (found == by_thread_.end()) return;
    const auto& known = found->second;
    if (het.offset != 0 && known.uid == uid && known.next == het.offset) het.earlier = known.asked;
    else by_thread_.erase(found);
}

void HetParts::note(const HetPart& het, std::uint32_t uid, const Decision& decision) {
    const std::lock_guard lock(mutex_);
    if (by_thread_.size() > most_threads) by_thread_.clear();
    auto& known = by_thread_[std::this_thread::get_id()];
    known.uid = uid;
    known.next = het.offset + 1;
    known.asked = het.earlier;
    add(known.asked[decision.contract], decision.gpus);
}

}  // namespace accord
