// SPDX-License-Identifier: GPL-2.0-or-later
// Where the policy in force comes from: accord.toml and contracts.db, read again when they change.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "complaints.hpp"
#include "policy/policy.hpp"
#include "store/contracts_db.hpp"

namespace accord {

/// What tells a file from itself after a change.
struct FileStamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    timespec modified{}, changed{};
    bool operator==(const FileStamp& other) const;
};
/// Empty for a file that is not there.
[[nodiscard]] std::optional<FileStamp> stamp_of(const std::string& path);

/// What submissions are judged by.
struct Rules {
    std::shared_ptr<const Policy> policy;  ///< null: there is no accord.toml to go by
    bool has_contracts = false;            ///< false: settings alone, contracts.db was never read
    std::string why;                       ///< what is missing and where, for the user and the record
    std::int64_t generation = 0;           ///< of contracts.db (ContractsDb::data_version()), where has_contracts
};

/// Used by the plugin's thread, and before it by init.
class PolicySource {
public:
    PolicySource(std::string config_path, Complaints& complaints);

    /// New rules, if anything changed since the last call. What cannot be read is complained about, and the last policy
    /// stays. `wait` lets a reader wait out a commit, for a quarter of a second; without it, the next call tries again.
    [[nodiscard]] std::optional<Rules> poll(bool wait);

private:
    bool read_config();
    [[nodiscard]] bool contracts_changed(bool wait);
    [[nodiscard]] bool read_contracts(bool wait);
    void settle_store();
    bool complain(const std::string& topic, const Error& error);
    bool complain_of_store(const Error& error, bool wait);

    std::string config_path_;
    Complaints& complaints_;
    bool config_seen_ = false;
    std::optional<FileStamp> config_stamp_;
    std::optional<Config> config_;  ///< the last good one
    std::string trouble_;           ///< the last that was wrong, for Rules::why

    std::optional<ContractsDb> db_;
    std::string db_path_;
    std::optional<FileStamp> db_stamp_;  ///< of the file that db_ has open; only the identity is looked at
    std::optional<std::int64_t> version_;
    std::vector<StoredContract> known_;
    int vain_polls_ = 0;  ///< since the store could last be read
    bool stale_ = true;  ///< settings changed and are not in force yet
    Rules rules_;
};

}  // namespace accord
