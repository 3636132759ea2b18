// SPDX-License-Identifier: GPL-2.0-or-later
// Users and groups as the name service knows them now; nothing is remembered between calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/error.hpp"

namespace accord {

/// Nothing when there is no such user. Fails ("unavailable") when the name service cannot say.
[[nodiscard]] Result<std::optional<std::uint32_t>> uid_of(const std::string& user);
[[nodiscard]] Result<std::optional<std::string>> user_name_of(std::uint32_t uid);

[[nodiscard]] Result<std::optional<std::uint32_t>> gid_of(const std::string& group);
[[nodiscard]] Result<std::optional<std::string>> group_name_of(std::uint32_t gid);

/// The names of the group's members: those that it lists and those whose own group it is, where the name service lets
/// users be enumerated. Nothing when there is no such group. Not for two threads at once.
[[nodiscard]] Result<std::optional<std::vector<std::string>>> group_members(const std::string& group);

/// The user who logged in to the session of this process (/proc/self/loginuid); `uid` where there is none.
[[nodiscard]] std::uint32_t login_uid(std::uint32_t uid);

}  // namespace accord
