// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/flat_values.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "contract/toml_tree.hpp"

namespace accord {

namespace {

using Kind = TomlNode::Kind;

std::string spelt(const TomlNode& node) {
    if (node.kind == Kind::string) return fmt::format("\"{}\"", node.text);
    if (node.kind == Kind::integer) return fmt::format("{}", node.integer);
    if (node.kind == Kind::boolean) return node.boolean ? "true" : "false";
    if (node.kind != Kind::array) return node.raw;
    std::string text;
    for (const auto& item : node.items) text += (text.empty() ? "" : ", ") + spelt(item);
    return "[" + text + "]";
}

bool is_list_of_tables(const TomlNode& node) {
    const auto is_table = [](const TomlNode& item) { return item.kind == Kind::table; };
    return node.kind == Kind::array && !node.items.empty() &&
           std::all_of(node.items.begin(), node.items.end(), is_table);
}

void flatten(const TomlNode& node, const std::string& key, std::map<std::string, std::string>& to) {
    if (node.kind == Kind::table) {
        for (const auto& entry : node.entries)
            flatten(entry.value, key.empty() ? entry.key : key + "." + entry.key, to);
    } else if (is_list_of_tables(node)) {
        for (std::size_t i = 0; i < node.items.size(); ++i)
            flatten(node.items[i], fmt::format("{}[{}]", key, i + 1), to);
    } else {
        to[key] = spelt(node);
    }
}

}  // namespace

std::map<std::string, std::string> flat_values(std::string_view toml) {
    std::map<std::string, std::string> values;
    if (const auto tree = parse_toml(toml, "")) flatten(*tree, "", values);
    return values;
}

std::vector<ChangedValue> changed_values(std::string_view before, std::string_view after) {
    std::map<std::string, ChangedValue> both;
    for (const auto& [key, value] : flat_values(before)) both[key].before = value;
    for (const auto& [key, value] : flat_values(after)) both[key].after = value;
    std::vector<ChangedValue> changed;
    for (auto& [key, value] : both)
        if (value.before != value.after) changed.push_back({key, value.before, value.after});
    return changed;
}

}  // namespace accord
