// SPDX-License-Identifier: GPL-2.0-or-later
// An errno as an Error.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "policy/error.hpp"

namespace accord {

/// Error{"io", "WHAT: REASON"}: `what` says "object: cannot verb", the reason is that of `error`.
[[nodiscard]] inline tl::unexpected<Error> fail_errno(const std::string& what, int error = errno) {
    return fail("io", what + ": " + std::generic_category().message(error));
}

}  // namespace accord
