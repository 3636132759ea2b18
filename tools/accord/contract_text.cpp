// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract_text.hpp"

#include <fmt/format.h>

#include "policy/utc.hpp"

namespace accord {

std::string guarantee_of(const Contract& contract) {
    GpuVector gpus;
    for (const auto& [type, capacity] : contract.capacity)
        if (capacity.guaranteed != 0) gpus[type] = capacity.guaranteed;
    return describe(gpus);
}

std::string borrow_limit_of(const Contract& contract) {
    std::string text;
    for (const auto& [type, capacity] : contract.capacity)
        text += fmt::format("{}{} {}", text.empty() ? "" : " + ",
                            capacity.borrow_limit ? fmt::format("{}", *capacity.borrow_limit) : "any", type);
    return text;
}

std::string summary_of(const Contract& contract) {
    return fmt::format("guarantees {}, {} to {}", guarantee_of(contract), utc_text(contract.valid_from_s),
                       utc_text(contract.valid_until_s));
}

}  // namespace accord
