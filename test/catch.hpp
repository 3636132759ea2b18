// SPDX-License-Identifier: GPL-2.0-or-later
// Catch2 in whichever of its two versions is installed.
#pragma once

#include "config.h"

#ifdef HAVE_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
/// By its name in version 3.
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#endif
