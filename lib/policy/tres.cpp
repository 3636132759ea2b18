// SPDX-License-Identifier: GPL-2.0-or-later
// Reading Slurm's TRES strings, token by token.
#include "policy/tres.hpp"

#include <algorithm>
#include <cctype>

namespace accord {

namespace {

struct Suffix {
    std::string_view name;
    Gpus factor;
};

constexpr Gpus kibi = 1024, kilo = 1000;

/// suffix_mult of src/common/slurm_protocol_defs.c, alike in 22.05 and 24.11.
constexpr Suffix suffixes[] = {
    {"k", kibi},
    {"kib", kibi},
    {"kb", kilo},
    {"m", kibi * kibi},
    {"mib", kibi * kibi},
    {"mb", kilo * kilo},
    {"g", kibi * kibi * kibi},
    {"gib", kibi * kibi * kibi},
    {"gb", kilo * kilo * kilo},
    {"t", kibi * kibi * kibi * kibi},
    {"tib", kibi * kibi * kibi * kibi},
    {"tb", kilo * kilo * kilo * kilo},
    {"p", kibi * kibi * kibi * kibi * kibi},
    {"pib", kibi * kibi * kibi * kibi * kibi},
    {"pb", kilo * kilo * kilo * kilo * kilo},
};

bool same_letters(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    });
}

std::optional<Gpus> factor_of(std::string_view suffix) {
    if (suffix.empty()) return 1;
    for (const auto& one : suffixes)
        if (same_letters(one.name, suffix)) return one.factor;
    return std::nullopt;
}

/// Whatever follows "gres:" or "gres/" in the token. Slurm looks for it anywhere in the string.
std::optional<std::string_view> after_prefix(std::string_view token) {
    constexpr std::string_view prefix = "gres";
    for (auto at = token.find(prefix); at != std::string_view::npos; at = token.find(prefix, at + 1)) {
        const auto rest = token.substr(at + prefix.size());
        if (!rest.empty() && (rest.front() == ':' || rest.front() == '/')) return rest.substr(1);
    }
    return std::nullopt;
}

/// "gpu", "gpu:4" or "gpu:a100:4", with "=" before the count where it stands last.
struct Token {
    std::string_view name, type;
    std::optional<Gpus> count;  ///< none: malformed
};

Token read_count(std::string_view name, std::string_view type, std::string_view count) {
    return {name, type, count.empty() ? std::nullopt : parse_tres_count(count)};
}

Token read_token(std::string_view text) {
    constexpr auto npos = std::string_view::npos;
    const auto colon = text.find(':');
    const auto equals = text.rfind('=');
    if (equals != npos && (colon == npos || equals > colon)) {
        const auto name = text.substr(0, std::min(colon, equals));
        const auto type = colon == npos ? std::string_view{} : text.substr(colon + 1, equals - colon - 1);
        if (colon != npos && type.empty()) return {name, type, std::nullopt};
        return read_count(name, type, text.substr(equals + 1));
    }
    const auto name = text.substr(0, colon);
    if (colon == npos) return {name, {}, 1};
    const auto rest = text.substr(colon + 1);
    const auto second = rest.find(':');
    if (second != npos) {
        const auto type = rest.substr(0, second);
        return type.empty() ? Token{name, type, std::nullopt} : read_count(name, type, rest.substr(second + 1));
    }
    if (rest.empty()) return {name, {}, std::nullopt};
    if (const auto count = parse_tres_count(rest)) return {name, {}, count};
    return {name, rest, 1};
}

constexpr std::string_view gpu_name = "gpu";

void take_token(std::string_view token, TresGpus& found) {
    const auto request = after_prefix(token);
    if (!request) {
        const auto name = token.substr(0, token.find_first_of(":="));
        if (name == gpu_name) found.without_prefix = token;
        return;
    }
    const auto [name, type, count] = read_token(*request);
    if (!count)
        found.malformed = true;
    else if (*count == 0)
        return;
    else if (name == gpu_name)
        found.gpus[std::string(type)] = *count;
    else if (name == "shard")
        found.shards[std::string(type)] = *count;
    else if (name == "mps")
        found.mps = true;
}

/// The token in front, which is taken off the text with its comma.
std::string_view take_front(std::string_view& text) {
    const auto comma = std::min(text.find(','), text.size());
    const auto token = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    return token;
}

}  // namespace

std::optional<Gpus> parse_tres_count(std::string_view text) {
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return std::nullopt;
    const auto factor = factor_of(text.substr(digits));
    if (!factor) return std::nullopt;
    Gpus value = 0;
    for (const char digit : text.substr(0, digits)) value = saturating_add(saturating_mul(value, 10), digit - '0');
    return saturating_mul(value, *factor);
}

TresGpus parse_tres_gpus(std::string_view text) {
    TresGpus found;
    while (!text.empty()) take_token(take_front(text), found);
    return found;
}

std::string with_gpu_type(std::string_view text, std::string_view type) {
    std::string typed;
    while (!text.empty()) {
        const auto token = take_front(text);
        if (!typed.empty()) typed += ',';
        typed += token;
        const auto request = after_prefix(token);
        if (!request) continue;
        const auto read = read_token(*request);
        if (read.name != gpu_name || !read.type.empty() || !read.count) continue;
        typed.resize(typed.size() - (request->size() - gpu_name.size()));
        typed.append(":").append(type);
        // A bare type would be a count where it is a number.
        typed += request->size() == gpu_name.size() ? std::string_view(":1") : request->substr(gpu_name.size());
    }
    return typed;
}

}  // namespace accord
