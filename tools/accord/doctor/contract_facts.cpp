// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "doctor/contract_controls.hpp"
#include "slurm_accounts.hpp"
#include "site_now.hpp"
#include "store/contracts_db.hpp"
#include "store/store_paths.hpp"
#include "sys/name_service.hpp"

namespace accord {
namespace {

void look_for_owners(const Contract& contract, std::vector<std::string>& missing) {
    const std::pair<const char*, const std::string&> owners[] = {{"business", contract.owners.business},
                                                                 {"operations", contract.owners.operations},
                                                                 {"cost", contract.owners.cost}};
    for (const auto& [role, user] : owners) {
        const auto uid = uid_of(user);
        if (uid && !*uid) missing.push_back(fmt::format("{}: {} owner {}", contract.key(), role, user));
    }
}

}  // namespace

ContractFacts look_at_contracts(const Config& config, const std::string& slurm_user) {
    ContractFacts facts;
    if (auto contracts = contracts_in(StorePaths(config.store_dir).contracts_db)) facts.contracts = std::move(*contracts);
    std::vector<std::shared_ptr<const Contract>> texts;
    for (const auto& one : facts.contracts) {
        texts.push_back(one.contract);
        look_for_owners(*one.contract, facts.missing_owners);
    }
    facts.member_warnings = resolve_members(config, texts, slurm_user).warnings;
    facts.accounts = slurm_accounts();
    if (facts.accounts) facts.parents = slurm_account_parents();
    return facts;
}

}  // namespace accord
