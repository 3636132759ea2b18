// SPDX-License-Identifier: GPL-2.0-or-later
// Effective ids and groups, taken and given back in the order in which that is allowed.
#include "sys/identity.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include <fmt/format.h>

#include "sys/system_error.hpp"

namespace accord {
namespace {

std::vector<gid_t> groups_of(const std::string& name, gid_t gid) {
    std::vector<gid_t> groups(64);
    int count = static_cast<int>(groups.size());
    while (getgrouplist(name.c_str(), gid, groups.data(), &count) < 0) groups.resize(static_cast<std::size_t>(count));
    groups.resize(static_cast<std::size_t>(count));
    return groups;
}

}  // namespace

Result<User> user_of(uid_t uid) {
    std::vector<char> buffer(4096);
    passwd entry{};
    passwd* found = nullptr;
    int error = 0;
    while ((error = getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found)) == ERANGE) buffer.resize(buffer.size() * 2);
    if (error != 0) return fail_errno(fmt::format("uid {}: cannot look it up", uid), error);
    if (found == nullptr) return fail("unknown_user", fmt::format("uid {}: cannot look it up: there is no such user", uid));
    return User{entry.pw_name, uid, entry.pw_gid, groups_of(entry.pw_name, entry.pw_gid)};
}

ActingAs::ActingAs(const User& user) : user_(user), own_uid_(geteuid()), own_gid_(getegid()) {
    const int count = getgroups(0, nullptr);
    own_groups_.resize(static_cast<std::size_t>(count > 0 ? count : 0));
    if (count < 0 || getgroups(count, own_groups_.data()) < 0 || setgroups(user.groups.size(), user.groups.data()) != 0 ||
        setegid(user.gid) != 0 || seteuid(user.uid) != 0)
        error_ = errno;
    else if (geteuid() != user.uid || getegid() != user.gid)
        error_ = EPERM;
}

ActingAs::~ActingAs() {
    // Whoever cannot become himself again must not go on as somebody else.
    if (seteuid(own_uid_) != 0 || setegid(own_gid_) != 0 || setgroups(own_groups_.size(), own_groups_.data()) != 0)
        std::terminate();
}

Result<void> ActingAs::ready() const {
    if (error_ != 0) return fail_errno(fmt::format("{}: cannot act with this user's rights", user_.name), error_);
    return {};
}

}  // namespace accord
