// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers and texts out of a fuzzer's bytes; when they run out, zeros and empty texts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace accord::test {

class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

    template <typename Number>
    Number number() {
        Number value{};
        const auto size = std::min(sizeof value, rest_.size());
        std::memcpy(&value, rest_.data(), size);
        rest_.remove_prefix(size);
        return value;
    }

    /// Up to the next newline, without any 0 byte, as a C string holds it.
    std::string text() {
        std::string line(rest_.substr(0, rest_.find('\n')));
        rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
        std::erase(line, '\0');
        return line;
    }

private:
    std::string_view rest_;
};

}  // namespace accord::test
