// SPDX-License-Identifier: GPL-2.0-or-later
#include "store_access.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <grp.h>

#include <cerrno>

#include <fmt/format.h>

#include "sys/identity.hpp"
#include "sys/name_service.hpp"
#include "sys/system_error.hpp"

namespace accord {

namespace {

Result<uid_t> owner_of(const std::string& folder) {
    struct stat about {};
    if (::stat(folder.c_str(), &about) != 0) {
        auto error = fail_errno(folder + ": cannot use [store] dir").value();
        return fail("unavailable", error.what);
    }
    if (!S_ISDIR(about.st_mode)) return fail("unavailable", folder + ": cannot use [store] dir: it is not a folder");
    return about.st_uid;
}

}  // namespace

Result<std::string> store_owner(const Config& config) {
    const auto uid = owner_of(config.store_dir);
    if (!uid) return tl::unexpected<Error>(uid.error());
    const auto name = user_name_of(*uid);
    if (!name) return tl::unexpected<Error>(name.error());
    return name->value_or(fmt::format("{}", *uid));
}

Result<void> become_store_owner(const Config& config) {
    if (::geteuid() != 0) return {};
    const auto uid = owner_of(config.store_dir);
    if (!uid) return tl::unexpected<Error>(uid.error());
    if (*uid == 0) return {};
    const auto user = user_of(*uid);
    if (!user) return tl::unexpected<Error>(user.error());
    const bool become = ::setgroups(user->groups.size(), user->groups.data()) == 0 &&
                        ::setresgid(user->gid, user->gid, user->gid) == 0 &&
                        ::setresuid(user->uid, user->uid, user->uid) == 0;
    if (!become) return fail_errno(fmt::format("{}: cannot act as its owner {}", config.store_dir, user->name));
    return {};
}

Result<StorePaths> store_to_read(const Config& config) {
    if (const auto become = become_store_owner(config); !become) return tl::unexpected<Error>(become.error());
    StorePaths paths(config.store_dir);
    if (::faccessat(AT_FDCWD, paths.dir.c_str(), R_OK | X_OK, AT_EACCESS) == 0) return paths;
    if (errno != EACCES) return fail_errno(paths.dir + ": cannot use [store] dir");
    const auto owner = store_owner(config);
    const auto group = config.admin_group.empty() ? "" : fmt::format(" and group {}", config.admin_group);
    return fail("refused", fmt::format("{}: cannot read it: ask an administrator; only root, {}{} may", paths.dir,
                                       owner ? *owner : "SlurmUser", group));
}

Actor current_actor() {
    const auto uid = static_cast<std::uint32_t>(::getuid());
    const auto name = user_name_of(uid);
    return {uid, login_uid(uid), name ? name->value_or(fmt::format("{}", uid)) : fmt::format("{}", uid)};
}

}  // namespace accord
