// SPDX-License-Identifier: GPL-2.0-or-later
// A FUSE file system that nobody serves: enough for statfs(2), which answers others than its owner without asking it.
#pragma once

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "sys/fd.hpp"

/// Mounted on a new folder for as long as it lives; needs root.
class FuseMount {
public:
    explicit FuseMount(std::string folder) : folder_(std::move(folder)), device_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
        ::mkdir(folder_.c_str(), 0755);
        const auto options = fmt::format("fd={},rootmode=40755,user_id=65534,group_id=65534", device_.get());
        if (::mount("accord-test", folder_.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
            throw std::runtime_error(fmt::format("cannot mount FUSE on {}: {}", folder_, std::strerror(errno)));
    }
    FuseMount(const FuseMount&) = delete;
    FuseMount& operator=(const FuseMount&) = delete;
    ~FuseMount() { ::umount2(folder_.c_str(), MNT_DETACH); }

private:
    std::string folder_;
    accord::Fd device_;
};
