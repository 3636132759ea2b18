// SPDX-License-Identifier: GPL-2.0-or-later
// Who the members of contracts are, as the name service has it now.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/contracts_db.hpp"
#include "sys/name_service.hpp"

namespace accord {

namespace {

/// Looks each name up once. A name that the name service could not judge makes what depends on it uncertain.
class Resolver {
public:
    Resolver(ResolvedMembers& found, std::set<std::string> administrative)
        : found_(found), administrative_(std::move(administrative)) {}

    void contract(const Contract& contract) {
        std::set<std::uint32_t> uids;
        bool certain = true;
        for (const auto& user : contract.members.users) certain &= add_member(contract, user, uids);
        for (const auto& group : contract.members.groups) certain &= add_group(contract, group, uids);
        if (certain) found_.uids_by_contract[contract.key()] = {uids.begin(), uids.end()};
    }

    void exempt(const std::vector<std::string>& users) {
        for (const auto& user : users) {
            const auto uid = uid_of_user(user);
            if (!uid) continue;
            if (*uid) found_.exempt_uids.push_back(**uid);
            else warn(fmt::format("exempt_users: there is no user {}", user));
        }
        std::sort(found_.exempt_uids.begin(), found_.exempt_uids.end());
    }

private:
    using Uid = std::optional<std::uint32_t>;
    using Names = std::optional<std::vector<std::string>>;

    void warn(std::string what) { found_.warnings.push_back(std::move(what)); }

    void no_answer(const Error& error) {
        found_.complete = false;
        warn(error.what + "; the members that depend on it stay as they are");
    }

    /// False when it is not certain who this is.
    bool add_member(const Contract& contract, const std::string& user, std::set<std::uint32_t>& uids) {
        if (administrative_.contains(user)) {
            warn(fmt::format("contract {}: {} is an administrator and is left out (R3)", contract.key(), user));
            return true;
        }
        const auto uid = uid_of_user(user);
        if (!uid) return false;
        if (*uid) uids.insert(**uid);
        else warn(fmt::format("contract {}: there is no user {} yet", contract.key(), user));
        return true;
    }

    bool add_group(const Contract& contract, const std::string& group, std::set<std::uint32_t>& uids) {
        const auto& names = names_in(group);
        if (!names) return false;
        if (!*names) warn(fmt::format("contract {}: there is no group {} yet", contract.key(), group));
        bool certain = true;
        for (const auto& user : names->value_or(std::vector<std::string>()))
            certain &= add_member(contract, user, uids);
        return certain;
    }

    const Result<Uid>& uid_of_user(const std::string& user) {
        const auto known = uids_.find(user);
        if (known != uids_.end()) return known->second;
        auto uid = uid_of(user);
        if (!uid) no_answer(uid.error());
        else if (*uid) found_.names[**uid] = user;
        return uids_.emplace(user, std::move(uid)).first->second;
    }

    const Result<Names>& names_in(const std::string& group) {
        const auto known = groups_.find(group);
        if (known != groups_.end()) return known->second;
        auto names = group_members(group);
        if (!names) no_answer(names.error());
        return groups_.emplace(group, std::move(names)).first->second;
    }

    ResolvedMembers& found_;
    std::set<std::string> administrative_;
    std::map<std::string, Result<Uid>> uids_;
    std::map<std::string, Result<Names>> groups_;
};

}  // namespace

Result<std::set<std::string>> administrative_users(const Config& config, const std::string& slurm_user) {
    std::set<std::string> users;
    if (!slurm_user.empty()) users.insert(slurm_user);
    if (config.admin_group.empty()) return users;
    const auto names = group_members(config.admin_group);
    if (!names) return tl::unexpected<Error>(names.error());
    if (*names) users.insert((*names)->begin(), (*names)->end());
    return users;
}

ResolvedMembers resolve_members(const Config& config, const std::vector<std::shared_ptr<const Contract>>& contracts,
                                const std::string& slurm_user) {
    ResolvedMembers found;
    const auto administrative = administrative_users(config, slurm_user);
    if (!administrative) {
        found.complete = false;
        found.warnings.push_back(administrative.error().what + "; all members stay as they are");
        return found;
    }
    Resolver resolver(found, *administrative);
    resolver.exempt(config.exempt_users);
    for (const auto& contract : contracts) resolver.contract(*contract);
    return found;
}

}  // namespace accord
