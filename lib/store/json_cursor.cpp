// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/json_cursor.hpp"

namespace accord {

bool JsonCursor::take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
}

bool JsonCursor::take_member(std::string_view key) {
    const std::string_view before = rest_;
    if ((first_ || take(",")) && take("\"") && take(key) && take("\":")) {
        first_ = false;
        member_ = key;
        return true;
    }
    rest_ = before;
    return false;
}

void JsonCursor::require(bool right) {
    if (right) return;
    if (complaint_.empty()) complaint_ = member_;
    rest_ = {};
}

void JsonCursor::begin_object() {
    require(take("{"));
    first_ = true;
}

void JsonCursor::end_object() {
    require(take("}"));
    first_ = false;
}

void JsonCursor::member(std::string_view key) {
    if (take_member(key)) return;
    member_ = key;
    require(false);
}

void JsonCursor::read(bool& out) {
    out = take("true");
    if (!out) require(take("false"));
}

bool JsonCursor::read_escape(std::string& out) {
    if (rest_.size() < 2) return false;
    const char kind = rest_[1];
    rest_.remove_prefix(2);
    switch (kind) {
        case '"':
        case '\\': out += kind; return true;
        case 'n': out += '\n'; return true;
        case 't': out += '\t'; return true;
        case 'u': break;
        default: return false;
    }
    if (rest_.size() < 4) return false;
    unsigned code = 0;
    const char* const last = rest_.data() + 4;
    const auto [end, error] = std::from_chars(rest_.data(), last, code, 16);
    if (error != std::errc{} || end != last || code > 0x7F) return false;
    out += static_cast<char>(code);
    rest_.remove_prefix(4);
    return true;
}

void JsonCursor::read(std::string& out) {
    out.clear();
    require(take("\""));
    while (ok()) {
        const auto stop = rest_.find_first_of("\"\\");
        if (stop == std::string_view::npos) return require(false);
        out.append(rest_.substr(0, stop));
        rest_.remove_prefix(stop);
        if (take("\"")) return;
        require(read_escape(out));
    }
}

void JsonCursor::read(GpuVector& out) {
    out.clear();
    map([&](const std::string& type) { read(out[type]); });
}

}  // namespace accord
