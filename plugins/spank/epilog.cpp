// SPDX-License-Identifier: GPL-2.0-or-later
// Removes what the prolog made. It reads nothing but root's own records, and never fails towards Slurm.
#include <fmt/format.h>

#include "hooks.hpp"
#include "log.hpp"
#include "slurm_node.hpp"

namespace accord::spank {

void epilog() {
    const auto node = slurm_node();
    const auto job = node ? slurm_job() : tl::unexpected(node.error());
    if (!job) return log_error("nothing removed: " + job.error().what);
    auto state = NodeState::open(node->place());
    if (!state) return log_error(fmt::format("job {} nothing removed: {}", to_string(job->start), state.error().what));
    if (auto removed = state->remove(job->start.job); !removed)
        log_error(fmt::format("job {} leaves something behind: {}", to_string(job->start), removed.error().what));
    state->close();
}

}  // namespace accord::spank
