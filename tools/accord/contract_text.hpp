// SPDX-License-Identifier: GPL-2.0-or-later
// What people are told of a contract in a line.
#pragma once

#include <string>

#include "policy/contract.hpp"

namespace accord {

/// "8 a100 + 4 v100".
[[nodiscard]] std::string guarantee_of(const Contract& contract);
/// "4 a100 + any v100": "any" where a type has no limit.
[[nodiscard]] std::string borrow_limit_of(const Contract& contract);
/// "guarantees 8 a100, 2025-12-31T23:00:00Z to 2026-12-31T22:59:59Z".
[[nodiscard]] std::string summary_of(const Contract& contract);

}  // namespace accord
