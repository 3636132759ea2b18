// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/status.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace accord {
namespace {

/// The partition of a contract's key.
std::string pool_of(const std::string& contract) { return contract.substr(contract.find('/') + 1); }

GpuVector guarantee_of(const PolicyContract* contract) {
    GpuVector gpus;
    if (contract)
        for (const auto& [type, capacity] : contract->contract->capacity) gpus[type] = capacity.guaranteed;
    return gpus;
}

class Builder {
public:
    explicit Builder(const StatusInput& input) : input_(input) {
        for (const auto& contract : input.contracts) contracts_[contract.contract->key()] = &contract;
        for (const auto& interval : input.running) add(in_use_[interval.contract], interval.gpus);
        for (const auto& [key, contract] : contracts_) keys_.insert(key);
        for (const auto& [key, gpus] : in_use_) keys_.insert(key);
        keys_.insert(input.now.contracts.begin(), input.now.contracts.end());
    }

    Status build() {
        Status status;
        for (const auto& pool : input_.config.pools)
            if (input_.pool.empty() || input_.pool == pool.partition) add_pool(pool, status);
        std::stable_sort(status.rows.begin(), status.rows.end(),
                         [](const auto& left, const auto& right) { return left.contract < right.contract; });
        return status;
    }

private:
    void add_pool(const PoolConfig& pool, Status& status) {
        const auto* shape = input_.now.ledger.shape().partition(pool.partition);
        const auto available = shape ? shape->available_capacity() : pool.gpus;
        for (const auto& type : types_in(pool)) {
            PoolStatus totals{pool.partition, type, amount_of(pool.gpus, type), amount_of(available, type), 0, 0, 0, {}};
            auto rows = rows_of(pool, type);
            settle_loans(rows, totals);
            totals.borrowable = borrowable(rows, totals);
            status.pools.push_back(totals);
            status.rows.insert(status.rows.end(), rows.begin(), rows.end());
        }
    }

    /// The pool's own types, and others that its jobs hold or claim all the same.
    std::set<std::string> types_in(const PoolConfig& pool) const {
        std::set<std::string> types;
        const auto take = [&](const GpuVector& gpus) {
            for (const auto& [type, count] : gpus) types.insert(type);
        };
        take(pool.gpus);
        for (const auto& key : keys_) {
            if (pool_of(key) != pool.partition) continue;
            const auto& claims = input_.now.ledger.of(key);
            take(claims.guaranteed);
            take(claims.borrowed);
            take(use_of(key));
        }
        return types;
    }

    std::vector<StatusRow> rows_of(const PoolConfig& pool, const std::string& type) const {
        std::vector<StatusRow> rows;
        for (const auto& key : keys_) {
            if (pool_of(key) != pool.partition) continue;
            const auto found = contracts_.find(key);
            const auto* contract = found == contracts_.end() ? nullptr : found->second;
            if (auto row = row_of(key, contract, type)) rows.push_back(std::move(*row));
        }
        return rows;
    }

    /// Nothing for a type that is not the contract's business.
    std::optional<StatusRow> row_of(const std::string& key, const PolicyContract* contract, const std::string& type) const {
        const auto& claims = input_.now.ledger.of(key);
        const auto guarantee = guarantee_of(contract);
        StatusRow row;
        row.contract = key;
        row.pool = pool_of(key);
        row.state = state_of(contract);
        row.gpu_type = type;
        row.guaranteed = amount_of(guarantee, type);
        row.claimed = amount_of(claims.guaranteed, type);
        row.borrowed = amount_of(claims.borrowed, type);
        row.in_use = amount_of(use_of(key), type);
        row.headroom = contract ? headroom_of(*contract->contract, claims, type) : 0;
        row.excess = contract ? excess_of(*contract->contract, claims, type) : row.claimed + row.borrowed;
        if (row.state == "active")
            row.lendable = std::min(lend_limit_of(row).value_or(row.guaranteed),
                                    std::max<Gpus>(0, row.guaranteed - row.claimed - row.borrowed));
        row.queued_jobs = claims.queued_jobs;
        if (contract && contract->contract->budget)
            row.budget = standing_of(*contract->contract, input_.now.ledger.base().budgets, input_.now_s);
        const bool named = contract && contract->contract->capacity.contains(type);
        if (!named && row.claimed == 0 && row.borrowed == 0 && row.in_use == 0) return {};
        return row;
    }

    std::string state_of(const PolicyContract* contract) const {
        if (!contract) return "none";
        if (contract->state == ContractState::active && !contract->active_at(input_.now_s)) return "not in force";
        return to_string(contract->state);
    }

    /// R14, by claims.
    std::optional<Gpus> borrowable(const std::vector<StatusRow>& rows, const PoolStatus& totals) const {
        bool limited = false;
        Gpus lendable = std::max<Gpus>(0, totals.available - totals.guaranteed), excess = 0;
        for (const auto& row : rows) {
            const bool in_force = row.state == "active";
            limited = limited || (in_force && lend_limit_of(row));
            lendable += row.lendable;
            excess += in_force ? row.excess : row.claimed + row.borrowed;
        }
        if (totals.available < totals.guaranteed) return 0;
        return limited ? std::optional(std::max<Gpus>(0, lendable - excess)) : std::nullopt;
    }

    std::optional<Gpus> lend_limit_of(const StatusRow& row) const {
        const auto found = contracts_.find(row.contract);
        if (found == contracts_.end()) return std::nullopt;
        const auto capacity = found->second->contract->capacity.find(row.gpu_type);
        return capacity == found->second->contract->capacity.end() ? std::nullopt : capacity->second.lend_limit;
    }

    const GpuVector& use_of(const std::string& key) const {
        static const GpuVector none;
        const auto found = in_use_.find(key);
        return found == in_use_.end() ? none : found->second;
    }

    /// What is used beyond guarantees comes first from GPUs that no contract owns, then from idle guarantees.
    static void settle_loans(std::vector<StatusRow>& rows, PoolStatus& totals) {
        Gpus beyond = 0;
        std::vector<Gpus> idle;
        for (const auto& row : rows) {
            const Gpus guaranteed = row.state == "active" ? row.guaranteed : 0;
            totals.guaranteed += guaranteed;
            totals.in_use += row.in_use;
            beyond += std::max<Gpus>(0, row.in_use - guaranteed);
            idle.push_back(std::max<Gpus>(0, guaranteed - row.in_use));
        }
        const Gpus unowned = std::max<Gpus>(0, totals.capacity - totals.guaranteed);
        const auto lent = share_out(std::max<Gpus>(0, beyond - unowned), idle);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].lent = lent[i];
            totals.lent += lent[i];
        }
    }

    const StatusInput& input_;
    std::map<std::string, const PolicyContract*> contracts_;
    std::map<std::string, GpuVector> in_use_;
    std::set<std::string> keys_;
};

}  // namespace

Status status_of(const StatusInput& input) { return Builder(input).build(); }

std::vector<Gpus> share_out(Gpus total, const std::vector<Gpus>& most) {
    const Gpus sum = std::accumulate(most.begin(), most.end(), Gpus{0});
    total = std::min(total, sum);
    std::vector<Gpus> parts(most.size(), 0);
    if (total <= 0) return parts;
    std::vector<std::size_t> order(most.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = 0; i < most.size(); ++i) parts[i] = most[i] * total / sum;
    std::stable_sort(order.begin(), order.end(),
                     [&](auto left, auto right) { return most[left] * total % sum > most[right] * total % sum; });
    Gpus rest = total - std::accumulate(parts.begin(), parts.end(), Gpus{0});
    for (auto part = order.begin(); rest > 0; ++part, --rest) ++parts[*part];
    return parts;
}

}  // namespace accord
