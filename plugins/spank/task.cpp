// SPDX-License-Identifier: GPL-2.0-or-later
// From the verdict to a task in its job's view, or to its end.
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "hooks.hpp"
#include "log.hpp"
#include "scope/view.hpp"
#include "slurm_node.hpp"
#include "sys/identity.hpp"
#include "sys/system_error.hpp"

namespace accord::spank {
namespace {

constexpr int descriptors = 3;  // stdin, stdout, stderr

/// Their names before the view was entered: of this task's process, between its two hooks. None: there is no view.
std::optional<std::array<std::string, descriptors>> names;

Result<std::uint32_t> job_of(spank_t spank) {
    std::uint32_t id = 0;
    if (spank_get_item(spank, S_JOB_ID, &id) == ESPANK_SUCCESS) return id;
    return fail("unavailable", "Slurm does not say which job it is");
}

Result<User> user_of_task(spank_t spank) {
    User user;
    gid_t* groups = nullptr;
    int count = 0;
    if (spank_get_item(spank, S_JOB_UID, &user.uid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_GID, &user.gid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) != ESPANK_SUCCESS)
        return fail("unavailable", "Slurm does not say whose job it is");
    if (groups != nullptr && count > 0) user.groups.assign(groups, groups + count);
    user.name = fmt::format("uid {}", user.uid);
    return user;
}

Result<void> act_on(const JobRecord& record, spank_t spank) {
    for (const auto& [name, value] : record.verdict.context)
        if (spank_setenv(spank, name.c_str(), value.c_str(), 1) != ESPANK_SUCCESS)
            return fail("io", fmt::format("{}: cannot be set for the task", name));
    if (record.verdict.no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return fail_errno("no_new_privs: cannot be set");
    if (!record.verdict.has_view) return {};
    const auto user = user_of_task(spank);
    if (!user) return tl::unexpected(user.error());
    auto& known = names.emplace();
    for (int fd = 0; fd < descriptors; ++fd) {
        auto name = name_of_file(fd);
        if (!name) return tl::unexpected(name.error());
        known[fd] = std::move(*name);
    }
    return enter_view(record.view.get(), *user);
}

}  // namespace

void task_privileged(spank_t spank) {
    const auto node = slurm_node();
    const auto job = node ? job_of(spank) : tl::unexpected(node.error());
    const auto record = job ? read_job_record(node->place(), *job, getppid()) : tl::unexpected(job.error());
    if (!record) return refuse_task(record.error().what);
    if (record->verdict.kind == Verdict::Kind::refused)
        return refuse_task(fmt::format("node {} refuses job {}: {}", node->name, *job, record->verdict.reason));
    if (record->verdict.kind == Verdict::Kind::not_governed) return;
    if (auto acted = act_on(*record, spank); !acted)
        refuse_task(fmt::format("node {} refuses job {}: {}", node->name, *job, acted.error().what));
}

void task_user() {
    if (!names) return;
    for (int fd = 0; fd < descriptors; ++fd)
        if (auto reachable = check_reachable(fd, (*names)[fd]); !reachable) refuse_task(reachable.error().what);
}

void refuse_task(const std::string& reason) {
    const std::string line = fmt::format("accord: {}\n", sanitised(reason, 2048));
    for (std::size_t done = 0; done < line.size();) {
        const ssize_t written = write(STDERR_FILENO, line.data() + done, line.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        done += static_cast<std::size_t>(written);
    }
    _exit(1);
}

}  // namespace accord::spank
