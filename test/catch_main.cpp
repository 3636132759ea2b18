// SPDX-License-Identifier: GPL-2.0-or-later
// Catch2's main, which its third version brings itself.
#include "config.h"

#ifndef HAVE_CATCH2_V3
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
