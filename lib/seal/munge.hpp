// SPDX-License-Identifier: GPL-2.0-or-later
// Sealing and unsealing text with the cluster's munge key.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "policy/error.hpp"

struct munge_ctx;

namespace accord {

/// What a seal held, and who made it.
struct Sealed {
    std::string payload;
    uid_t uid = 0;
    gid_t gid = 0;
};

/// A connection to one munged. Not to be shared between threads. Every call is a round trip over the socket.
class Munge {
public:
    static constexpr std::size_t max_sealed_bytes = 32 * 1024;

    /// `socket`: munged's socket; empty is libmunge's default.
    explicit Munge(const std::string& socket);

    /// Seals `payload` so that only root can read it back. Error{"unavailable"} when munged does not answer,
    /// Error{"too_large"} when the seal would exceed `max_sealed_bytes`.
    [[nodiscard]] Result<std::string> seal(std::string_view payload) const;

    /// Opens a seal; as root only. An expired or already seen one opens all the same: a job may wait for weeks, and its
    /// nodes open its grant again. Error{"unavailable"} when munged does not answer, Error{"invalid"} for everything
    /// that is no seal of this cluster.
    [[nodiscard]] Result<Sealed> unseal(std::string_view sealed) const;

private:
    struct Destroy {
        void operator()(munge_ctx* context) const;
    };
    [[nodiscard]] Result<std::unique_ptr<munge_ctx, Destroy>> connect() const;

    std::string socket_;
};

}  // namespace accord
