// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm_accounts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <memory>

namespace accord {

std::optional<std::set<std::string>> slurm_accounts() {
    // a slurmdbd that does not answer must not hold this up
    constexpr auto command = "timeout 10 sacctmgr --noheader --parsable2 show account format=account 2>/dev/null";
    std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command, "r"), ::pclose);
    if (!output) return std::nullopt;
    std::set<std::string> accounts;
    std::array<char, 1024> line{};
    while (std::fgets(line.data(), line.size(), output.get())) {
        std::string account(line.data());
        account.resize(std::min(account.find('\n'), account.size()));
        std::transform(account.begin(), account.end(), account.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        if (!account.empty()) accounts.insert(account);
    }
    if (::pclose(output.release()) != 0) return std::nullopt;
    return accounts;
}

}  // namespace accord
