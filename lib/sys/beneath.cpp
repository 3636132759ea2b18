// SPDX-License-Identifier: GPL-2.0-or-later
// A walk along a path that keeps every folder open behind it.
#include "sys/beneath.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sys/system_error.hpp"

namespace accord {
namespace {

std::string link_target(int link) {
    char text[PATH_MAX];
    const ssize_t size = readlinkat(link, "", text, sizeof text);
    return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
}

std::string path_of(int fd) {
    char text[PATH_MAX];
    const ssize_t size = readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), text, sizeof text);
    return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
}

/// One component without following it. As a folder first: that is what triggers an automount.
int open_component(int folder, const std::string& name) {
    const int fd = openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 || errno != ENOTDIR) return fd;
    return openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/// The folders from the root to where the walk is, each opened from the one before.
class Walk {
public:
    Walk(std::string path, Fd root) : path_(std::move(path)) { folders_.push_back(std::move(root)); }

    /// Follows `relative` from where the walk is; `floor` folders must stay, however many ".." there are.
    Result<void> go(std::string_view relative, std::size_t floor) {
        while (!relative.empty()) {
            const std::size_t slash = relative.find('/');
            const std::string name(relative.substr(0, slash));
            relative = slash == std::string_view::npos ? std::string_view() : relative.substr(slash + 1);
            if (name.empty() || name == ".") continue;
            const auto went = name == ".." ? up(floor) : down(name);
            if (!went) return went;
        }
        return {};
    }

    [[nodiscard]] Fd end() { return std::move(folders_.back()); }

private:
    Result<void> up(std::size_t floor) {
        if (folders_.size() <= floor) return leaves();
        folders_.pop_back();
        return {};
    }

    Result<void> down(const std::string& name) {
        Fd next(open_component(folders_.back().get(), name));
        if (!next) return refuse();
        struct stat about {};
        if (fstat(next.get(), &about) != 0) return refuse();
        if (!S_ISLNK(about.st_mode)) {
            folders_.push_back(std::move(next));
            return {};
        }
        constexpr int most_links = 40;  // as the kernel allows
        if (++links_ > most_links) return fail_errno(path_, ELOOP);
        return follow(link_target(next.get()));
    }

    Result<void> follow(std::string target) {
        if (target.starts_with('/')) {
            const std::string folder = path_of(folders_.back().get()) + "/";
            if (!target.starts_with(folder)) return leaves();
            target.erase(0, folder.size());
        }
        return go(target, folders_.size());
    }

    [[nodiscard]] tl::unexpected<Error> leaves() const {
        return fail("link", fmt::format("{}: has a link in it that leaves its folder", path_));
    }
    [[nodiscard]] tl::unexpected<Error> refuse() const {
        const int error = errno;
        if (error == ENOENT || error == ENOTDIR) return fail("not_found", fmt::format("{}: does not exist", path_));
        if (error == EACCES) return fail("denied", fmt::format("{}: cannot be reached: Permission denied", path_));
        return fail_errno(fmt::format("{}: cannot be opened", path_), error);
    }

    std::string path_;
    std::vector<Fd> folders_;
    int links_ = 0;
};

}  // namespace

Result<Fd> open_beneath(const std::string& root, const std::string& path) {
    Fd start(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!start && (errno == ENOENT || errno == ENOTDIR)) return fail("not_found", fmt::format("{}: does not exist", path));
    if (!start) return fail_errno(fmt::format("{}: cannot be opened", root));
    Walk walk(path, std::move(start));
    if (auto gone = walk.go(std::string_view(path).substr(root.size()), 1); !gone) return tl::unexpected(gone.error());
    return walk.end();
}

}  // namespace accord
