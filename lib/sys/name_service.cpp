// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/name_service.hpp"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace accord {

namespace {

/// The errors by which getpwnam_r(3) and its like may say that there is no such entry.
bool means_unknown(int error) {
    return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

constexpr std::size_t most_bytes = 64 << 20;

/// Calls `look_up(entry, buffer, size, found)`, with a larger buffer for as long as it says that this is too small, and
/// hands what was found to `use`.
template <typename Entry, typename LookUp, typename Use>
Result<bool> look_up(const std::string& what, LookUp&& look_up, Use&& use) {
    std::vector<char> buffer(4096);
    for (;;) {
        Entry entry{};
        Entry* found = nullptr;
        const int error = look_up(&entry, buffer.data(), buffer.size(), &found);
        if (found) {
            use(*found);
            return true;
        }
        if (error == ERANGE && buffer.size() < most_bytes) buffer.resize(buffer.size() * 4);
        else if (means_unknown(error)) return false;
        else if (error != EINTR)
            return fail("unavailable", fmt::format("{}: cannot look up: {}", what, std::strerror(error)));
    }
}

template <typename T>
Result<std::optional<T>> answer(const Result<bool>& found, T value) {
    if (!found) return tl::unexpected<Error>(found.error());
    return *found ? std::optional<T>(std::move(value)) : std::nullopt;
}

struct GroupEntry {
    gid_t gid = 0;
    std::vector<std::string> listed;
};

Result<std::optional<GroupEntry>> group_of(const std::string& group) {
    GroupEntry answered;
    const auto found = look_up<::group>(
        "group " + group,
        [&](::group* entry, char* buffer, std::size_t size, ::group** result) {
            return ::getgrnam_r(group.c_str(), entry, buffer, size, result);
        },
        [&](const ::group& entry) {
            answered.gid = entry.gr_gid;
            for (char** member = entry.gr_mem; *member; ++member) answered.listed.emplace_back(*member);
        });
    return answer(found, std::move(answered));
}

/// Adds everyone whose own group this is and who is not listed yet.
void add_primary_members(gid_t gid, std::vector<std::string>& names) {
    const auto listed = names.size();
    ::setpwent();
    while (const auto* entry = ::getpwent()) {
        if (entry->pw_gid != gid) continue;
        const auto end = names.begin() + static_cast<std::ptrdiff_t>(listed);
        if (std::find(names.begin(), end, entry->pw_name) == end) names.emplace_back(entry->pw_name);
    }
    ::endpwent();
}

}  // namespace

Result<std::optional<std::uint32_t>> uid_of(const std::string& user) {
    std::uint32_t uid = 0;
    const auto found = look_up<passwd>(
        "user " + user,
        [&](passwd* entry, char* buffer, std::size_t size, passwd** result) {
            return ::getpwnam_r(user.c_str(), entry, buffer, size, result);
        },
        [&](const passwd& entry) { uid = entry.pw_uid; });
    return answer(found, uid);
}

Result<std::optional<std::string>> user_name_of(std::uint32_t uid) {
    std::string name;
    const auto found = look_up<passwd>(
        fmt::format("uid {}", uid),
        [&](passwd* entry, char* buffer, std::size_t size, passwd** result) {
            return ::getpwuid_r(uid, entry, buffer, size, result);
        },
        [&](const passwd& entry) { name = entry.pw_name; });
    return answer(found, name);
}

Result<std::optional<std::string>> group_name_of(std::uint32_t gid) {
    std::string name;
    const auto found = look_up<::group>(
        fmt::format("gid {}", gid),
        [&](::group* entry, char* buffer, std::size_t size, ::group** result) {
            return ::getgrgid_r(gid, entry, buffer, size, result);
        },
        [&](const ::group& entry) { name = entry.gr_name; });
    return answer(found, name);
}

Result<std::optional<std::uint32_t>> gid_of(const std::string& group) {
    const auto entry = group_of(group);
    if (!entry) return tl::unexpected<Error>(entry.error());
    return *entry ? std::optional<std::uint32_t>((*entry)->gid) : std::nullopt;
}

Result<std::optional<std::vector<std::string>>> group_members(const std::string& group) {
    auto entry = group_of(group);
    if (!entry) return tl::unexpected<Error>(entry.error());
    if (!*entry) return std::nullopt;
    add_primary_members((*entry)->gid, (*entry)->listed);
    return std::move((*entry)->listed);
}

std::uint32_t login_uid(std::uint32_t uid) {
    constexpr std::uint32_t unset = 0xffffffff;
    std::uint32_t found = unset;
    std::ifstream("/proc/self/loginuid") >> found;
    return found == unset ? uid : found;
}

}  // namespace accord
