// SPDX-License-Identifier: GPL-2.0-or-later
// Where the stores lie within `[store] dir`.
#pragma once

#include <string>

namespace accord {

struct StorePaths {
    explicit StorePaths(const std::string& folder)
        : dir(folder), contracts_db(folder + "/contracts.db"), decisions_db(folder + "/decisions.db"),
          usage_db(folder + "/usage.db"), journal(folder + "/journal"), ledger(folder + "/ledger"), served(folder + "/served"),
          accordd_lock(folder + "/accordd.lock") {}

    std::string dir, contracts_db, decisions_db, usage_db, journal, ledger;
    std::string served;        ///< written by the job_submit plugin: the state of contracts.db that it decides by
    std::string accordd_lock;  ///< held with flock(2) by accordd while it runs; touched by each pass
};

}  // namespace accord
