// SPDX-License-Identifier: GPL-2.0-or-later
// The view's maker: gathers every tree in the node's own namespace, where automounts still come, then puts them
// together in a new one.
#include "scope/view.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "scope/mounts.hpp"
#include "sys/beneath.hpp"
#include "sys/mount_namespace.hpp"
#include "sys/system_error.hpp"

namespace accord {
namespace {

constexpr int patience_ms = 30'000;
constexpr int any_cpu = -1;
// What make_view_on fails with, beside the reasons that are the caller's.
constexpr const char* too_old = "too_old";
constexpr const char* late = "late";

/// What comes to one place of the plan.
struct Piece {
    Fd tree;               ///< detached until it is attached; none: this one is left out
    struct stat source {}; ///< what a shown tree is a copy of
};

bool shows(MountKind kind) { return kind == MountKind::rw || kind == MountKind::ro; }

tl::unexpected<Error> about(const std::string& path, const Error& error) {
    return fail(error.code, error.what.starts_with(path + ":") ? error.what : path + ": " + error.what);
}

class Maker {
public:
    explicit Maker(const ViewOrder& order) : order_(order), pieces_(order.plan.size()) {}

    Result<void> gather() {
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            const PlannedMount& mount = order_.plan[i];
            if (auto got = gather_one(mount, pieces_[i]); !got) return about(mount.path, got.error());
            if (mount.inside && pieces_[i].tree)
                if (auto made = make_place(mount, pieces_[i]); !made) return about(mount.path, made.error());
        }
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            if (order_.plan[i].kind != MountKind::hidden) continue;
            if (auto sealed = seal_mount(pieces_[i].tree.get()); !sealed) return about(order_.plan[i].path, sealed.error());
        }
        return {};
    }

    Result<void> assemble() {
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            if (!pieces_[i].tree) continue;
            if (auto done = attach(order_.plan[i], pieces_[i]); !done) return about(order_.plan[i].path, done.error());
        }
        return {};
    }

private:
    Result<void> gather_one(const PlannedMount& mount, Piece& piece) {
        switch (mount.kind) {
            case MountKind::hidden: return take(piece, new_tmpfs({}, 1 << 20));
            case MountKind::private_dir: return gather_private(mount, piece);
            case MountKind::keep: return gather_kept(mount, piece);
            case MountKind::ro: return gather_shown(mount, piece, Access::read_only);
            case MountKind::rw: return gather_shown(mount, piece, Access::read_write);
        }
        return {};
    }

    static Result<void> take(Piece& piece, Result<Fd> tree) {
        if (!tree) return tl::unexpected(tree.error());
        piece.tree = std::move(*tree);
        return {};
    }

    Result<void> gather_private(const PlannedMount& mount, Piece& piece) {
        const auto place = open_for_root(mount);
        if (!place) return tl::unexpected(place.error());
        return take(piece, make_private_dir(place->get(), order_.owner, order_.user));
    }

    /// Slurm's own; a release or site that lacks one does not need it.
    static Result<void> gather_kept(const PlannedMount& mount, Piece& piece) {
        const Fd source(open(mount.path.c_str(), O_PATH | O_CLOEXEC));
        if (!source) return {};
        return copy(source.get(), piece, Access::read_write);
    }

    Result<void> gather_shown(const PlannedMount& mount, Piece& piece, Access access) {
        const auto source = open_for_user(mount);
        if (!source) return tl::unexpected(source.error());
        return copy(source->get(), piece, access);
    }

    static Result<void> copy(int source, Piece& piece, Access access) {
        if (fstat(source, &piece.source) != 0) return fail_errno("cannot be looked at");
        if (auto copied = take(piece, clone_tree(source)); !copied) return copied;
        return restrict_tree(piece.tree.get(), access);
    }

    /// An empty folder (or file, for a file) in the hidden or private mount that encloses `mount`.
    Result<void> make_place(const PlannedMount& mount, const Piece& piece) {
        const std::string below = path_inside(mount);
        const int top = pieces_[*mount.inside].tree.get();
        for (std::size_t slash = below.find('/'); slash != std::string::npos; slash = below.find('/', slash + 1))
            if (mkdirat(top, below.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST)
                return fail_errno("cannot make a place for it");
        const bool is_file = (shows(mount.kind) || mount.kind == MountKind::keep) && !S_ISDIR(piece.source.st_mode);
        const int made = is_file ? mknodat(top, below.c_str(), S_IFREG | 0444, 0) : mkdirat(top, below.c_str(), 0755);
        if (made != 0 && errno != EEXIST) return fail_errno("cannot make a place for it");
        return {};
    }

    Result<void> attach(const PlannedMount& mount, const Piece& piece) {
        const auto target = mount.inside ? open_place(mount) : shows(mount.kind) ? open_for_user(mount) : open_for_root(mount);
        if (!target) return tl::unexpected(target.error());
        struct stat there {};
        if (fstat(target->get(), &there) != 0) return fail_errno("cannot be looked at");
        if (!mount.inside && shows(mount.kind) &&
            (there.st_dev != piece.source.st_dev || there.st_ino != piece.source.st_ino))
            return fail("scope", "cannot be shown: another path of the contract covers what its link leads to");
        if (!shows(mount.kind) && mount.kind != MountKind::keep && !S_ISDIR(there.st_mode))
            return fail("scope", "cannot be hidden or private: it is no folder");
        return attach_tree(piece.tree.get(), target->get());
    }

    [[nodiscard]] std::string path_inside(const PlannedMount& mount) const {
        return mount.path.substr(order_.plan[*mount.inside].path.size() + 1);
    }

    [[nodiscard]] Result<Fd> open_place(const PlannedMount& mount) const {
        Fd place(openat(pieces_[*mount.inside].tree.get(), path_inside(mount).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (!place) return fail_errno("cannot open the place made for it");
        return place;
    }

    [[nodiscard]] Result<Fd> open_for_user(const PlannedMount& mount) const {
        const ActingAs user(order_.user);
        if (auto ready = user.ready(); !ready) return tl::unexpected(ready.error());
        return open_beneath(mount.root, mount.path);
    }

    /// As root; as the user where a file server does not let root in.
    [[nodiscard]] Result<Fd> open_for_root(const PlannedMount& mount) const {
        auto opened = open_beneath(mount.root, mount.path);
        if (opened || opened.error().code != "denied") return opened;
        return open_for_user(mount);
    }

    const ViewOrder& order_;
    std::vector<Piece> pieces_;
};

Result<void> make(const ViewOrder& order) {
    Maker maker(order);
    if (auto gathered = maker.gather(); !gathered) return gathered;
    if (auto entered = enter_new_namespace(); !entered) return entered;
    return maker.assemble();
}

/// One message to the parent: "+" or "-" and what went wrong. Then the namespace is kept until the parent lets go.
[[noreturn]] void work(const ViewOrder& order, int parent, int cpu) {
    if (cpu != any_cpu) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        (void)sched_setaffinity(0, sizeof one, &one);
    }
    std::string answer = "-the view's maker failed";
    try {
        const auto made = make(order);
        answer = made ? "+" : "-" + made.error().what;
    } catch (const std::exception& exception) {
        answer = fmt::format("-the view's maker failed: {}", exception.what());
    }
    char end = 0;
    if (send(parent, answer.data(), answer.size(), MSG_NOSIGNAL) > 0) (void)recv(parent, &end, 1, 0);
    _exit(0);
}

Result<void> answer_of(int child) {
    pollfd waiting{child, POLLIN, 0};
    int ready = 0;
    while ((ready = poll(&waiting, 1, patience_ms)) < 0 && errno == EINTR) {}
    if (ready <= 0) return fail(late, "the contract's paths could not all be opened within 30 s");
    std::array<char, 2 * PATH_MAX> text{};
    const ssize_t size = recv(child, text.data(), text.size(), 0);
    if (size <= 0) return fail("io", "the view's maker ended before its time");
    if (text[0] == '+') return {};
    return fail("scope", std::string(text.data() + 1, static_cast<std::size_t>(size - 1)));
}

Result<void> pin_namespace(pid_t child, int pin) {
    const auto from = fmt::format("/proc/{}/ns/mnt", child), to = fmt::format("/proc/self/fd/{}", pin);
    if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0) return {};
    const int error = errno;
    auto failure = fail_errno("cannot keep the mount namespace", error);
    if (error == EINVAL) return fail(too_old, failure.value().what);
    return failure;
}

Result<void> make_view_on(int cpu, const ViewOrder& order, int pin) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail_errno("cannot make a view");
    Fd ours(ends[0]), theirs(ends[1]);
    const pid_t child = fork();
    if (child < 0) return fail_errno("cannot make a view");
    if (child == 0) {
        ours = Fd();
        work(order, theirs.get(), cpu);
    }
    theirs = Fd();
    auto done = answer_of(ours.get());
    if (done) done = pin_namespace(child, pin);
    ours = Fd();
    if (done || done.error().code != late) {
        waitpid(child, nullptr, 0);
        return done;
    }
    // One that hangs in a dead file server cannot be waited for; init does when this process has ended.
    kill(child, SIGKILL);
    (void)waitpid(child, nullptr, WNOHANG);
    return done;
}

}  // namespace

// A namespace can be kept only from one with a lower number, against loops. Linux 6.18 hands numbers out by CPU, so
// where slurmd is in a namespace of its own a new one may have the lower number. On the CPU where slurmd's was made
// every new number is higher.
Result<void> make_view(const ViewOrder& order, int pin) {
    auto done = make_view_on(any_cpu, order, pin);
    cpu_set_t allowed;
    if (done || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return done;
    for (int cpu = 0; cpu < CPU_SETSIZE && !done && done.error().code == too_old; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) done = make_view_on(cpu, order, pin);
    return done;
}

Result<void> enter_view(int pin, const User& user) {
    std::array<char, PATH_MAX> folder{};
    if (getcwd(folder.data(), folder.size()) == nullptr) return fail_errno("cannot tell the working directory");
    if (setns(pin, CLONE_NEWNS) != 0) return fail_errno("cannot enter the job's view");
    const ActingAs acting(user);
    if (auto ready = acting.ready(); !ready) return ready;
    if (folder[0] != '/') errno = ENOENT;  // it was removed, or is in another namespace
    if (folder[0] != '/' || chdir(folder.data()) != 0)
        return fail_errno(fmt::format("the working directory {} is not in the job's view", folder.data()));
    return {};
}

Result<std::string> name_of_file(int fd) {
    struct stat open_file {};
    if (fstat(fd, &open_file) != 0 || !(S_ISREG(open_file.st_mode) || S_ISDIR(open_file.st_mode))) return std::string();
    std::array<char, PATH_MAX> name{};
    const ssize_t size = readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), name.data(), name.size() - 1);
    if (size < 0) return fail_errno(fmt::format("cannot tell what descriptor {} is", fd));
    return std::string(name.data(), static_cast<std::size_t>(size));
}

Result<void> check_reachable(int fd, const std::string& name) {
    struct stat open_file {};
    if (name.empty() || fstat(fd, &open_file) != 0) return {};
    struct stat there {};
    if (stat(name.c_str(), &there) != 0 || there.st_dev != open_file.st_dev || there.st_ino != open_file.st_ino)
        return fail("descriptor", fmt::format("{} is not in the job's view", name));
    const bool writes = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
    if (writes && access(name.c_str(), W_OK) != 0 && errno == EROFS)
        return fail("descriptor", fmt::format("{} is read-only in the job's view", name));
    return {};
}

}  // namespace accord
