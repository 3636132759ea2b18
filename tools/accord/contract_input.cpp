// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract_input.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "command.hpp"
#include "contract/config_toml.hpp"
#include "contract/read_file.hpp"
#include "policy/utc.hpp"
#include "seal/grant.hpp"
#include "slurm_accounts.hpp"
#include "store_access.hpp"
#include "sys/name_service.hpp"

namespace accord {

namespace {

namespace fs = std::filesystem;

constexpr auto config_name = "accord.toml";

/// Takes accord.toml out of `paths`, or finds it in one of the folders.
std::optional<std::string> given_config(std::vector<std::string>& paths) {
    for (auto path = paths.begin(); path != paths.end(); ++path) {
        if (fs::path(*path).filename() == config_name) {
            auto found = *path;
            paths.erase(path);
            return found;
        }
        std::error_code ignored;
        const auto inside = fs::path(*path) / config_name;
        if (fs::is_regular_file(inside, ignored)) return inside.string();
    }
    return std::nullopt;
}

/// Only the installed accord.toml may be missing: one that was named must be there.
void take_config(ContractInput& input, std::vector<std::string>& paths) {
    const auto given = given_config(paths);
    const auto& path = input.config_path = given.value_or(config_path());
    std::error_code ignored;
    if (!given && !std::getenv("ACCORD_CONF") && !fs::exists(path, ignored)) {
        input.warnings.push_back({"",
                                  fmt::format("there is no {}: pools, paths and priority classes were not checked, and "
                                              "dates are in this machine's time zone",
                                              path),
                                  ""});
        return;
    }
    const auto text = read_text_file(path, Links::follow);
    if (!text) {
        input.errors.push_back(text.error());
        return;
    }
    auto judged = judge_config(*text, path);
    input.errors = std::move(judged.report.errors);
    input.warnings = std::move(judged.report.warnings);
    input.config = std::move(judged.config);
}

/// The checks of one file that need this machine.
class Machine {
public:
    Machine(const Config& config, std::int64_t now_s)
        : config_(config),
          now_s_(now_s),
          slurm_user_(store_owner(config).value_or("")),
          administrative_(administrative_users(config, slurm_user_)),
          accounts_(slurm_accounts()) {}

    void judge(JudgedContract& judged) {
        if (!judged.contract) return;
        const auto& contract = *judged.contract;
        auto& report = judged.report;
        people(contract, report);
        if (accounts_ && !accounts_->contains(contract.account))
            report.warn(
                report.line_of("account"), "account",
                fmt::format("Slurm has no account {} yet: its jobs are refused until it has", contract.account));
        if (contract.valid_until_s < now_s_)
            report.warn(report.line_of("valid_until"), "valid_until",
                        fmt::format("is over: {}", utc_text(contract.valid_until_s)));
        grant(contract, report);
    }

private:
    void people(const Contract& contract, Report& report) {
        const auto users_line = report.line_of("members.users");
        for (const auto& user : contract.members.users) {
            if (administrative_ && administrative_->contains(user))
                report.error(users_line, "members.users",
                             fmt::format("{} is an administrator of this cluster ({}) and cannot be a member (R3)",
                                         user, user == slurm_user_ ? "SlurmUser" : "in " + config_.admin_group));
            else if (!exists(users_, user, uid_of))
                report.warn(users_line, "members.users", fmt::format("there is no user {} yet", user));
        }
        for (const auto& group : contract.members.groups) judge_group(group, report);
        for (const auto& [key, user] : {std::pair{"owners.business", contract.owners.business},
                                        std::pair{"owners.operations", contract.owners.operations},
                                        std::pair{"owners.cost", contract.owners.cost}})
            if (!exists(users_, user, uid_of))
                report.warn(report.line_of(key), key, fmt::format("there is no user {} yet", user));
    }

    void judge_group(const std::string& group, Report& report) {
        const auto line = report.line_of("members.groups");
        auto found = groups_.find(group);
        if (found == groups_.end()) found = groups_.emplace(group, group_members(group)).first;
        const auto& names = found->second;
        if (!names) return;
        if (!*names) report.warn(line, "members.groups", fmt::format("there is no group {} yet", group));
        for (const auto& user : names->value_or(std::vector<std::string>()))
            if (administrative_ && administrative_->contains(user))
                report.warn(line, "members.groups",
                            fmt::format("{} of group {} is an administrator and is left out (R3)", user, group));
    }

    /// Where the name service cannot say, nothing is said.
    template <typename LookUp>
    static bool exists(std::map<std::string, bool>& known, const std::string& name, LookUp look_up) {
        const auto found = known.find(name);
        if (found != known.end()) return found->second;
        const auto id = look_up(name);
        return known.emplace(name, !id || id->has_value()).first->second;
    }

    /// The text of the largest grant that the contract can bring about.
    void grant(const Contract& contract, Report& report) {
        Grant grant;
        grant.cluster = config_.cluster;
        grant.contract = contract.key();
        grant.contract_version = 0xffffffff;
        grant.uid = 0xfffffffe;
        grant.account = contract.account;
        grant.pool = contract.partition;
        grant.issued_s = grant.valid_until_s = contract.valid_until_s;
        grant.scope = contract.filesystem;
        const auto bytes = to_json(grant).size();
        if (bytes > max_grant_bytes)
            report.error(
                report.line_of("filesystem"), "filesystem",
                fmt::format("the grant of a job would have {} bytes, expected at most {}: name fewer or shorter "
                            "paths",
                            bytes, max_grant_bytes));
    }

    const Config& config_;
    std::int64_t now_s_;
    std::string slurm_user_;
    Result<std::set<std::string>> administrative_;
    std::optional<std::set<std::string>> accounts_;
    std::map<std::string, bool> users_;
    std::map<std::string, Result<std::optional<std::vector<std::string>>>> groups_;
};

}  // namespace

bool ContractInput::report() const {
    for (const auto& warning : warnings) warn(warning);
    for (const auto& warning : warnings_of(files)) warn(warning);
    auto all = errors;
    for (auto& error : errors_of(files)) all.push_back(std::move(error));
    for (const auto& error : all) complain(error);
    return all.empty();
}

ContractInput read_contracts(const std::vector<std::string>& paths) {
    ContractInput input;
    auto files = paths;
    take_config(input, files);
    input.files = judge_files(files, input.config ? &*input.config : nullptr);
    return input;
}

void judge_on_this_machine(std::vector<JudgedContract>& files, const Config& config, std::int64_t now_s) {
    Machine machine(config, now_s);
    for (auto& judged : files) machine.judge(judged);
}

}  // namespace accord
