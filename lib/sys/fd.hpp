// SPDX-License-Identifier: GPL-2.0-or-later
// An owned file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace accord {

/// Closes its descriptor when it goes. -1 is none. Whether a close failed is not reported: whoever needs to know that
/// data is on disk syncs before.
class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() {
        if (fd_ >= 0) ::close(fd_);
    }

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
    /// Gives the descriptor away.
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

private:
    int fd_ = -1;
};

}  // namespace accord
