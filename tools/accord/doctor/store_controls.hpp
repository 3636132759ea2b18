// SPDX-License-Identifier: GPL-2.0-or-later
// The controls of the stores and of who keeps them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accordd_state.hpp"
#include "doctor/control.hpp"
#include "doctor/file_facts.hpp"
#include "policy/config.hpp"
#include "store/store_paths.hpp"

namespace accord {

struct StoreFacts {
    std::string slurm_user;  ///< empty: not known
    FileFacts dir;
    std::vector<FileFacts> files;     ///< databases, ledger, journal: those that are there
    std::string network_filesystem;   ///< its kind; empty: local
    std::uint64_t free_bytes = 0;
    bool journal_writable = false;    ///< by SlurmUser
    bool journal_locked = false;      ///< by the job_submit plugin, which holds its lock while it is loaded
    std::optional<std::int64_t> served;                ///< the state of contracts.db that the plugin decides by
    std::optional<std::int64_t> contracts_generation;  ///< the one that it is in; unset: it cannot be read
    AccorddState accordd;
    std::int64_t now_s = 0;
    std::optional<std::int64_t> snapshot_age_s;
    std::uint64_t not_loaded = 0;              ///< decisions in the journal that are not in decisions.db
    std::int64_t oldest_not_loaded_age_s = 0;  ///< age of the oldest of them
    std::string ledger_trouble;                ///< why the ledger file cannot be used
    std::uint64_t jobs_without_decision = 0;   ///< pending and running jobs of pools that never passed the plugin
};

/// Looks, and changes nothing. As root, becomes the stores' owner: the last thing to be asked.
[[nodiscard]] StoreFacts look_at_store(const Config& config, const std::string& slurm_user);

[[nodiscard]] Controls check_store(const Config& config, const StoreFacts& facts);

}  // namespace accord
