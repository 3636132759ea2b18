// SPDX-License-Identifier: GPL-2.0-or-later
// BLAKE2b by libsodium.
#include "store/hash.hpp"

#include <array>

#include <sodium.h>

namespace accord {

std::string blake2b_hex(std::string_view data) {
    // picks the fastest implementation for this processor; the portable one serves where it fails
    [[maybe_unused]] static const int ready = sodium_init();
    std::array<unsigned char, crypto_generichash_BYTES> digest{};
    static_assert(crypto_generichash_BYTES == 32);
    crypto_generichash(digest.data(), digest.size(), reinterpret_cast<const unsigned char*>(data.data()), data.size(),
                       nullptr, 0);
    std::string hex(2 * digest.size(), '0');
    constexpr std::string_view digits = "0123456789abcdef";
    for (std::size_t i = 0; i < digest.size(); ++i) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    return hex;
}

}  // namespace accord
