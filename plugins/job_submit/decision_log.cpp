// SPDX-License-Identifier: GPL-2.0-or-later
#include "decision_log.hpp"

#include <utility>

#include "decision_line.hpp"
#include "slurm_host.hpp"

namespace accord {

void DecisionLog::add(Ruling ruling) {
    bool at_once = !ruling.id || !ruling.trouble.empty();
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(ruling));
        at_once = at_once || waiting_.size() > most_waiting;
    }
    if (at_once) write();
}

void DecisionLog::write() {
    const std::lock_guard order(writing_);
    std::vector<Ruling> rulings;
    {
        const std::lock_guard lock(mutex_);
        rulings.swap(waiting_);
    }
    for (const Ruling& ruling : rulings) {
        const std::string line = decision_line(ruling);
        if (ruling.trouble.empty()) log_info(line);
        else log_error(line);
    }
}

}  // namespace accord
