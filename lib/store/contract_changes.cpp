// SPDX-License-Identifier: GPL-2.0-or-later
// What applying contract files does to those in the store.
#include <algorithm>

#include "store/contract_json.hpp"
#include "store/contracts_db.hpp"
#include "store/hash.hpp"

namespace accord {

const StoredContract* contract_in(const std::vector<StoredContract>& stored, const std::string& key) {
    const auto at =
        std::lower_bound(stored.begin(), stored.end(), key,
                         [](const StoredContract& one, const std::string& other) { return one.key < other; });
    return at != stored.end() && at->key == key ? &*at : nullptr;
}

std::vector<ContractChange> changes_of(const std::vector<StoredContract>& stored,
                                       const std::vector<ContractFile>& files, const Governance& governance) {
    using Kind = ContractChange::Kind;
    const bool at_once = governance.acknowledgements.empty() && !governance.four_eyes;
    std::vector<ContractChange> changes;
    for (const auto& file : files) {
        const auto key = file.contract.key();
        const auto* before = contract_in(stored, key);
        if (!before) {
            changes.push_back({Kind::added, key, 1, at_once ? ContractState::active : ContractState::proposed});
            continue;
        }
        const bool same = before->hash == blake2b_hex(file.text) &&
                          to_json(*before->contract) == to_json(file.contract);
        if (same && at_once && before->state == ContractState::proposed)
            changes.push_back({Kind::activated, key, before->version, ContractState::active});
        else if (same) changes.push_back({Kind::unchanged, key, before->version, before->state});
        else
            changes.push_back({Kind::changed, key, std::max(before->version, before->proposed_version.value_or(0)) + 1,
                               at_once ? ContractState::active : ContractState::proposed});
    }
    return changes;
}

}  // namespace accord
