// SPDX-License-Identifier: GPL-2.0-or-later
// contracts.db: contracts with all their versions, members as resolved, and the events of their life.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

/// The version of a contract that is in force, or the newest where none ever was.
struct StoredContract {
    std::string key;
    std::uint32_t version = 0;
    std::optional<std::uint32_t> proposed_version;  ///< a newer one that is not agreed to yet
    ContractState state = ContractState::proposed;
    std::string hash;  ///< BLAKE2b-256 of the text, in hex
    std::int64_t changed_s = 0;
    std::shared_ptr<const Contract> contract;
    std::vector<std::uint32_t> member_uids;  ///< sorted
};

/// All that a policy is made of, read at one instant.
struct ContractsSnapshot {
    std::int64_t data_version = 0;
    std::vector<StoredContract> contracts;  ///< by key
    std::map<std::uint32_t, std::string> user_names;
    std::vector<std::uint32_t> exempt_uids;
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

/// The BLAKE2b-256, in hex, of all of the event but its hash.
[[nodiscard]] std::string hash_of(const ContractEvent& event);

/// What applying one file does.
struct ContractChange {
    enum class Kind {
        unchanged,
        added,      ///< the contract's first version
        changed,    ///< a new version
        activated,  ///< the text is the stored one, and comes into force
    };
    Kind kind = Kind::unchanged;
    std::string key;
    std::uint32_t version = 0;                      ///< that the file's text is, or becomes
    ContractState state = ContractState::proposed;  ///< of that version afterwards
};

/// The contract of `stored`, which is sorted by key; null where there is none.
[[nodiscard]] const StoredContract* contract_in(const std::vector<StoredContract>& stored, const std::string& key);

/// What applying the files would do, in their order. A text comes into force at once where governance asks for no
/// acknowledgement and no second pair of eyes; otherwise it is proposed, and a version in force stays so.
[[nodiscard]] std::vector<ContractChange> changes_of(const std::vector<StoredContract>& stored,
                                                     const std::vector<ContractFile>& files,
                                                     const Governance& governance);

/// People as resolved from the contracts' users and groups.
struct ResolvedMembers {
    /// Key -> sorted uids. A contract of which the name service could not say who its members are is not there, and
    /// keeps those that it had.
    std::map<std::string, std::vector<std::uint32_t>> uids_by_contract;
    std::map<std::uint32_t, std::string> names;
    std::vector<std::uint32_t> exempt_uids;  ///< of exempt_users
    std::vector<std::string> warnings;       ///< who does not exist, and administrative identities left out
    bool complete = true;                    ///< false when the name service could not answer something
    /// ContractsDb::data_version() of the contracts that were looked up; unset: whichever are stored.
    std::optional<std::int64_t> of_version;
};
/// Asks the name service for every user and group that the contracts name: never inside slurmctld. Administrative
/// identities (`slurm_user`, members of `admin_group`) are left out with a warning (R3).
[[nodiscard]] ResolvedMembers resolve_members(const Config& config,
                                              const std::vector<std::shared_ptr<const Contract>>& contracts,
                                              const std::string& slurm_user);

/// `slurm_user` and the members of `admin_group`: never members of a contract (R3).
[[nodiscard]] Result<std::set<std::string>> administrative_users(const Config& config, const std::string& slurm_user);

class ContractsDb {
public:
    enum class Open {
        read_only,
        read_only_at_once,  ///< as read_only, but never waits for a writer: it may be "unavailable" during a commit
        read_write,
    };
    /// read_write makes the file (0640) and migrates it. Refuses a network file system and a damaged file, with the
    /// reason. A reader does not wait out a writer that keeps the file locked: "unavailable" after a quarter of a
    /// second, which is longer than a commit takes.
    static Result<ContractsDb> open(const std::string& path, Open how);
    ContractsDb(ContractsDb&&) noexcept;
    ContractsDb& operator=(ContractsDb&&) noexcept;
    ~ContractsDb();

    /// Grows with every change that a policy would notice; cheap to ask.
    [[nodiscard]] Result<std::int64_t> data_version() const;
    /// `known` gives models already built, by key, version and hash, so that only what changed is parsed again.
    [[nodiscard]] Result<ContractsSnapshot> snapshot(const std::vector<StoredContract>& known = {}) const;
    /// The text of a version, as it was applied; nothing when there is none.
    [[nodiscard]] Result<std::optional<std::string>> text(const std::string& key, std::uint32_t version) const;
    /// The events of a contract, or of all, in their order.
    [[nodiscard]] Result<std::vector<ContractEvent>> events(const std::optional<std::string>& key = {}) const;

    /// Does changes_of(), all or nothing, in one transaction. Fails ("invalid") where the guarantees that would then be
    /// in force exceed a pool's capacity (R10).
    [[nodiscard]] Result<std::vector<ContractChange>> apply(const std::vector<ContractFile>& files,
                                                            const Config& config, const Actor& actor,
                                                            std::int64_t now_s);
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
