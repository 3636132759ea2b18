// SPDX-License-Identifier: GPL-2.0-or-later
// A site to run the plugin on: settings, contracts, ledger, and a munged.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "policy/contract.hpp"
#include "policy/ledger.hpp"
#include "seal/grant.hpp"
#include "store/journal.hpp"
#include "temp_dir.hpp"

inline constexpr std::uint32_t vision1 = 1001, speech1 = 1002, outsider = 1003;

class Site {
public:
    /// A pool "gpu" (four nodes of four a100) with its lend partition, and no contract.
    Site();

    [[nodiscard]] std::string config_path() const { return dir_ / "accord.toml"; }
    [[nodiscard]] std::string journal_dir() const { return dir_ / "journal"; }
    [[nodiscard]] std::string file(const std::string& name) const { return dir_ / name; }

    /// Writes accord.toml; `more` goes to its top, `store` into [store]; `gpus` are the pool's.
    void write_config(const std::string& more = {}, const std::string& store = {},
                      const std::string& gpus = "{ a100 = 16 }") const;
    /// A contract with `user` as its only member comes into force, or changes.
    void apply(const std::string& account, std::uint32_t user, accord::Gpus guaranteed,
               const std::function<void(accord::Contract&)>& edit = {}) const;
    /// Makes contracts.db with its exempt users, and nothing else.
    void make_contracts_db() const;
    /// accordd's snapshot: a shape of four nodes, and `claims` as far as the journal's number `through`.
    void write_ledger(std::uint64_t through = 0,
                      const std::unordered_map<std::string, accord::ContractClaims>& claims = {},
                      const accord::GpuVector& on_each_node = {{"a100", 4}}) const;

    [[nodiscard]] std::vector<accord::JournalRecord> journal() const;
    /// What the seal in a request's environment holds; fails the test when there is none.
    [[nodiscard]] accord::Grant unseal(const std::string& sealed) const;
    [[nodiscard]] static std::string munge_socket();
    static void stop_munged();

private:
    TempDir dir_;
};

/// Until `true`, at most ten seconds.
[[nodiscard]] bool wait_for(const std::function<bool()>& true_then);

/// What the plugin logs next: waits as wait_for does until there are `count` lines, since its thread may write them.
[[nodiscard]] std::vector<std::string> next_log(std::size_t count);
