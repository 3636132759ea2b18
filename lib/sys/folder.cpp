// SPDX-License-Identifier: GPL-2.0-or-later
// readdir and openat with their errors.
#include "sys/folder.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <memory>

#include <fmt/format.h>

#include "sys/system_error.hpp"

namespace accord {

Result<Fd> open_folder_at(int folder, const std::string& name) {
    Fd fd(openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) return fail_errno(fmt::format("{}: cannot open the folder", name));
    return fd;
}

Result<std::vector<std::string>> names_in(int folder, std::size_t most) {
    struct Close {
        void operator()(DIR* dir) const { closedir(dir); }
    };
    auto again = open_folder_at(folder, ".");
    if (!again) return tl::unexpected(again.error());
    const std::unique_ptr<DIR, Close> dir(fdopendir(again->get()));
    if (!dir) return fail_errno("cannot read a folder");
    (void)again->release();
    std::vector<std::string> names;
    while (names.size() < most) {
        errno = 0;
        const dirent* entry = readdir(dir.get());
        if (entry == nullptr && errno != 0) return fail_errno("cannot read a folder");
        if (entry == nullptr) break;
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    return names;
}

}  // namespace accord
