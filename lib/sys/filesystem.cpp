// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/filesystem.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace accord {
namespace {

struct Kind {
    std::uint32_t magic;
    const char* name;
};

// statfs(2) and linux/magic.h; the cluster file systems' own headers for those that are not there.
constexpr std::array network_kinds{
    Kind{0x6969, "nfs"},           Kind{0x517b, "smb"},          Kind{0xff534d42, "cifs"},
    Kind{0xfe534d42, "smb2"},      Kind{0x65735546, "fuse"},     Kind{0x01021997, "9p"},
    Kind{0x00c36400, "ceph"},      Kind{0x5346414f, "afs"},      Kind{0x6b414653, "kafs"},
    Kind{0x73757245, "coda"},      Kind{0x564c, "ncp"},          Kind{0x01161970, "gfs2"},
    Kind{0x7461636f, "ocfs2"},     Kind{0x0bd00bd0, "lustre"},   Kind{0x47504653, "gpfs"},
    Kind{0x19830326, "beegfs"},    Kind{0xaad7aaea, "panfs"},    Kind{0x20030528, "orangefs"},
    Kind{0xa501fcf5, "vxfs"},      Kind{0x786f4256, "vboxsf"},
};

}  // namespace

const char* network_filesystem_name(std::uint64_t magic) {
    for (const auto& kind : network_kinds)
        if (kind.magic == static_cast<std::uint32_t>(magic)) return kind.name;
    return nullptr;
}

Result<std::string> network_filesystem(const std::string& path) {
    struct statfs found {};
    if (::statfs(path.c_str(), &found) != 0)
        return fail("io", fmt::format("{}: cannot look at its file system: {}", path, std::strerror(errno)));
    const char* name = network_filesystem_name(static_cast<std::uint64_t>(found.f_type));
    return name ? name : "";
}

Result<void> require_local_filesystem(const std::string& path) {
    const auto kind = network_filesystem(path);
    if (!kind) return tl::unexpected(kind.error());
    if (kind->empty()) return {};
    return fail("network_filesystem",
                fmt::format("{}: cannot keep databases here: it lies on {}, where locks between processes do not hold; "
                            "set [store] dir to a local disk",
                            path, *kind));
}

Result<void> require_regular_or_absent(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) return {};
        return fail("io", fmt::format("{}: cannot look at it: {}", path, std::strerror(errno)));
    }
    if (S_ISREG(found.st_mode)) return {};
    return fail("io", fmt::format("{}: cannot use it: it is not a regular file", path));
}

}  // namespace accord
