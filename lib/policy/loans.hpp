// SPDX-License-Identifier: GPL-2.0-or-later
// R14 over a whole pool: what its contracts may lend at this moment, and what they have in excess together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/config.hpp"
#include "policy/gpus.hpp"
#include "policy/lend_terms.hpp"
#include "policy/shape.hpp"

namespace accord {

class Policy;
struct Contract;
struct ContractClaims;

/// One GPU type of a pool.
struct LoanSums {
    LendSums terms;
    Gpus in_pool = 0;    ///< by accord.toml
    Gpus available = 0;  ///< on nodes that are neither down nor draining
    Gpus excess = 0;     ///< all claims beyond guarantees
    Gpus kept = 0;       ///< of `terms.lendable` what its owners claim themselves

    /// A contract of the pool limits what it lends, so that all excess is limited.
    [[nodiscard]] bool limited() const { return terms.limits > 0; }
    /// Fewer GPUs are there than contracts are guaranteed: nothing new is lent.
    [[nodiscard]] bool short_of_guarantees() const { return available < terms.guaranteed; }
    /// What all excess together may come to: idle guarantees within their lend limits, and what no contract owns.
    [[nodiscard]] Gpus lendable() const {
        return terms.lendable - kept + std::max<Gpus>(0, available - terms.guaranteed);
    }
    /// More is claimed in excess than is lent.
    [[nodiscard]] bool overdrawn() const { return limited() && excess > lendable(); }
};

/// The sums of one pool, kept up contract by contract as claims change. They hold for one policy and until a contract's
/// dates begin or end.
class PoolLoans {
public:
    PoolLoans(const Policy& policy, const PoolConfig& pool, const ClusterShape& shape, std::int64_t now_s);

    /// Whether they hold for this policy at this moment.
    [[nodiscard]] bool hold_for(const Policy& policy, std::int64_t now_s) const;
    /// Whether claims matter: a contract of the pool has a lend limit.
    [[nodiscard]] bool any_limit() const { return any_limit_; }

    /// What the contract (account/partition, whether or not there is one) claims from now on, in place of what it did.
    void set(const Policy& policy, const std::string& key, const ContractClaims& claims);

    /// Null: nothing of the type is guaranteed, or in the pool.
    [[nodiscard]] const LoanSums* of(const std::string& type) const;

    /// Whether the contract may not borrow `ask` more of the type beside `claims`, which are its own as far as they are not
    /// those of the job in question. Within its guarantee it borrows nothing.
    [[nodiscard]] bool refuses(const Contract& contract, const ContractClaims& claims, const std::string& type,
                               Gpus ask) const;

    /// The most excess that the contract could ever have of the type: what the others lend at most and what no contract
    /// owns. gpus_max where nothing limits it.
    [[nodiscard]] Gpus most_excess(const Contract& contract, const std::string& type) const;

    [[nodiscard]] const std::string& partition() const { return partition_; }
    /// A few of the contracts with a lend limit for the type.
    [[nodiscard]] std::vector<std::shared_ptr<const Contract>> limited(const std::string& type) const;

private:
    struct Part {
        Gpus excess = 0, kept = 0;
    };
    [[nodiscard]] std::size_t index_of(const std::string& type) const;
    [[nodiscard]] static Part part_of(const Contract* in_force, const ContractClaims& claims, const std::string& type,
                                      Gpus ask);

    std::shared_ptr<const LendTerms> terms_;
    std::string partition_;
    std::int64_t now_s_, from_s_, until_s_;
    bool any_limit_ = false;
    std::vector<std::pair<std::string, LoanSums>> sums_;         ///< by type
    std::unordered_map<std::string, std::vector<Part>> parts_;  ///< by contract, in the order of `sums_`
};

/// Whether more is borrowed in the pool than is lent, of a type in `claim`.
[[nodiscard]] bool overdrawn(const PoolLoans& loans, const GpuVector& claim);
/// Whether that is so, or the pool has not even what it guarantees.
[[nodiscard]] bool closed(const PoolLoans& loans, const GpuVector& claim);

/// R14: the first type of `ask` that the pool's lend limits, or its want of GPUs, do not let the contract borrow.
[[nodiscard]] std::optional<std::string> beyond_lend_limits(const PoolLoans& loans, const Contract& contract,
                                                            const ContractClaims& claims, const GpuVector& ask);

}  // namespace accord
