// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/file_lock.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "sys/system_error.hpp"

namespace accord {

Result<bool> is_locked(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) {
        if (errno == ENOENT) return false;
        return fail_errno(path + ": cannot look at it");
    }
    std::ifstream locks("/proc/locks");
    if (!locks) return fail_errno("/proc/locks: cannot open");
    const auto file = fmt::format("{:02x}:{:02x}:{}", major(about.st_dev), minor(about.st_dev), about.st_ino);
    for (std::string line; std::getline(locks, line);) {
        // "1: FLOCK  ADVISORY  WRITE 708 fe:00:6 0 EOF"; a process that waits for it has "->" before the kind
        std::istringstream words(line);
        std::string number, kind, strictness, mode, pid, where;
        const bool held = words >> number >> kind >> strictness >> mode >> pid >> where && kind != "->" && kind != "LEASE";
        if (held && where == file) return true;
    }
    return false;
}

}  // namespace accord
