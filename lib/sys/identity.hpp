// SPDX-License-Identifier: GPL-2.0-or-later
// Users with their groups, and acting with a user's rights for a while.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "policy/error.hpp"

namespace accord {

struct User {
    std::string name;
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;
};

/// Asks the name service. Error{"unknown_user"} when it knows no such uid.
[[nodiscard]] Result<User> user_of(uid_t uid);

/// Gives the process the user's effective ids and groups, root's own again when it goes. For root in a process with
/// one thread.
class ActingAs {
public:
    /// Check `ready` before doing anything in the user's name.
    explicit ActingAs(const User& user);
    ~ActingAs();
    ActingAs(const ActingAs&) = delete;
    ActingAs& operator=(const ActingAs&) = delete;
    /// Fails ("io") when the process is not the user.
    [[nodiscard]] Result<void> ready() const;

private:
    const User& user_;
    uid_t own_uid_;
    gid_t own_gid_;
    std::vector<gid_t> own_groups_;
    int error_ = 0;
};

}  // namespace accord
