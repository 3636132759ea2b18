// SPDX-License-Identifier: GPL-2.0-or-later
// A grant's text as a node reads it: whatever is taken is exactly what is written again.
#include <cstdlib>

#include "seal/grant.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto grant = accord::grant_from_json(text);
    if (grant && accord::to_json(*grant) != text) std::abort();
    if (!grant && grant.error().what.empty()) std::abort();
    return 0;
}
