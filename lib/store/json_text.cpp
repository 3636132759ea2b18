// SPDX-License-Identifier: GPL-2.0-or-later
// Escaping after RFC 8259, section 7; UTF-8 after Unicode's table 3-7.
#include "store/json_text.hpp"

#include <cstddef>
#include <iterator>

namespace accord {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// Length of the well-formed UTF-8 sequence of more than one byte at the start of `text`; 0 where there is none.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned lead = byte(0);
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
    unsigned low = 0x80, high = 0xBF;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    if (byte(1) < low || byte(1) > high) return 0;
    for (std::size_t i = 2; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    return length;
}

void append_escape(fmt::memory_buffer& to, unsigned char byte) {
    switch (byte) {
        case '"': to.append(std::string_view("\\\"")); break;
        case '\\': to.append(std::string_view("\\\\")); break;
        case '\n': to.append(std::string_view("\\n")); break;
        case '\t': to.append(std::string_view("\\t")); break;
        default: fmt::format_to(std::back_inserter(to), "\\u{:04x}", static_cast<unsigned>(byte));
    }
}

bool is_plain(unsigned char byte) { return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\'; }

}  // namespace

void append_json_string(fmt::memory_buffer& to, std::string_view text) {
    to.push_back('"');
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && is_plain(static_cast<unsigned char>(text[plain]))) ++plain;
        to.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) break;
        const auto byte = static_cast<unsigned char>(text[0]);
        std::size_t used = 1;
        if (byte < 0x80) {
            append_escape(to, byte);
        } else {
            const std::size_t length = sequence_length(text);
            to.append(length == 0 ? replacement : text.substr(0, length));
            if (length != 0) used = length;
        }
        text.remove_prefix(used);
    }
    to.push_back('"');
}

void append_gpus(fmt::memory_buffer& to, const GpuVector& gpus) {
    to.push_back('{');
    for (auto it = gpus.begin(); it != gpus.end(); ++it) {
        if (it != gpus.begin()) to.push_back(',');
        append_json_string(to, it->first);
        to.push_back(':');
        append_integer(to, it->second);
    }
    to.push_back('}');
}

void JsonObject::name(std::string_view key) {
    if (!first_) to_.push_back(',');
    first_ = false;
    append_json_string(to_, key);
    to_.push_back(':');
}

}  // namespace accord
