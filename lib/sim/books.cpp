// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim/books.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace accord::sim {

namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

std::int64_t ninth_decile(std::vector<std::int64_t>& waits_s) {
    if (waits_s.empty()) return 0;
    const auto rank = (waits_s.size() * 9 + 9) / 10 - 1;
    std::nth_element(waits_s.begin(), waits_s.begin() + static_cast<std::ptrdiff_t>(rank), waits_s.end());
    return waits_s[rank];
}

double mean(const std::vector<std::int64_t>& values) {
    if (values.empty()) return 0;
    std::int64_t sum = 0;
    for (const auto value : values) sum += value;
    return static_cast<double>(sum) / static_cast<double>(values.size());
}

bool has_lend_limit(const Contract& contract) {
    return std::any_of(contract.capacity.begin(), contract.capacity.end(),
                       [](const auto& one) { return one.second.lend_limit.has_value(); });
}

double ratio(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Books::Books(const Policy& policy, const ClusterShape& shape, Scheduler& scheduler, PeriodOf period_of, std::int64_t now_s)
    : policy_(policy),
      scheduler_(scheduler),
      period_of_(std::move(period_of)),
      now_s_(now_s),
      base_(std::make_shared<LedgerBase>()) {
    base_->shape = shape;
    base_->taken_s = now_s;
    ledger_.rebase(base_);
    const auto& pools = policy.config().pools;
    for (std::size_t pool = 0; pool < pools.size(); ++pool)
        for (const auto& [type, capacity] : pools[pool].gpus) {
            std::vector<Gpus> nodes;
            for (const auto& node : shape.partition(pools[pool].partition)->nodes)
                if (const auto gpus = amount_of(node.gpus, type); gpus > 0) nodes.push_back(gpus);
            scheduler.add_ground(nodes, now_s);
            ground_places_.push_back({pool, type});
        }
    limited_.assign(pools.size(), false);
    for (const auto& contract : policy.contracts())
        for (std::size_t pool = 0; pool < pools.size(); ++pool)
            if (contract.contract->partition == pools[pool].partition && has_lend_limit(*contract.contract)) limited_[pool] = true;
    for (const auto& contract : policy.contracts()) (void)party(contract.contract->key());
}

std::size_t Books::party(std::string_view key) {
    const auto found = by_key_.find(std::string(key));
    return found == by_key_.end() ? add_party(std::string(key)) : found->second;
}

std::size_t Books::add_party(std::string key) {
    auto party = std::make_unique<Party>();
    party->contract = policy_.contract(key);
    party->claims = &base_->contracts[key];
    party->places.assign(ground_places_.size(), nowhere);
    party->slots.resize(ground_places_.size());
    party->metered_s = now_s_;
    party->counts.contract = party->key = key;
    parties_.push_back(std::move(party));
    by_key_.emplace(std::move(key), parties_.size() - 1);
    put_in_force(parties_.size() - 1, now_s_);
    return parties_.size() - 1;
}

std::size_t Books::place(std::size_t party, std::size_t ground) {
    auto& place = parties_[party]->places[ground];
    if (place == nowhere) place = scheduler_.ground(ground).meter.add_party();
    return place;
}

std::optional<std::size_t> Books::ground(const std::string& partition, const std::string& type) const {
    for (std::size_t at = 0; at < ground_places_.size(); ++at)
        if (ground_places_[at].type == type && policy_.config().pools[ground_places_[at].pool].partition == partition) return at;
    return std::nullopt;
}

Gpus& Books::of_member(ClaimSlots& slots, ContractClaims& claims, std::uint32_t uid, const std::string& type) {
    for (const auto& [member, gpus] : slots.by_member)
        if (member == uid) return *gpus;
    auto& gpus = claims.by_member[uid][type];
    constexpr std::size_t few = 8;
    if (slots.by_member.size() < few) slots.by_member.emplace_back(uid, &gpus);
    return gpus;
}

void Books::claim(std::size_t at, std::uint32_t uid, std::size_t ground, JobClass cls, Gpus more) {
    auto& party = *parties_[at];
    auto& slots = party.slots[ground];
    const auto& type = ground_places_[ground].type;
    if (slots.guaranteed == nullptr) {
        slots.guaranteed = &party.claims->guaranteed[type];
        slots.borrowed = &party.claims->borrowed[type];
        party.pool = ground_places_[ground].pool;
    }
    *(cls == JobClass::borrowed ? slots.borrowed : slots.guaranteed) += more;
    of_member(slots, *party.claims, uid, type) += more;
    if (limited_[party.pool]) ledger_.recount(party.key);
}

void Books::use(std::size_t party, std::size_t ground, Gpus more, std::int64_t now_s) {
    meter_budget(party, now_s);
    parties_[party]->in_use += more;
    scheduler_.ground(ground).meter.use(place(party, ground), more, now_s);
}

void Books::meter_budget(std::size_t at, std::int64_t now_s) {
    auto& party = *parties_[at];
    if (!period_of_ || party.contract == nullptr || !party.contract->contract->budget) return;
    auto& use = base_->budgets[party.key];
    while (true) {
        if (!use.period.contains(now_s) && now_s >= use.period.end_s) {
            use.gpu_s += party.in_use * use.period.overlap(party.metered_s, now_s);
            const auto next = period_of_(*party.contract->contract->budget, now_s);
            if (!next) break;
            use = {*next, 0, 0};
            party.metered_s = std::max(party.metered_s, next->start_s);
            continue;
        }
        use.gpu_s += party.in_use * use.period.overlap(party.metered_s, now_s);
        break;
    }
    party.metered_s = now_s;
}

void Books::put_in_force(std::size_t at, std::int64_t now_s) {
    auto& party = *parties_[at];
    if (party.contract == nullptr) return;
    const auto& contract = *party.contract->contract;
    const auto pool = std::find_if(policy_.config().pools.begin(), policy_.config().pools.end(),
                                   [&](const auto& one) { return one.partition == contract.partition; });
    if (pool == policy_.config().pools.end()) return;
    party.pool = static_cast<std::size_t>(pool - policy_.config().pools.begin());
    for (const auto& [type, capacity] : contract.capacity) {
        const auto on = ground(contract.partition, type);
        if (!on) continue;
        const bool in_force = party.contract->active_at(now_s);
        scheduler_.ground(*on).meter.set_guarantee(place(at, *on), in_force ? capacity.guaranteed : 0,
                                                   capacity.lend_limit.value_or(std::numeric_limits<Gpus>::max()), now_s);
    }
}

void Books::put_in_force(std::int64_t now_s) {
    now_s_ = now_s;
    for (std::size_t party = 0; party < parties_.size(); ++party) put_in_force(party, now_s);
}

void Books::add_metered(std::vector<ContractTotals>& rows, Totals& totals, std::int64_t span_s, std::int64_t last_s) {
    std::vector<std::int64_t> used(totals.pools.size(), 0);
    for (std::size_t ground = 0; ground < ground_places_.size(); ++ground) {
        auto& meter = scheduler_.ground(ground).meter;
        const auto metered = meter.totals(last_s);
        auto& pool = totals.pools[ground_places_[ground].pool];
        pool.unowned_gpu_s += meter.unowned_gpu_s();
        pool.capacity_gpu_s += scheduler_.ground(ground).nodes.capacity() * span_s;
        for (std::size_t party = 0; party < parties_.size(); ++party) {
            const auto place = parties_[party]->places[ground];
            if (place == nowhere) continue;
            rows[party].allocated_gpu_s += metered[place].allocated_gpu_s;
            rows[party].borrowed_gpu_s += metered[place].borrowed_gpu_s;
            rows[party].lent_gpu_s += metered[place].lent_gpu_s;
            used[ground_places_[ground].pool] += metered[place].allocated_gpu_s + metered[place].borrowed_gpu_s;
        }
    }
    std::int64_t used_in_all = 0;
    for (std::size_t pool = 0; pool < used.size(); ++pool) {
        used_in_all += used[pool];
        totals.pools[pool].utilisation = ratio(used[pool], totals.pools[pool].capacity_gpu_s);
        totals.all.unowned_gpu_s += totals.pools[pool].unowned_gpu_s;
        totals.all.capacity_gpu_s += totals.pools[pool].capacity_gpu_s;
    }
    totals.all.utilisation = ratio(used_in_all, totals.all.capacity_gpu_s);
}

Totals Books::totals(std::int64_t first_s, std::int64_t last_s) {
    Totals totals;
    for (const auto& pool : policy_.config().pools) totals.pools.push_back({pool.partition, 0, 0, 0});
    std::vector<ContractTotals> rows;
    for (const auto& party : parties_) {
        rows.push_back(party->counts);
        rows.back().wait_s_mean = mean(party->waits_s);
        rows.back().wait_s_p90 = ninth_decile(party->waits_s);
    }
    add_metered(rows, totals, last_s - first_s, last_s);
    for (std::size_t party = 0; party < rows.size(); ++party)
        if (parties_[party]->contract != nullptr || rows[party].jobs > 0) totals.contracts.push_back(std::move(rows[party]));
    std::sort(totals.contracts.begin(), totals.contracts.end(),
              [](const auto& left, const auto& right) { return left.contract < right.contract; });
    return totals;
}

}  // namespace accord::sim
