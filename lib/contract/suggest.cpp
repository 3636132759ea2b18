// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/suggest.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace accord {

namespace {

struct Place {
    std::string table, key;
};

std::size_t last_dot(const std::string& path) { return path.rfind('.'); }

Place split(const std::string& path) {
    const auto dot = last_dot(path);
    if (dot == std::string::npos) return {"", path};
    return {path.substr(0, dot), path.substr(dot + 1)};
}

/// Every key and table of the schema with the table that it stands in.
std::vector<Place> places_of(const Schema& schema) {
    std::set<std::pair<std::string, std::string>> found;
    for (const auto& key : schema.keys) {
        for (auto path = key.path; !path.empty();) {
            auto place = split(path);
            path = place.table;
            if (place.key.ends_with("[]")) place.key.resize(place.key.size() - 2);
            if (place.key != "*") found.insert({place.table, place.key});
        }
    }
    std::vector<Place> places;
    for (const auto& [table, key] : found) places.push_back({table, key});
    return places;
}

/// "the top level", "[capacity.TYPE]", "[[signal]]".
std::string title(std::string table) {
    if (table.empty()) return "the top level";
    const bool list = table.ends_with("[]");
    if (list) table.resize(table.size() - 2);
    if (table.ends_with(".*")) table.replace(table.size() - 1, 1, "TYPE");
    return list ? fmt::format("[[{}]]", table) : fmt::format("[{}]", table);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const auto change = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a.size()][b.size()];
}

std::string unknown_key_message(const Schema& schema, const std::string& table, const std::string& shown_table,
                                const std::string& key) {
    std::string nearest;
    auto distance = std::max<std::size_t>(2, key.size() / 3) + 1;
    std::vector<std::string> homes, siblings;
    for (const auto& place : places_of(schema)) {
        if (place.table == table) {
            siblings.push_back(place.key);
            const auto edits = edit_distance(key, place.key);
            if (edits < distance) {
                distance = edits;
                nearest = place.key;
            }
        } else if (place.key == key) {
            homes.push_back(title(place.table));
        }
    }
    const bool typo = !nearest.empty();
    if (typo && (homes.empty() || distance == 1)) return fmt::format("unknown key; did you mean {}?", nearest);
    if (!homes.empty() && homes.front() == "the top level")
        return fmt::format(
            "unknown key here; it belongs to the top level and was swallowed by {}: write it above the "
            "first table",
            title(shown_table));
    if (!homes.empty() && !table.empty())
        return fmt::format("unknown key here; it belongs to {} and was swallowed by {}", fmt::join(homes, " or "),
                           title(shown_table));
    if (!homes.empty()) return fmt::format("unknown key here; it belongs to {}", fmt::join(homes, " or "));
    return fmt::format("unknown key; {} knows {}", title(table), fmt::join(siblings, ", "));
}

}  // namespace accord
