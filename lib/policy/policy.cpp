// SPDX-License-Identifier: GPL-2.0-or-later
// Looking up contracts and people.
#include "policy/policy.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace accord {

namespace {

/// FNV-1a, 64 bits: it can be fed piece by piece.
constexpr std::uint64_t hash_start = 14695981039346656037u;

std::uint64_t hash_on(std::uint64_t hash, std::string_view text) {
    for (const unsigned char byte : text) hash = (hash ^ byte) * 1099511628211u;
    return hash;
}

}  // namespace

std::size_t ContractKeyHash::operator()(std::string_view key) const { return hash_on(hash_start, key); }

std::size_t ContractKeyHash::operator()(const Parts& key) const {
    return hash_on(hash_on(hash_on(hash_start, key.account), "/"), key.partition);
}

bool ContractKeyEqual::operator()(const ContractKeyHash::Parts& parts, std::string_view key) const {
    return key.size() == parts.account.size() + 1 + parts.partition.size() && key.starts_with(parts.account) &&
           key[parts.account.size()] == '/' && key.ends_with(parts.partition);
}

bool PolicyContract::has_member(std::uint32_t uid) const {
    return std::binary_search(members.begin(), members.end(), uid);
}

bool PolicyContract::active_at(std::int64_t now_s) const {
    return state == ContractState::active && contract->valid_from_s <= now_s && now_s <= contract->valid_until_s;
}

Policy::Policy(Config config, std::vector<PolicyContract> contracts,
               const std::map<std::uint32_t, std::string>& user_names,
               std::vector<std::uint32_t> exempt_uids)
    : config_(std::move(config)),
      contracts_(std::move(contracts)),
      lend_terms_(std::make_shared<const LendTerms>(contracts_)),
      user_names_(user_names.begin(), user_names.end()),
      exempt_uids_(std::move(exempt_uids)) {
    // Root's number is known without asking a name service.
    const auto& exempt = config_.exempt_users;
    if (std::find(exempt.begin(), exempt.end(), "root") != exempt.end()) exempt_uids_.push_back(0);
    std::sort(exempt_uids_.begin(), exempt_uids_.end());
    by_key_.reserve(contracts_.size());
    for (std::size_t index = 0; index < contracts_.size(); ++index) {
        auto& one = contracts_[index];
        std::sort(one.members.begin(), one.members.end());
        one.members.erase(std::unique(one.members.begin(), one.members.end()), one.members.end());
        by_key_.emplace(one.contract->key(), index);
        for (const auto uid : one.members) by_member_.emplace(uid, index);
    }
}

const PolicyContract* Policy::contract(std::string_view account, std::string_view partition) const {
    const auto found = by_key_.find(ContractKeyHash::Parts{account, partition});
    return found == by_key_.end() ? nullptr : &contracts_[found->second];
}

const PolicyContract* Policy::contract(const std::string& key) const {
    const auto found = by_key_.find(std::string_view(key));
    return found == by_key_.end() ? nullptr : &contracts_[found->second];
}

std::vector<const PolicyContract*> Policy::contracts_of(std::uint32_t uid, std::string_view partition) const {
    std::vector<const PolicyContract*> theirs;
    const auto [first, last] = by_member_.equal_range(uid);
    for (auto entry = first; entry != last; ++entry)
        if (const auto& one = contracts_[entry->second]; one.contract->partition == partition) theirs.push_back(&one);
    std::sort(theirs.begin(), theirs.end(),
              [](const auto* left, const auto* right) { return left->contract->account < right->contract->account; });
    return theirs;
}

bool Policy::exempt(std::uint32_t uid) const {
    return std::binary_search(exempt_uids_.begin(), exempt_uids_.end(), uid);
}

std::string Policy::user_name(std::uint32_t uid) const {
    const auto found = user_names_.find(uid);
    return found == user_names_.end() ? fmt::format("{}", uid) : found->second;
}

}  // namespace accord
