// SPDX-License-Identifier: GPL-2.0-or-later
// What a library function returns when it cannot do what it was asked.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace accord {

/// `code` is a short machine word (a reason code, or "io", "invalid", "unavailable"), `what` a sentence for people
/// ("object: cannot verb: reason"), `where` a place such as "vision.toml:12" or empty.
struct Error {
    std::string code;
    std::string what;
    std::string where;
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(std::string code, std::string what, std::string where = {}) {
    return tl::unexpected<Error>(Error{std::move(code), std::move(what), std::move(where)});
}

}  // namespace accord
