// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim/people.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace accord::sim {

namespace {

constexpr std::uint32_t first_uid = 1000;

class Casting {
public:
    Casting(const Trace& trace, const std::function<std::vector<std::string>(const std::string&)>& members_of)
        : trace_(trace), members_of_(members_of) {
        people_.uids["root"] = 0;
    }

    std::uint32_t uid_of(const std::string& name) {
        const auto next = first_uid + static_cast<std::uint32_t>(people_.uids.size());
        return people_.uids.try_emplace(name, next).first->second;
    }

    PolicyContract take(Contract contract) {
        std::vector<std::uint32_t> members;
        if (trace_.has_users) {
            for (const auto& user : contract.members.users) members.push_back(uid_of(user));
            for (const auto& group : contract.members.groups)
                for (const auto& user : members_of_(group)) members.push_back(uid_of(user));
        } else {
            members.push_back(people_.nobody);
            contract.members.max_gpus_per_user.reset();
        }
        return {std::make_shared<const Contract>(std::move(contract)), 1, ContractState::active, std::move(members), {}};
    }

    People people() {
        people_.by_name.assign(trace_.names.size(), people_.nobody);
        for (const auto& job : trace_.jobs)
            if (job.user != none) people_.by_name[job.user] = uid_of(trace_.names[job.user]);
        return std::move(people_);
    }

private:
    const Trace& trace_;
    const std::function<std::vector<std::string>(const std::string&)>& members_of_;
    People people_;
};

}  // namespace

Cast cast_of(const Trace& trace, const Config& config, const std::vector<Contract>& contracts,
             const std::function<std::vector<std::string>(const std::string& group)>& members_of) {
    Casting casting(trace, members_of);
    std::vector<PolicyContract> taken;
    for (const auto& contract : contracts) taken.push_back(casting.take(contract));
    std::vector<std::uint32_t> exempt;
    for (const auto& user : config.exempt_users) exempt.push_back(casting.uid_of(user));
    auto people = casting.people();
    std::map<std::uint32_t, std::string> names;
    for (const auto& [name, uid] : people.uids) names.emplace(uid, name);
    return {std::move(people), Policy(config, std::move(taken), names, std::move(exempt))};
}

}  // namespace accord::sim
