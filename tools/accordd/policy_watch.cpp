// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the policy as accord.toml, contracts.db and the name service have it.
#include "policy_watch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "contract/config_toml.hpp"

namespace accord {
namespace {

/// How soon a change of a group's members is noticed.
constexpr auto look_up_every = std::chrono::seconds(30);

constexpr auto contracts_topic = "contracts.db";

}  // namespace

PolicyWatch::Stamp PolicyWatch::stamp_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return {status.st_dev, status.st_ino, status.st_size,
            status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

Result<PolicyWatch> PolicyWatch::open(const std::string& config_path) {
    const auto stamp = stamp_of(config_path);
    auto config = load_config(config_path);
    if (!config) return tl::unexpected(config.error());
    return PolicyWatch(config_path, stamp, std::move(*config));
}

PolicyWatch::PolicyWatch(std::string config_path, Stamp stamp, Config config)
    : config_path_(std::move(config_path)),
      config_stamp_(stamp),
      config_(std::move(config)),
      policy_(std::make_shared<const Policy>(config_, std::vector<PolicyContract>{},
                                             std::map<std::uint32_t, std::string>{}, std::vector<std::uint32_t>{})) {}

void PolicyWatch::refresh(Troubles& troubles, const std::optional<std::string>& slurm_user, std::int64_t now_s) {
    const bool config_changed = reload_config(troubles);
    make_calendar(now_s);
    open_contracts(troubles);
    if (!contracts_) return;
    reload_contracts(troubles, config_changed);
    if (slurm_user) resolve(troubles, *slurm_user, now_s);
}

bool PolicyWatch::reload_config(Troubles& troubles) {
    const auto stamp = stamp_of(config_path_);
    if (stamp == config_stamp_) return false;
    config_stamp_ = stamp;
    auto config = load_config(config_path_);
    if (config && config->store_dir != config_.store_dir)
        config = fail("invalid", "accord.toml: [store] dir has changed: accordd must be restarted for that", config_path_);
    if (!config) {
        troubles.begin("accord.toml", config.error());
        return false;
    }
    troubles.end("accord.toml");
    config_ = std::move(*config);
    return true;
}

/// Not beside a look-up, which is a thread of its own.
void PolicyWatch::make_calendar(std::int64_t now_s) {
    if (lookup_.running() || calendar_zone_ == config_.timezone) return;
    calendar_ = Calendar(config_.timezone, now_s);
    calendar_zone_ = config_.timezone;
}

/// Opened once, and again when the file is another one.
void PolicyWatch::open_contracts(Troubles& troubles) {
    const auto path = config_.store_dir + "/contracts.db";
    const auto found = stamp_of(path);
    if (contracts_ && found.inode == contracts_stamp_.inode && found.device == contracts_stamp_.device) return;
    contracts_.reset();
    data_version_.reset();
    // A store that has had it gets no new one: an empty contracts.db would end every contract.
    if (found.inode == 0 && stamp_of(config_.store_dir + "/ledger").inode != 0)
        return troubles.begin(contracts_topic, {"unavailable", "it is gone: put it back, or apply the contracts again", path});
    auto opened = ContractsDb::open(path, ContractsDb::Open::read_write);
    if (!opened) return troubles.begin(contracts_topic, opened.error());
    contracts_ = std::move(*opened);
    contracts_stamp_ = stamp_of(path);
}

void PolicyWatch::reload_contracts(Troubles& troubles, bool config_changed) {
    const auto version = contracts_->data_version();
    if (!version) return troubles.begin(contracts_topic, version.error());
    if (data_version_ == *version && !config_changed) return;
    auto policy = load_policy(config_, *contracts_, known_);
    if (!policy) {
        data_version_.reset();
        return troubles.begin(contracts_topic, policy.error());
    }
    troubles.end(contracts_topic);
    policy_ = std::move(*policy);
    data_version_ = *version;
}

void PolicyWatch::resolve(Troubles& troubles, const std::string& slurm_user, std::int64_t now_s) {
    if (auto members = lookup_.finished()) {
        members->of_version = looked_up_version_;  // contracts that have changed meanwhile are looked up anew
        store_members(troubles, *members, now_s);
    }
    const auto now = std::chrono::steady_clock::now();
    const bool due = now >= look_up_at_ || looked_up_version_ != data_version_;
    if (!due || !data_version_ || lookup_.running()) return;
    std::vector<std::shared_ptr<const Contract>> contracts;
    for (const auto& contract : policy_->contracts()) contracts.push_back(contract.contract);
    lookup_.start(config_, std::move(contracts), slurm_user);
    looked_up_version_ = data_version_;
    look_up_at_ = now + look_up_every;
}

void PolicyWatch::store_members(Troubles& troubles, const ResolvedMembers& members, std::int64_t now_s) {
    for (const auto& warning : members.warnings)
        if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
            log_line(LogLevel::warning, warning);
    warnings_ = members.warnings;
    const auto uid = static_cast<std::uint32_t>(::geteuid());
    const auto changed = contracts_->set_members(members, Actor{uid, uid, "accordd"}, now_s);
    if (!changed) return troubles.begin("members", changed.error());
    troubles.end("members");
    if (!*changed) return;
    // Its own change asks for no look-up.
    reload_contracts(troubles, false);
    looked_up_version_ = data_version_;
}

}  // namespace accord
