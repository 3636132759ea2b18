// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/file_facts.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "sys/name_service.hpp"

namespace accord {

FileFacts look_at_file(const std::string& path) {
    FileFacts facts;
    facts.path = path;
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) {
        facts.there = errno != ENOENT && errno != ENOTDIR;
        if (facts.there) facts.trouble = std::strerror(errno);
        return facts;
    }
    facts.there = true;
    facts.mode = about.st_mode & 07777;
    const auto owner = user_name_of(about.st_uid);
    const auto group = group_name_of(about.st_gid);
    facts.owner = owner && *owner ? **owner : fmt::format("{}", about.st_uid);
    facts.group = group && *group ? **group : fmt::format("{}", about.st_gid);
    return facts;
}

}  // namespace accord
