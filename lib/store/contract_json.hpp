// SPDX-License-Identifier: GPL-2.0-or-later
// A contract as compact JSON, the form in which the store keeps it beside its text.
#pragma once

#include <string>
#include <string_view>

#include "policy/contract.hpp"
#include "policy/error.hpp"

namespace accord {

/// Members are named as the keys of the file, in one fixed order; what is empty or unset is left out.
[[nodiscard]] std::string to_json(const Contract& contract);

/// The contract again. Fails ("invalid") for what `to_json` cannot have written.
[[nodiscard]] Result<Contract> contract_from_json(std::string_view json);

}  // namespace accord
