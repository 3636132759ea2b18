// SPDX-License-Identifier: GPL-2.0-or-later
#include "policy_source.hpp"

#include <sys/stat.h>

#include <utility>

#include <fmt/format.h>

#include "contract/config_toml.hpp"
#include "contract/schema.hpp"

namespace accord {
namespace {

constexpr int patient_polls = 5;

bool equal(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

bool same_file(const std::optional<FileStamp>& a, const std::optional<FileStamp>& b) {
    return a && b && a->device == b->device && a->inode == b->inode;
}

}  // namespace

bool FileStamp::operator==(const FileStamp& other) const {
    return device == other.device && inode == other.inode && size == other.size && equal(modified, other.modified) &&
           equal(changed, other.changed);
}

std::optional<FileStamp> stamp_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    return FileStamp{status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
}

PolicySource::PolicySource(std::string config_path, Complaints& complaints)
    : config_path_(std::move(config_path)), complaints_(complaints) {}

/// Always false, for the caller to return.
bool PolicySource::complain(const std::string& topic, const Error& error) {
    trouble_ = one_line(error);
    complaints_.raise(topic, trouble_);
    return false;
}

/// A commit locks the file for a moment: only a lock that lasts is worth a line.
bool PolicySource::complain_of_store(const Error& error, bool wait) {
    if (error.code != "unavailable") db_.reset();
    if (error.code != "unavailable" || wait || ++vain_polls_ >= patient_polls) return complain(db_path_, error);
    trouble_ = one_line(error);
    return false;
}

/// True when there is something new to judge by, or to say why there is not.
bool PolicySource::read_config() {
    const auto stamp = stamp_of(config_path_);
    if (config_seen_ && stamp == config_stamp_) return false;
    config_seen_ = true;
    config_stamp_ = stamp;
    auto loaded = load_config(config_path_);
    if (!loaded) {
        complain(config_path_, loaded.error());
        return !config_;
    }
    complaints_.settle(config_path_);
    config_ = std::move(*loaded);
    stale_ = true;
    return true;
}

/// Opens contracts.db where it is not open, and asks whether it holds anything new.
bool PolicySource::contracts_changed(bool wait) {
    const std::string path = config_->store_dir + "/contracts.db";
    const auto stamp = stamp_of(path);
    if (path != db_path_ || !same_file(stamp, db_stamp_)) {
        db_.reset();
        version_.reset();
    }
    if (!db_) {
        db_path_ = path;
        db_stamp_ = stamp;
        auto opened = ContractsDb::open(path, wait ? ContractsDb::Open::read_only : ContractsDb::Open::read_only_at_once);
        if (!opened) return complain_of_store(opened.error(), wait);
        db_ = std::move(*opened);
    }
    const auto version = db_->data_version();
    if (!version) return complain_of_store(version.error(), wait);
    if (version_ != *version || stale_) return true;
    settle_store();
    return false;
}

void PolicySource::settle_store() {
    vain_polls_ = 0;
    complaints_.settle(db_path_);
}

bool PolicySource::read_contracts(bool wait) {
    const auto version = db_->data_version();
    auto policy = load_policy(*config_, *db_, known_);
    if (!version || !policy) return complain_of_store(version ? policy.error() : version.error(), wait);
    settle_store();
    version_ = *version;  // read before the policy: what came between is read again
    stale_ = false;
    rules_ = {std::move(*policy), true, {}, *version};
    return true;
}

std::optional<Rules> PolicySource::poll(bool wait) {
    const bool news = read_config();
    if (!config_) {
        if (news) rules_ = {nullptr, false, trouble_};
        return news ? std::optional(rules_) : std::nullopt;
    }
    if (contracts_changed(wait) && read_contracts(wait)) return rules_;
    if (rules_.has_contracts || (!news && rules_.why == trouble_)) return std::nullopt;
    // settings without contracts: enough to know what is governed
    rules_ = {std::make_shared<const Policy>(*config_, std::vector<PolicyContract>{}, std::map<std::uint32_t, std::string>{},
                                             std::vector<std::uint32_t>{0}),
              false, trouble_};
    return rules_;
}

}  // namespace accord
