// SPDX-License-Identifier: GPL-2.0-or-later
// Makes and removes private folders in places where strangers may write.
#include "scope/private_dir.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <fmt/format.h>

#include "scope/mounts.hpp"
#include "sys/folder.hpp"
#include "sys/remove_tree.hpp"
#include "sys/system_error.hpp"

namespace accord {
namespace {

constexpr const char* user_folder = "d";

std::string prefix_of(const PrivateOwner& owner) { return fmt::format(".accord:{}:{}:", owner.cluster, owner.node); }

Result<Fd> restricted(Result<Fd> tree) {
    if (!tree) return tree;
    if (auto done = restrict_tree(tree->get(), Access::read_write); !done) return tl::unexpected(done.error());
    return tree;
}

/// Whatever has the name is a leftover or a stranger's, who may write in a shared place: it is removed.
Result<Fd> make_own_folder(int place, const std::string& name) {
    if (auto removed = remove_tree(place, name); !removed) return tl::unexpected(removed.error());
    if (mkdirat(place, name.c_str(), 0700) != 0) return fail_errno("cannot make a private folder in it");
    auto folder = open_folder_at(place, name);
    if (!folder) return folder;
    struct stat about {};
    if (fstat(folder->get(), &about) != 0) return fail_errno("cannot make a private folder in it");
    if (about.st_uid != 0 || (about.st_mode & 0077) != 0)
        return fail("io", "cannot make a private folder in it: somebody else put his in its place");
    return folder;
}

}  // namespace

Result<Fd> make_private_dir(int place, const PrivateOwner& owner, const User& user) {
    struct statfs kind {};
    if (fstatfs(place, &kind) != 0) return fail_errno("cannot look at its file system");
    if (kind.f_type == TMPFS_MAGIC) {
        const auto bytes = static_cast<std::uint64_t>(kind.f_blocks) * static_cast<std::uint64_t>(kind.f_bsize);
        return restricted(new_tmpfs({user.uid, user.gid, 0700}, bytes));
    }
    auto own = make_own_folder(place, prefix_of(owner) + owner.start);
    if (!own) return own;
    if (mkdirat(own->get(), user_folder, 0700) != 0) return fail_errno("cannot make a private folder in it");
    auto fresh = open_folder_at(own->get(), user_folder);
    if (!fresh) return fresh;
    if (fchown(fresh->get(), user.uid, user.gid) != 0) return fail_errno("cannot give a private folder to its user");
    return restricted(clone_tree(fresh->get()));
}

Result<void> remove_private_dirs(const std::string& path, const PrivateOwner& owner,
                                 const std::function<bool(const std::string& start)>& is_alive) {
    const Fd place(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!place && (errno == ENOENT || errno == ENOTDIR)) return {};  // the job was refused for it, or it went with all in it
    if (!place) return fail_errno(fmt::format("{}: cannot be opened", path));
    const auto names = names_in(place.get());
    if (!names) return tl::unexpected(names.error());
    const std::string prefix = prefix_of(owner);
    for (const std::string& name : *names) {
        if (!name.starts_with(prefix)) continue;
        const std::string start = name.substr(prefix.size());
        if (start != owner.start && is_alive(start)) continue;
        if (auto removed = remove_tree(place.get(), name); !removed) return removed;
    }
    return {};
}

}  // namespace accord
