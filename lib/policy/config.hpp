// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster's own settings, as accord.toml states them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/gpus.hpp"

namespace accord {

enum class Mode { enforce, observe };
enum class OnUnavailable { reject, admit };
enum class Ungranted { log, refuse };

[[nodiscard]] const char* to_string(Mode mode);

/// A governed partition and its lend partition over the same nodes.
struct PoolConfig {
    std::string partition;
    std::string lend_partition;
    std::string reclaim = "auto";  ///< "auto", "live" or "static" (R13)
    GpuVector gpus;                ///< the pool's capacity by type
    std::optional<std::int64_t> cpus_per_gpu;
    std::optional<std::int64_t> mem_per_gpu_mb;
    std::optional<std::int64_t> shards_per_gpu;
};

struct PriorityClass {
    std::string name;
    std::int64_t site_factor = 0;  ///< 0 to 99,999 (R16)
};

struct Governance {
    std::vector<std::string> acknowledgements = {"business", "operations", "cost"};
    bool four_eyes = true;
    std::int64_t review_grace_s = 14 * 86400;
};

struct NodeConfig {
    std::vector<std::string> scope_roots;
    Ungranted ungranted = Ungranted::log;
    std::vector<std::string> scrub;
    bool no_new_privs = true;
};

struct Config {
    std::string cluster;
    std::string timezone;  ///< IANA name; empty: the controller's
    Mode mode = Mode::enforce;
    std::vector<std::string> exempt_users = {"root"};
    std::string admin_group, auditor_group;

    std::string store_dir;
    std::string durability = "process";  ///< or "power"
    OnUnavailable on_unavailable = OnUnavailable::reject;

    std::string munge_socket = "/run/munge/munge.socket.2";

    std::int64_t interval_ms = 1000;  ///< accordd's pass
    std::int64_t settle_s = 15;       ///< a decision without a job is void no sooner than this (section "ledger")
    std::string accordd_socket = "/run/accord/accordd.sock";
    std::string metrics = "127.0.0.1:9911";  ///< "" for none

    NodeConfig node;
    std::vector<PoolConfig> pools;
    std::vector<PriorityClass> priority_classes;
    Governance governance;

    /// The pool whose governed partition is `partition`, or null.
    [[nodiscard]] const PoolConfig* pool_of(const std::string& partition) const;
    /// The pool whose lend partition is `partition`, or null.
    [[nodiscard]] const PoolConfig* pool_lending_in(const std::string& partition) const;
    [[nodiscard]] const PriorityClass* priority_class(const std::string& name) const;
};

}  // namespace accord
