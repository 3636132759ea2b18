// SPDX-License-Identifier: GPL-2.0-or-later
// Flattens while it removes: what a folder holds is unlinked, folders in it are moved up to the top and wait there.
#include "sys/remove_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdio>

#include <fmt/format.h>

#include "sys/folder.hpp"
#include "sys/system_error.hpp"

namespace accord {
namespace {

constexpr std::size_t batch = 1024;  // names at a time: a tree may be larger than memory

tl::unexpected<Error> cannot_remove(const std::string& name) { return fail_errno(name + ": cannot be removed"); }

class Remover {
public:
    explicit Remover(Fd top) : top_(std::move(top)) {}

    /// Until the top is empty.
    Result<void> run() {
        for (;;) {
            const auto names = names_in(top_.get(), batch);
            if (!names) return tl::unexpected(names.error());
            if (names->empty()) return {};
            for (const std::string& name : *names)
                if (auto removed = remove(name); !removed) return removed;
        }
    }

private:
    Result<void> remove(const std::string& name) {
        if (unlinkat(top_.get(), name.c_str(), 0) == 0) return {};
        if (errno != EISDIR) return cannot_remove(name);
        if (unlinkat(top_.get(), name.c_str(), AT_REMOVEDIR) == 0) return {};
        // A folder on which something is mounted says EBUSY here.
        if (errno != ENOTEMPTY && errno != EEXIST) return cannot_remove(name);
        return flatten(name);
    }

    /// Unlinks files of `name` and moves its folders beside it; a later round at the top removes what is left.
    Result<void> flatten(const std::string& name) {
        auto folder = open_folder_at(top_.get(), name);
        if (!folder) return tl::unexpected(folder.error());
        const auto children = names_in(folder->get(), batch);
        if (!children) return tl::unexpected(children.error());
        for (const std::string& child : *children) {
            if (unlinkat(folder->get(), child.c_str(), 0) == 0) continue;
            if (errno != EISDIR) return cannot_remove(child);
            if (renameat2(folder->get(), child.c_str(), top_.get(), unused_name().c_str(), RENAME_NOREPLACE) != 0)
                return cannot_remove(child);
        }
        return {};
    }

    std::string unused_name() {
        struct stat about {};
        std::string name;
        do name = fmt::format("..{}", moved_++);
        while (fstatat(top_.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0);
        return name;
    }

    Fd top_;
    std::uint64_t moved_ = 0;
};

}  // namespace

Result<void> remove_tree(int folder, const std::string& name) {
    if (unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR) return cannot_remove(name);
    auto top = open_folder_at(folder, name);
    if (!top) return tl::unexpected(top.error());
    if (auto emptied = Remover(std::move(*top)).run(); !emptied) return emptied;
    if (unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0) return cannot_remove(name);
    return {};
}

}  // namespace accord
