// SPDX-License-Identifier: GPL-2.0-or-later
// A contract file: from TOML to the contract, or to all that is wrong with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/schema.hpp"
#include "policy/config.hpp"
#include "policy/contract.hpp"

namespace accord {

/// How a contract's dates are to be read.
struct DateRules {
    std::string timezone;      ///< of bare dates; empty: this machine's
    bool local_times = false;  ///< a time without a zone is allowed: accord.toml says which zone
};

/// Every key of a contract, bound to `contract`. It is the one list that reading, checks, warnings and the reference of
/// the keys go by.
[[nodiscard]] Schema contract_schema(Contract& contract, const DateRules& dates);

struct JudgedContract {
    std::optional<Contract> contract;  ///< nothing when there are errors
    std::string text;                  ///< as it was read
    Report report;
};

/// All that is wrong with the text by itself and, where `config` is given, with what it says of the pool. `path` is for
/// messages.
[[nodiscard]] JudgedContract judge_contract(std::string text, const std::string& path, const Config* config);

/// Checks of keys against each other and against the pool (R10 needs the other contracts: contract_set.hpp). Only for a
/// contract whose keys are right one by one.
void check_contract(const Contract& contract, const Config* config, Report& report);

}  // namespace accord
