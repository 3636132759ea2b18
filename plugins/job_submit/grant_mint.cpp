// SPDX-License-Identifier: GPL-2.0-or-later
#include "grant_mint.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace accord {
namespace {

/// All that one version of a contract says of a user, or that an exempt job's grant says.
std::string key_of(const Grant& grant) {
    std::string key = grant.cluster;
    const auto add = [&](std::string_view part) { key.append("\n").append(part); };
    add(grant.contract);
    add(fmt::format_int(grant.contract_version).c_str());
    add(fmt::format_int(grant.uid).c_str());
    add(grant.pool);
    if (grant.exempt) add(grant.account);
    return key;
}

}  // namespace

std::optional<std::string> GrantMint::find(const Grant& grant, std::int64_t now_s) {
    const std::string key = key_of(grant);
    const std::lock_guard lock(mutex_);
    const auto found = seals_.find(key);
    if (found == seals_.end() || found->second.text.empty()) return std::nullopt;
    const std::int64_t age_s = now_s - found->second.sealed_s;
    if (age_s < 0 || age_s > fresh_s) return std::nullopt;
    if (age_s > renew_s) order(key, grant);
    return found->second.text;
}

/// The caller holds the lock.
void GrantMint::order(std::string key, const Grant& grant) {
    const bool waiting = std::any_of(orders_.begin(), orders_.end(), [&](const Order& one) { return one.key == key; });
    if (waiting) return;
    orders_.push_back({std::move(key), grant});
    ordered_.notify_one();
}

/// The caller holds the lock.
Result<std::string> GrantMint::failed(std::string why) {
    failed_at_ = std::chrono::steady_clock::now();
    failure_ = std::move(why);
    return fail("unavailable", failure_);
}

Result<std::string> GrantMint::seal(const Grant& grant) {
    const std::string key = key_of(grant);
    std::unique_lock lock(mutex_);
    const std::uint64_t before = round_;
    order(key, grant);
    const auto since_failure = std::chrono::steady_clock::now() - failed_at_;
    if (!failure_.empty() && since_failure < std::chrono::milliseconds(pause_ms)) return fail("unavailable", failure_);
    const auto delivered = [&] {
        const auto found = seals_.find(key);
        return stopped_ || (found != seals_.end() && found->second.round > before);
    };
    if (!delivered_.wait_for(lock, std::chrono::milliseconds(patience_ms), delivered) || stopped_)
        return failed(fmt::format("the grant was not sealed within {} ms", patience_ms));
    const Seal& seal = seals_.at(key);
    if (seal.text.empty()) return failed(seal.error);
    return seal.text;
}

bool GrantMint::wait_for_work(int timeout_ms) {
    std::unique_lock lock(mutex_);
    ordered_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] { return stopped_ || !orders_.empty(); });
    return !orders_.empty();
}

void GrantMint::work(const Munge& munge, std::int64_t now_s) {
    std::unique_lock lock(mutex_);
    while (!orders_.empty() && !stopped_) {
        Order order = std::move(orders_.front());
        orders_.pop_front();
        lock.unlock();
        order.grant.issued_s = now_s;
        auto sealed = munge.seal(to_json(order.grant));
        lock.lock();
        store(order.key, std::move(sealed), now_s);
        delivered_.notify_all();
    }
}

/// The caller holds the lock. A seal that could not be renewed is kept while it is fresh.
void GrantMint::store(const std::string& key, Result<std::string> sealed, std::int64_t now_s) {
    if (seals_.size() >= most_seals && !seals_.contains(key))
        seals_.erase(std::min_element(seals_.begin(), seals_.end(), [](const auto& a, const auto& b) {
            return a.second.sealed_s < b.second.sealed_s;
        }));
    Seal& seal = seals_[key];
    seal.round = ++round_;
    if (sealed) {
        seal.text = std::move(*sealed);
        seal.error.clear();
        failure_.clear();
        seal.sealed_s = now_s;
        return;
    }
    seal.error = sealed.error().what;
    if (now_s - seal.sealed_s > fresh_s) seal.text.clear();
}

void GrantMint::stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    ordered_.notify_all();
    delivered_.notify_all();
}

bool GrantMint::stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
}

void GrantMint::clear() {
    const std::lock_guard lock(mutex_);
    seals_.clear();
}

}  // namespace accord
