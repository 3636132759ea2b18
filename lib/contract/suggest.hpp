// SPDX-License-Identifier: GPL-2.0-or-later
// What someone who wrote an unknown key may have meant.
#pragma once

#include <string>
#include <string_view>

#include "contract/schema.hpp"

namespace accord {

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// `table` is the path of the table in which the key was found ("" at the top), with "*" and "[]" as in the schema;
/// `shown_table` the same as the file has it. Returns the whole message.
[[nodiscard]] std::string unknown_key_message(const Schema& schema, const std::string& table,
                                              const std::string& shown_table, const std::string& key);

}  // namespace accord
