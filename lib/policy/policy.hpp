// SPDX-License-Identifier: GPL-2.0-or-later
// The policy in force: settings, contracts and resolved people, as one immutable snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/config.hpp"
#include "policy/contract.hpp"
#include "policy/lend_terms.hpp"

namespace accord {

/// A contract with what its life adds to it.
struct PolicyContract {
    std::shared_ptr<const Contract> contract;
    std::uint32_t version = 0;
    ContractState state = ContractState::active;
    std::vector<std::uint32_t> members;  ///< uids, sorted; administrative identities are left out (R3)
    std::string hash;                    ///< of the text that was agreed to

    [[nodiscard]] bool has_member(std::uint32_t uid) const;
    /// Active by state and within its dates at `now_s`.
    [[nodiscard]] bool active_at(std::int64_t now_s) const;
};

/// Hashes a contract's key, whole or in its two parts, so that looking one up builds no string.
struct ContractKeyHash {
    using is_transparent = void;
    struct Parts {
        std::string_view account, partition;
    };
    [[nodiscard]] std::size_t operator()(std::string_view key) const;
    [[nodiscard]] std::size_t operator()(const Parts& key) const;
};
struct ContractKeyEqual {
    using is_transparent = void;
    [[nodiscard]] bool operator()(std::string_view left, std::string_view right) const { return left == right; }
    [[nodiscard]] bool operator()(const ContractKeyHash::Parts& parts, std::string_view key) const;
    [[nodiscard]] bool operator()(std::string_view key, const ContractKeyHash::Parts& parts) const {
        return (*this)(parts, key);
    }
};

/// Cheap to keep by shared_ptr, costly to copy: pass it by reference.
class Policy {
public:
    Policy(Config config, std::vector<PolicyContract> contracts,
           const std::map<std::uint32_t, std::string>& user_names, std::vector<std::uint32_t> exempt_uids);

    [[nodiscard]] const Config& config() const { return config_; }
    /// Null when there is none. `account` must be in lower case.
    [[nodiscard]] const PolicyContract* contract(std::string_view account, std::string_view partition) const;
    [[nodiscard]] const PolicyContract* contract(const std::string& key) const;
    /// The contracts in the partition that have the user as a member, in any state (R2).
    [[nodiscard]] std::vector<const PolicyContract*> contracts_of(std::uint32_t uid, std::string_view partition) const;
    [[nodiscard]] const std::vector<PolicyContract>& contracts() const { return contracts_; }
    [[nodiscard]] const std::shared_ptr<const LendTerms>& lend_terms() const { return lend_terms_; }
    [[nodiscard]] bool exempt(std::uint32_t uid) const;
    /// The user's name as last resolved, else the uid in digits.
    [[nodiscard]] std::string user_name(std::uint32_t uid) const;

private:
    Config config_;
    std::vector<PolicyContract> contracts_;
    std::unordered_map<std::string, std::size_t, ContractKeyHash, ContractKeyEqual> by_key_;
    std::unordered_multimap<std::uint32_t, std::size_t> by_member_;
    std::shared_ptr<const LendTerms> lend_terms_;
    std::unordered_map<std::uint32_t, std::string> user_names_;
    std::vector<std::uint32_t> exempt_uids_;
};

/// R10: the sum of the guarantees of all contracts whose state is active, per pool and type and at every instant of
/// their dates, is within the pool's capacity. One sentence with the numbers for each breach.
[[nodiscard]] std::vector<std::string> guarantee_breaches(const Config& config,
                                                          const std::vector<PolicyContract>& contracts);

}  // namespace accord
