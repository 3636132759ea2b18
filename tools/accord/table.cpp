// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

namespace accord {

namespace {

std::string title(std::string name) {
    for (auto& c : name) c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

std::string shown(const nlohmann::ordered_json& cell) {
    if (cell.is_null()) return "-";
    if (cell.is_string()) return cell.get<std::string>();
    if (cell.is_boolean()) return cell.get<bool>() ? "yes" : "no";
    return cell.dump();
}

/// What a terminal shows of UTF-8: one column for every code point.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<nlohmann::ordered_json> cells) { rows_.push_back(std::move(cells)); }

std::string Table::text() const {
    std::vector<std::size_t> widths;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        widths.push_back(columns_[column].size());
        for (const auto& row : rows_) widths[column] = std::max(widths[column], width(shown(row[column])));
    }
    std::string out;
    const auto add_line = [&](auto&& cell_of) {
        std::string text;
        for (std::size_t column = 0; column < columns_.size(); ++column) {
            const auto [cell, right] = cell_of(column);
            const std::string pad(widths[column] - width(cell), ' ');
            text += (column ? "  " : "") + (right ? pad + cell : cell + pad);
        }
        out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    };
    const auto is_number = [&](std::size_t column) {
        return std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row[column].is_number(); });
    };
    add_line([&](std::size_t column) { return std::pair(title(columns_[column]), is_number(column)); });
    for (const auto& row : rows_)
        add_line([&](std::size_t column) { return std::pair(shown(row[column]), is_number(column)); });
    return out;
}

std::string Table::json() const {
    auto list = nlohmann::ordered_json::array();
    for (const auto& row : rows_) {
        auto object = nlohmann::ordered_json::object();
        for (std::size_t column = 0; column < columns_.size(); ++column) object[columns_[column]] = row[column];
        list.push_back(std::move(object));
    }
    return list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void Table::print(bool as_json, std::FILE* to) const { fmt::print(to, "{}", as_json ? json() : text()); }

}  // namespace accord
