// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the policy as accord.toml, contracts.db and the name service have it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contract/calendar.hpp"
#include "log.hpp"
#include "members.hpp"
#include "policy/policy.hpp"
#include "store/contracts_db.hpp"

namespace accord {

class PolicyWatch {
public:
    /// Reads accord.toml; fails where there is none to start with. There are no contracts before the first `refresh`.
    static Result<PolicyWatch> open(const std::string& config_path);

    /// Takes over what has changed; what is bad leaves the last good one in force and begins a trouble. `slurm_user`
    /// is left out of the members (R3); none: people are not looked up yet.
    void refresh(Troubles& troubles, const std::optional<std::string>& slurm_user, std::int64_t now_s);

    [[nodiscard]] const Policy& policy() const { return *policy_; }
    [[nodiscard]] const Config& config() const { return policy_->config(); }
    /// In the time zone of accord.toml.
    [[nodiscard]] const Calendar& calendar() const { return calendar_; }

private:
    /// A file as it was last looked at.
    struct Stamp {
        std::uint64_t device = 0, inode = 0;
        std::int64_t size = -1, changed_ns = 0;
        bool operator==(const Stamp&) const = default;
    };
    static Stamp stamp_of(const std::string& path);

    PolicyWatch(std::string config_path, Stamp stamp, Config config);
    bool reload_config(Troubles& troubles);
    void make_calendar(std::int64_t now_s);
    void open_contracts(Troubles& troubles);
    void reload_contracts(Troubles& troubles, bool config_changed);
    void resolve(Troubles& troubles, const std::string& slurm_user, std::int64_t now_s);
    void store_members(Troubles& troubles, const ResolvedMembers& members, std::int64_t now_s);

    std::string config_path_;
    Stamp config_stamp_, contracts_stamp_;
    Config config_;
    std::shared_ptr<const Policy> policy_;
    Calendar calendar_;
    std::optional<std::string> calendar_zone_;
    std::optional<ContractsDb> contracts_;
    std::optional<std::int64_t> data_version_;  ///< of the policy in force
    std::vector<StoredContract> known_;
    MemberLookup lookup_;
    std::optional<std::int64_t> looked_up_version_;
    std::chrono::steady_clock::time_point look_up_at_{};
    std::vector<std::string> warnings_;
};

}  // namespace accord
