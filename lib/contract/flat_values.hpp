// SPDX-License-Identifier: GPL-2.0-or-later
// A TOML file as flat keys with their values as they are spelt: what two versions of a file are compared by.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace accord {

/// "capacity.a100.guaranteed" -> "8". Elements of lists of tables are numbered from 1: "signal[1].name". Nothing for a
/// text that is not TOML.
[[nodiscard]] std::map<std::string, std::string> flat_values(std::string_view toml);

/// A key that two versions have with different values, or only one of them has.
struct ChangedValue {
    std::string key;
    std::string before, after;  ///< empty where the key is not there
};
[[nodiscard]] std::vector<ChangedValue> changed_values(std::string_view before, std::string_view after);

}  // namespace accord
