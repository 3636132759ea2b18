// SPDX-License-Identifier: GPL-2.0-or-later
// contracts.db: contracts with all their versions, members as resolved, and the events of their life.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/contract.hpp"
#include "policy/error.hpp"
#include "policy/policy.hpp"

namespace accord {

/// Who does something, for the record (R20).
struct Actor {
    std::uint32_t uid = 0;
    std::uint32_t login_uid = 0;  ///< /proc/self/loginuid; the uid itself where there is none
    std::string name;
};

/// A contract file as it was judged: the text that was parsed is what is stored, hashed and shown.
struct ContractFile {
    std::string path;
    std::string text;
    Contract contract;
};

struct StoredContract {
    std::string key;
    std::uint32_t version = 0;
    ContractState state = ContractState::proposed;
    std::string text, hash;  ///< BLAKE2b-256 of the text, in hex
    std::int64_t changed_s = 0;
    std::shared_ptr<const Contract> contract;
    std::vector<std::uint32_t> member_uids;  ///< sorted
};

struct ContractEvent {
    std::int64_t id = 0;
    std::string contract;
    std::uint32_t version = 0;
    std::int64_t time_s = 0;
    std::string event;  ///< "proposed", "activated", "replaced", "members", …
    std::uint32_t uid = 0, login_uid = 0;
    std::string who, why, contract_hash, detail, prev_hash, hash;
};

/// People as resolved from the contracts' users and groups.
struct ResolvedMembers {
    std::map<std::string, std::vector<std::uint32_t>> uids_by_contract;  ///< key -> sorted uids
    std::map<std::uint32_t, std::string> names;
    std::vector<std::uint32_t> exempt_uids;  ///< of exempt_users
    std::vector<std::string> warnings;  ///< users or groups that do not exist, administrative identities left out
};
/// Asks the name service for every user and group that the contracts name: never inside slurmctld. Administrative
/// identities (`slurm_user`, members of `admin_group`) are left out with a warning (R3).
[[nodiscard]] ResolvedMembers resolve_members(const Config& config,
                                              const std::vector<std::shared_ptr<const Contract>>& contracts,
                                              const std::string& slurm_user);

class ContractsDb {
public:
    enum class Open { read_only, read_write };
    /// read_write makes the file (0640) and migrates it. Refuses a network file system and a damaged file, with the
    /// reason. A reader never waits for a writer: "unavailable" when the file is locked.
    static Result<ContractsDb> open(const std::string& path, Open how);
    ContractsDb(ContractsDb&&) noexcept;
    ContractsDb& operator=(ContractsDb&&) noexcept;
    ~ContractsDb();

    /// Grows with every change that a policy would notice; cheap to ask.
    [[nodiscard]] Result<std::int64_t> data_version() const;
    /// The newest version of every contract. `known` gives models already built, by key and version, so that only
    /// what changed is parsed again.
    [[nodiscard]] Result<std::vector<StoredContract>> contracts(const std::vector<StoredContract>& known = {}) const;
    [[nodiscard]] Result<std::map<std::uint32_t, std::string>> user_names() const;
    [[nodiscard]] Result<std::vector<std::uint32_t>> exempt_uids() const;
    [[nodiscard]] Result<std::vector<ContractEvent>> events(const std::string& key) const;

    /// All or nothing, in one transaction. New or changed texts become new versions, active at once where governance
    /// asks for no acknowledgement and no second pair of eyes.
    [[nodiscard]] Result<void> apply(const std::vector<ContractFile>& files, const Governance& governance,
                                     const Actor& actor, std::int64_t now_s);
    /// Writes what differs, with an event per contract whose members changed. True when anything did.
    [[nodiscard]] Result<bool> set_members(const ResolvedMembers& members, const Actor& actor, std::int64_t now_s);

private:
    struct State;
    explicit ContractsDb(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// The policy as the store has it now. `known` keeps the models between calls.
[[nodiscard]] Result<std::shared_ptr<const Policy>> load_policy(const Config& config, const ContractsDb& db,
                                                                std::vector<StoredContract>& known);

}  // namespace accord
