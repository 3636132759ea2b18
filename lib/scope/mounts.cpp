// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's calls for detached mounts, each with its error.
#include "scope/mounts.hpp"

#include <fcntl.h>
#include <sys/mount.h>

#include <string>

#include <fmt/format.h>

#include "sys/system_error.hpp"

namespace accord {
namespace {

Result<void> set_attributes(int tree, unsigned flags, std::uint64_t attributes, std::uint64_t propagation) {
    struct mount_attr wanted {};
    wanted.attr_set = attributes;
    wanted.propagation = propagation;
    if (mount_setattr(tree, "", AT_EMPTY_PATH | flags, &wanted, sizeof wanted) != 0)
        return fail_errno("cannot restrict a mount");
    return {};
}

bool configure(int context, const char* key, const std::string& value) {
    return fsconfig(context, FSCONFIG_SET_STRING, key, value.c_str(), 0) == 0;
}

}  // namespace

Result<Fd> clone_tree(int place) {
    Fd tree(open_tree(place, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
    if (!tree) return fail_errno("cannot copy its mounts");
    return tree;
}

Result<void> restrict_tree(int tree, Access access) {
    const std::uint64_t plain = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    if (access == Access::read_only) return set_attributes(tree, AT_RECURSIVE, plain | MOUNT_ATTR_RDONLY, MS_PRIVATE);
    return set_attributes(tree, AT_RECURSIVE, plain, MS_SLAVE);
}

Result<Fd> new_tmpfs(const TmpfsOwner& owner, std::uint64_t bytes) {
    const Fd context(fsopen("tmpfs", FSOPEN_CLOEXEC));
    if (!context || !configure(context.get(), "source", "accord") ||
        !configure(context.get(), "uid", fmt::format("{}", owner.uid)) ||
        !configure(context.get(), "gid", fmt::format("{}", owner.gid)) ||
        !configure(context.get(), "mode", fmt::format("{:o}", owner.mode)) ||
        (bytes > 0 && !configure(context.get(), "size", fmt::format("{}", bytes))) ||
        fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
        return fail_errno("cannot make a tmpfs");
    Fd mount(fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
    if (!mount) return fail_errno("cannot make a tmpfs");
    return mount;
}

Result<void> seal_mount(int mount) { return set_attributes(mount, 0, MOUNT_ATTR_RDONLY, 0); }

Result<void> attach_tree(int tree, int target) {
    if (move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
        return fail_errno("cannot be mounted");
    return {};
}

}  // namespace accord
