// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/network_rule.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace accord {

namespace {

std::optional<unsigned> number(std::string_view text, unsigned most) {
    unsigned value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, value);
    if (text.empty() || failed != std::errc() || stop != end || value > most) return {};
    return value;
}

bool is_ports(std::string_view text) {
    const auto dash = text.find('-');
    const auto first = number(text.substr(0, dash), 65535);
    if (!first || *first == 0) return false;
    if (dash == std::string_view::npos) return true;
    const auto last = number(text.substr(dash + 1), 65535);
    return last && *first <= *last;
}

/// No bit beside the network's: such a rule means less or more than it seems to.
bool has_host_bits(const unsigned char* address, unsigned bytes, unsigned bits) {
    for (unsigned bit = bits; bit < bytes * 8; ++bit)
        if (address[bit / 8] & (0x80u >> (bit % 8))) return true;
    return false;
}

bool is_network(const std::string& text, int family) {
    const auto slash = text.find('/');
    unsigned char address[sizeof(in6_addr)] = {};
    const unsigned bytes = family == AF_INET ? 4 : 16;
    if (inet_pton(family, text.substr(0, slash).c_str(), address) != 1) return false;
    if (slash == std::string::npos) return true;
    const auto bits = number(std::string_view(text).substr(slash + 1), bytes * 8);
    return bits && !has_host_bits(address, bytes, *bits);
}

bool is_rule(const std::string& text) {
    const bool bracketed = text.front() == '[';
    const auto end = bracketed ? text.find(']') : text.find(':');
    if (bracketed && end == std::string::npos) return false;
    const auto network = bracketed ? text.substr(1, end - 1) : text.substr(0, end);
    if (!is_network(network, bracketed ? AF_INET6 : AF_INET)) return false;
    const auto rest = end == std::string::npos ? std::string() : text.substr(end + (bracketed ? 1 : 0));
    return rest.empty() || (rest.front() == ':' && is_ports(std::string_view(rest).substr(1)));
}

}  // namespace

std::string check_network(const std::string& text) {
    if (is_rule(text)) return {};
    return fmt::format(
        "found \"{}\", expected a network and ports such as \"10.20.0.0/16:443\", \"10.20.0.0/16\" or "
        "\"[fd00::/8]:8000-8100\", no host bits set",
        text);
}

}  // namespace accord
