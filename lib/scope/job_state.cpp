// SPDX-License-Identifier: GPL-2.0-or-later
// Folders opened from folder to folder, each checked to be root's alone; files replaced whole.
#include "scope/job_state.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "scope/private_dir.hpp"
#include "sys/folder.hpp"
#include "sys/remove_tree.hpp"
#include "sys/system_error.hpp"

namespace accord {
namespace {

constexpr const char* verdict_file = "verdict";
constexpr const char* view_file = "view";
constexpr const char* private_file = "private";

/// How often a folder is made anew that another job's end removes meanwhile.
constexpr int most_attempts = 1000;

/// Opens `name` in `folder`, made where it is missing; refused unless root's alone.
Result<Fd> own_folder(int folder, const std::string& name) {
    if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos)
        return fail("io", fmt::format("\"{}\": cannot be the name of a folder", name));
    Fd opened;
    for (int attempt = 0; !opened && attempt < most_attempts; ++attempt) {
        if (mkdirat(folder, name.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(name + ": cannot make the folder");
        opened = Fd(openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!opened && errno != ENOENT) break;
    }
    struct stat about {};
    if (!opened || fstat(opened.get(), &about) != 0) return fail_errno(name + ": cannot open the folder");
    if (about.st_uid != geteuid() || (about.st_mode & 0077) != 0)
        return fail("io", fmt::format("{}: cannot be used: the folder is not root's alone", name));
    return opened;
}

bool is_mounted(int parent, const std::string& name) {
    struct statx about {};
    return statx(parent, name.c_str(), AT_SYMLINK_NOFOLLOW, 0, &about) == 0 &&
           (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

Result<void> mount_privately(const std::string& path) {
    if (mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
        mount(nullptr, path.c_str(), nullptr, MS_PRIVATE, nullptr) != 0)
        return fail_errno(path + ": cannot be mounted onto itself");
    return {};
}

bool is_removed(int folder) {
    struct stat about {};
    return fstat(folder, &about) == 0 && about.st_nlink == 0;
}

/// The cluster's folder, locked until it is closed: whoever holds it makes or unmakes the node's mount alone.
Result<Fd> lock_cluster(const NodePlace& place) {
    if (mkdir(place.base.c_str(), 0755) != 0 && errno != EEXIST) return fail_errno(place.base + ": cannot make the folder");
    const Fd base(open(place.base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!base) return fail_errno(place.base + ": cannot be opened");
    Result<Fd> cluster;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        cluster = own_folder(base.get(), place.cluster);
        if (!cluster) break;
        if (flock(cluster->get(), LOCK_EX) != 0) return fail_errno(place.cluster + ": cannot be locked");
        if (!is_removed(cluster->get())) break;  // else the last job's end had the lock, and removed what was waited for
    }
    return cluster;
}

bool is_empty(int parent, const std::string& name) {
    const auto folder = open_folder_at(parent, name);
    const auto names = folder ? names_in(folder->get(), 1) : tl::unexpected(folder.error());
    return names && names->empty();
}

std::string path_of(const NodePlace& place) { return fmt::format("{}/{}/{}", place.base, place.cluster, place.node); }

Result<std::string> read_record(int folder, const char* name) {
    const Fd file(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat about {};
    if (!file || fstat(file.get(), &about) != 0) return fail_errno(fmt::format("{}: cannot be opened", name));
    std::string text(static_cast<std::size_t>(about.st_size), '\0');
    const ssize_t size = read(file.get(), text.data(), text.size());
    if (size < 0) return fail_errno(fmt::format("{}: cannot be read", name));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

bool is_start_of(const std::string& name, std::uint32_t job) { return name.starts_with(fmt::format("{}.", job)); }

/// The folder of the job's start; fails where there is none, or more than one and so nobody knows which is the last.
Result<Fd> open_only_start(const std::string& node_path, std::uint32_t job) {
    const Fd node(open(node_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!node) return fail_errno(node_path + ": cannot be opened");
    auto names = names_in(node.get());
    if (!names) return tl::unexpected(names.error());
    std::erase_if(*names, [&](const std::string& name) { return !is_start_of(name, job); });
    if (names->size() != 1) return fail("missing", fmt::format("{} has {} starts of job {}", node_path, names->size(), job));
    return open_folder_at(node.get(), names->front());
}

bool is_view(int file) {
    struct statfs kind {};
    return fstatfs(file, &kind) == 0 && kind.f_type == NSFS_MAGIC;
}

}  // namespace

std::string to_string(const JobStart& start) { return fmt::format("{}.{}", start.job, start.restart); }

Result<NodeState> NodeState::open(const NodePlace& place) {
    const auto cluster = lock_cluster(place);
    if (!cluster) return tl::unexpected(cluster.error());
    if (auto made = own_folder(cluster->get(), place.node); !made) return tl::unexpected(made.error());
    const bool is_first = !is_mounted(cluster->get(), place.node);
    if (is_first)
        if (auto mounted = mount_privately(path_of(place)); !mounted) return tl::unexpected(mounted.error());
    auto folder = own_folder(cluster->get(), place.node);
    if (!folder) return tl::unexpected(folder.error());
    NodeState state(place, std::move(*folder));
    if (is_first)
        if (auto cleared = state.remove_leftovers(); !cleared) return tl::unexpected(cleared.error());
    return state;
}

Result<Fd> NodeState::make(const JobStart& start) {
    if (auto removed = remove(start.job); !removed) return tl::unexpected(removed.error());
    return own_folder(folder_.get(), to_string(start));
}

Result<void> NodeState::remove(std::uint32_t job) {
    const auto names = names_in(folder_.get());
    if (!names) return tl::unexpected(names.error());
    Result<void> all;
    for (const std::string& name : *names) {
        if (!is_start_of(name, job)) continue;
        if (auto removed = remove_start(name); !removed) all = removed;
    }
    return all;
}

Result<void> NodeState::remove_leftovers() {
    const auto names = names_in(folder_.get());
    if (!names) return tl::unexpected(names.error());
    for (const std::string& name : *names)
        if (auto removed = remove_start(name); !removed) return removed;
    return {};
}

Result<void> NodeState::remove_start(const std::string& start) {
    const auto folder = open_folder_at(folder_.get(), start);
    if (!folder) return tl::unexpected(folder.error());
    // The verdict first: whatever fails below, no task acts on it any more.
    if (unlinkat(folder->get(), verdict_file, 0) != 0 && errno != ENOENT)
        return fail_errno(start + ": cannot remove the verdict");
    const std::string view = fmt::format("{}/{}/{}", path_of(place_), start, view_file);
    while (umount2(view.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {}
    const auto is_alive = [&](const std::string& other) { return has(other); };
    Result<void> all;
    if (const auto paths = read_record(folder->get(), private_file)) {
        for (const std::string& path : lines_of(*paths))
            if (auto removed = remove_private_dirs(path, {place_.cluster, place_.node, start}, is_alive); !removed)
                all = removed;
    }
    if (!all) return all;  // the record stays, so that the next epilog or prolog knows what is left
    return remove_tree(folder_.get(), start);
}

bool NodeState::has(const std::string& start) const {
    return faccessat(folder_.get(), start.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void NodeState::close() {
    folder_ = Fd();
    const auto cluster = lock_cluster(place_);
    if (!cluster) return;
    if (!is_empty(cluster->get(), place_.node)) return;
    // Busy while another prolog is between its NodeState::open and its folder; then the last one to close does this.
    if (is_mounted(cluster->get(), place_.node) && umount2(path_of(place_).c_str(), UMOUNT_NOFOLLOW) != 0) return;
    if (unlinkat(cluster->get(), place_.node.c_str(), AT_REMOVEDIR) == 0)
        rmdir(fmt::format("{}/{}", place_.base, place_.cluster).c_str());
}

Result<void> write_record(int job_folder, const char* name, std::string_view text) {
    const std::string draft = fmt::format("{}.new", name);
    const Fd file(openat(job_folder, draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return fail_errno(fmt::format("{}: cannot be written", name));
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written >= 0 && static_cast<std::size_t>(written) != text.size()) errno = ENOSPC;
    if (written != static_cast<ssize_t>(text.size()) || renameat(job_folder, draft.c_str(), job_folder, name) != 0)
        return fail_errno(fmt::format("{}: cannot be written", name));
    return {};
}

Result<void> record_private_dirs(int job_folder, const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths) text += path + "\n";
    return write_record(job_folder, private_file, text);
}

Result<Fd> make_pin(int job_folder) {
    Fd pin(openat(job_folder, view_file, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!pin) return fail_errno("cannot make a file for the view");
    return pin;
}

Result<JobRecord> read_job_record(const NodePlace& place, std::uint32_t job, int parent) {
    for (const std::string& from : {std::string(), fmt::format("/proc/{}/root", parent)}) {
        const auto folder = open_only_start(from + path_of(place), job);
        const auto text = folder ? read_record(folder->get(), verdict_file) : tl::unexpected(folder.error());
        const auto verdict = text ? verdict_from_text(*text) : std::nullopt;
        if (!verdict) continue;
        if (!verdict->has_view) return JobRecord{*verdict, Fd()};
        Fd view(openat(folder->get(), view_file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (view && is_view(view.get())) return JobRecord{*verdict, std::move(view)};
    }
    return fail("missing", fmt::format("node {} has no verdict for job {}", place.node, job));
}

}  // namespace accord
