// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm_accounts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <memory>
#include <vector>

namespace accord {

namespace {

/// The lines that sacctmgr prints, in lower case; nothing where it fails.
std::optional<std::vector<std::string>> sacctmgr_lines(const std::string& arguments) {
    // a slurmdbd that does not answer must not hold this up
    const auto command = "timeout 10 sacctmgr --noheader --parsable2 " + arguments + " 2>/dev/null";
    std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), ::pclose);
    if (!output) return std::nullopt;
    std::vector<std::string> lines;
    std::array<char, 1024> part{};
    while (std::fgets(part.data(), part.size(), output.get())) {
        std::string line(part.data());
        line.resize(std::min(line.find('\n'), line.size()));
        std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
        lines.push_back(std::move(line));
    }
    if (::pclose(output.release()) != 0) return std::nullopt;
    return lines;
}

}  // namespace

std::optional<std::set<std::string>> slurm_accounts() {
    const auto lines = sacctmgr_lines("show account format=account");
    if (!lines) return std::nullopt;
    std::set<std::string> accounts(lines->begin(), lines->end());
    accounts.erase("");
    return accounts;
}

std::map<std::string, std::string> slurm_account_parents() {
    std::map<std::string, std::string> parents;
    // an association without a user is the account's own: "child|parent|"
    for (const auto& line : sacctmgr_lines("show assoc format=account,parentname,user").value_or(std::vector<std::string>{})) {
        const auto first = line.find('|'), second = line.find('|', first + 1);
        if (second == std::string::npos || second + 1 != line.size() || second == first + 1) continue;
        parents[line.substr(0, first)] = line.substr(first + 1, second - first - 1);
    }
    return parents;
}

}  // namespace accord
