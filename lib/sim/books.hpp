// SPDX-License-Identifier: GPL-2.0-or-later
// What each contract claims, uses and has had: the ledger's numbers kept as they change, and the totals of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/ledger.hpp"
#include "policy/policy.hpp"
#include "sim/event.hpp"
#include "sim/scheduler.hpp"

namespace accord::sim {

/// Where in a contract's claims those of one GPU type are: the maps keep their places.
struct ClaimSlots {
    Gpus* guaranteed = nullptr;
    Gpus* borrowed = nullptr;
    std::vector<std::pair<std::uint32_t, Gpus*>> by_member;
};

/// A contract, or an account on a partition that has none, or (with an empty key) all jobs without either.
struct Party {
    std::string key;
    const PolicyContract* contract = nullptr;
    ContractClaims* claims = nullptr;
    std::size_t pool = 0;         ///< among the settings' pools, where it has claims
    std::vector<std::size_t> places;  ///< by ground: among the parties of its meter
    std::vector<ClaimSlots> slots;    ///< by ground
    ContractTotals counts;            ///< but for what meters and waits tell
    std::vector<std::int64_t> waits_s;
    // its budget's period
    Gpus in_use = 0;
    std::int64_t metered_s = 0;
};

/// Where a ground is.
struct GroundPlace {
    std::size_t pool = 0;
    std::string type;
};

class Books {
public:
    using PeriodOf = std::function<std::optional<Period>(const Budget&, std::int64_t now_s)>;

    /// Makes the scheduler's grounds. `period_of` may be empty.
    Books(const Policy& policy, const ClusterShape& shape, Scheduler& scheduler, PeriodOf period_of, std::int64_t now_s);

    [[nodiscard]] std::size_t party(std::string_view key);
    [[nodiscard]] Party& at(std::size_t party) { return *parties_[party]; }
    [[nodiscard]] const Party& at(std::size_t party) const { return *parties_[party]; }
    [[nodiscard]] std::size_t size() const { return parties_.size(); }
    [[nodiscard]] std::size_t place(std::size_t party, std::size_t ground);
    [[nodiscard]] std::optional<std::size_t> ground(const std::string& partition, const std::string& type) const;
    [[nodiscard]] const GroundPlace& place_of_ground(std::size_t ground) const { return ground_places_[ground]; }

    /// What the engine counts with: its claims change with `claim`.
    [[nodiscard]] const Ledger& ledger() const { return ledger_; }
    void claim(std::size_t party, std::uint32_t uid, std::size_t ground, JobClass cls, Gpus more);
    void use(std::size_t party, std::size_t ground, Gpus more, std::int64_t now_s);
    /// R14: some contract of the pool has a lend limit, so that the claims of one matter to the others.
    [[nodiscard]] bool is_limited(std::size_t pool) const { return limited_[pool]; }
    /// Brings what is used of the party's budget up to date.
    void meter_budget(std::size_t party, std::int64_t now_s);
    /// Takes over which contracts are in force at `now_s`.
    void put_in_force(std::int64_t now_s);

    [[nodiscard]] Totals totals(std::int64_t first_s, std::int64_t last_s);

private:
    void put_in_force(std::size_t party, std::int64_t now_s);
    [[nodiscard]] static Gpus& of_member(ClaimSlots& slots, ContractClaims& claims, std::uint32_t uid, const std::string& type);
    std::size_t add_party(std::string key);
    void add_metered(std::vector<ContractTotals>& rows, Totals& totals, std::int64_t span_s, std::int64_t last_s);

    const Policy& policy_;
    Scheduler& scheduler_;
    PeriodOf period_of_;
    std::int64_t now_s_;
    std::shared_ptr<LedgerBase> base_;
    Ledger ledger_;
    std::vector<std::unique_ptr<Party>> parties_;
    std::unordered_map<std::string, std::size_t> by_key_;
    std::vector<GroundPlace> ground_places_;
    std::vector<bool> limited_;  ///< by pool
};

}  // namespace accord::sim
