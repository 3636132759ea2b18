// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim/csv.hpp"

namespace accord::sim {

CsvLines::CsvLines(std::string_view text) : rest_(text) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

bool CsvLines::next(std::vector<std::string_view>& fields) {
    while (!rest_.empty()) {
        ++line_;
        const auto end = rest_.find('\n');
        auto line = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty()) return split(line, fields);
    }
    return false;
}

bool CsvLines::split(std::string_view line, std::vector<std::string_view>& fields) {
    fields.clear();
    while (true) {
        if (!line.starts_with('"')) {
            const auto comma = line.find(',');
            const auto field = line.substr(0, comma);
            if (field.find('"') != std::string_view::npos) {
                problem_ = "a quote within a field: put the whole field into quotes";
                return false;
            }
            fields.push_back(field);
            if (comma == std::string_view::npos) return true;
            line.remove_prefix(comma + 1);
            continue;
        }
        const auto quote = line.find('"', 1);
        if (quote == std::string_view::npos || (quote + 1 < line.size() && line[quote + 1] != ',')) {
            problem_ = "a quoted field must end with a quote, and hold none and no line end";
            return false;
        }
        fields.push_back(line.substr(1, quote - 1));
        if (quote + 1 == line.size()) return true;
        line.remove_prefix(quote + 2);
    }
}

}  // namespace accord::sim
