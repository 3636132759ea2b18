// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/contract_toml.hpp"

#include <utility>

namespace accord {

JudgedContract judge_contract(std::string text, const std::string& path, const Config* config) {
    JudgedContract judged;
    judged.text = std::move(text);
    judged.report.path = path;
    const auto tree = parse_toml(judged.text, path);
    if (!tree) {
        judged.report.errors.push_back(tree.error());
        return judged;
    }
    const DateRules dates{config ? config->timezone : "", config && !config->timezone.empty()};
    Contract contract;
    read_table(*tree, contract_schema(contract, dates), judged.report);
    if (judged.report.errors.empty()) check_contract(contract, config, judged.report);
    if (judged.report.errors.empty()) judged.contract = std::move(contract);
    return judged;
}

}  // namespace accord
