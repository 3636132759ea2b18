// SPDX-License-Identifier: GPL-2.0-or-later
// Sealed grants, each made once and used again for some minutes: munged is a round trip, and a hook holds slurmctld's
// locks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "seal/grant.hpp"
#include "seal/munge.hpp"

namespace accord {

/// Hooks ask, the plugin's thread seals.
class GrantMint {
public:
    /// How long a seal is used again.
    static constexpr std::int64_t fresh_s = 600;
    /// From this age on a used seal is made anew in the background.
    static constexpr std::int64_t renew_s = 300;
    /// Most seals kept; the oldest go first.
    static constexpr std::size_t most_seals = 4096;
    /// The longest that a hook waits.
    static constexpr int patience_ms = 50;
    /// After a failure no hook waits for this long.
    static constexpr int pause_ms = 1000;

    /// The seal for a grant that says the same, but for its time of issue. Empty when there is none that is fresh.
    [[nodiscard]] std::optional<std::string> find(const Grant& grant, std::int64_t now_s);
    /// Has the grant sealed by the thread and waits for it. Error{"unavailable"} where that fails or takes too long.
    [[nodiscard]] Result<std::string> seal(const Grant& grant);

    /// For the thread: waits for work, at most `timeout_ms`. True when there is some.
    bool wait_for_work(int timeout_ms);
    /// For the thread: seals what was asked for.
    void work(const Munge& munge, std::int64_t now_s);
    /// Wakes the thread for good.
    void stop();
    [[nodiscard]] bool stopped() const;
    /// Forgets all seals: settings that they speak of have changed.
    void clear();

private:
    struct Seal {
        std::string text;  ///< empty: it failed
        std::string error;
        std::int64_t sealed_s = 0;
        std::uint64_t round = 0;  ///< grows with each attempt
    };
    struct Order {
        std::string key;
        Grant grant;
    };
    void order(std::string key, const Grant& grant);
    Result<std::string> failed(std::string why);
    void store(const std::string& key, Result<std::string> sealed, std::int64_t now_s);

    mutable std::mutex mutex_;
    std::condition_variable ordered_, delivered_;
    std::deque<Order> orders_;
    std::map<std::string, Seal> seals_;
    std::uint64_t round_ = 0;
    bool stopped_ = false;
    std::chrono::steady_clock::time_point failed_at_{};
    std::string failure_;  ///< the last one; empty after a success
};

}  // namespace accord
