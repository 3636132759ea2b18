// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/mount_namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/fd.hpp"
#include "sys/system_error.hpp"

namespace accord {
namespace {

/// Makes the folder the root of the namespace and of this process, as pivot_root(2) describes it.
Result<void> make_root(int folder) {
    const Fd tree(open_tree(folder, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
    if (!tree || move_mount(tree.get(), "", folder, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0 ||
        fchdir(tree.get()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 ||
        chdir("/") != 0)
        return fail_errno("cannot make the root folder the mount namespace's root");
    return {};
}

}  // namespace

Result<void> enter_new_namespace() {
    if (unshare(CLONE_NEWNS) != 0) return fail_errno("cannot make a mount namespace");
    const Fd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    const Fd itself(open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
    struct stat before {}, after {};
    // joining it leads to its root
    if (!root || !itself || fstat(root.get(), &before) != 0 || setns(itself.get(), CLONE_NEWNS) != 0 ||
        stat("/", &after) != 0)
        return fail_errno("cannot find the mount namespace's root");
    if (mount(nullptr, "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0)
        return fail_errno("cannot separate the mount namespace");
    if (before.st_dev == after.st_dev && before.st_ino == after.st_ino) return {};
    return make_root(root.get());
}

}  // namespace accord
