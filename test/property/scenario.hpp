// SPDX-License-Identifier: GPL-2.0-or-later
// Random clusters, requests and happenings for the laws.
#pragma once

#include <rapidcheck.h>

#include "property/model.hpp"

namespace accord::test {

inline std::optional<Gpus> maybe_limit(Gpus most) {
    const auto limit = *rc::gen::inRange<Gpus>(-most / 2, most + 1);
    return limit < 0 ? std::nullopt : std::optional(limit);
}

/// A lend limit of one contract makes all of its pool's excess each other's concern.
enum class LendLimits { none, some };

/// Terms with a guarantee of at most `most`.
inline Contract any_terms(const std::string& account, Gpus most, LendLimits lend_limits = LendLimits::some) {
    auto contract = contract_for(account, *rc::gen::inRange<Gpus>(0, most + 1), maybe_limit(8));
    if (lend_limits == LendLimits::some && *rc::gen::inRange(0, 4) == 0) contract.capacity["a100"].lend_limit = *rc::gen::inRange<Gpus>(0, 9);
    contract.share = *rc::gen::inRange<std::int64_t>(1, 4);
    contract.reclaim.interactive_may_borrow = *rc::gen::arbitrary<bool>();
    contract.reclaim.max_preemptions = *rc::gen::inRange<std::int64_t>(1, 4);
    if (*rc::gen::inRange(0, 6) == 0) contract.members.max_gpus_per_user = *rc::gen::inRange<Gpus>(4, 12);
    return contract;
}

/// Up to four contracts lab0, lab1, ... in partition gpu, whose guarantees fit the pool (R10).
inline World any_world(LendLimits lend_limits = LendLimits::some) {
    World world;
    Gpus left = 16;
    const auto contracts = *rc::gen::inRange(1, 5);
    for (int index = 0; index < contracts; ++index) {
        auto contract = any_terms("lab" + std::to_string(index), left, lend_limits);
        left -= contract.capacity.at("a100").guaranteed;
        world.contracts.push_back(in_force(std::move(contract), {vision1, speech1}));
    }
    return world;
}

inline JobRequest any_request(const Policy& policy) {
    const auto lab = *rc::gen::inRange<std::size_t>(0, policy.contracts().size());
    const auto gpus = *rc::gen::inRange(0, 7);
    auto request = batch(gpus == 0 ? "" : "gres:gpu:" + std::to_string(gpus), "lab" + std::to_string(lab),
                         *rc::gen::element(vision1, speech1));
    request.requeueable = *rc::gen::weightedElement<bool>({{4, true}, {1, false}});
    request.type = *rc::gen::weightedElement<WorkloadType>(
        {{3, WorkloadType::batch}, {2, WorkloadType::array}, {1, WorkloadType::interactive}});
    request.held = *rc::gen::weightedElement<bool>({{1, true}, {5, false}});
    if (request.type == WorkloadType::array) {
        request.array = parse_array("0-" + std::to_string(*rc::gen::inRange(0, 12)));
        if (*rc::gen::arbitrary<bool>()) request.array->limit = *rc::gen::inRange<std::int64_t>(1, 6);
    }
    return request;
}

/// What a history has in it beside submissions and what becomes of them.
enum class Histories {
    steady,  ///< contracts stay as they are, and no user requeues a job that has ended
    wild,
};

/// The guarantee that is left for one contract by the others' (R10).
inline Gpus left_for(const Model& model, std::size_t index) {
    Gpus left = 16;
    const auto& contracts = model.policy().contracts();
    for (std::size_t other = 0; other < contracts.size(); ++other)
        if (other != index) left -= contracts[other].contract->capacity.at("a100").guaranteed;
    return left;
}

inline void any_change(Model& model) {
    const auto index = *rc::gen::inRange<std::size_t>(0, model.policy().contracts().size());
    const auto account = model.policy().contracts()[index].contract->account;
    const auto state = *rc::gen::weightedElement<ContractState>(
        {{6, ContractState::active}, {2, ContractState::suspended}, {1, ContractState::expired}, {1, ContractState::revoked}});
    RC_LOG() << account << " is " << to_string(state) << "\n";
    model.change_contract(index, any_terms(account, left_for(model, index)), state);
}

inline void any_time(Model& model) {
    const auto seconds = *rc::gen::element<std::int64_t>(1, 30, 60, 130, 4'000);
    RC_LOG() << seconds << " s pass\n";
    model.wait(seconds);
}

inline void any_capacity(Model& model) {
    const auto node = *rc::gen::inRange<std::size_t>(0, 4);
    const bool available = *rc::gen::arbitrary<bool>();
    RC_LOG() << "node " << node << (available ? " is there\n" : " drains\n");
    model.set_available(node, available);
}

inline void any_pass(Model& model) {
    for (const auto& decision : model.pass()) RC_LOG() << "accordd: " << decision.message << "\n";
}

inline void happens_to(Model& model, std::size_t index, int what, Histories histories) {
    const auto& job = model.jobs()[index];
    RC_LOG() << "job " << job.job_id << (what < 3 ? " may start\n" : what == 3 ? " ends\n" : " meets its user\n");
    if (what < 3) return model.start(index);
    if (what == 3) return model.end(index);
    const bool requeues = *rc::gen::arbitrary<bool>();
    if (requeues && (histories == Histories::wild || job.state == JobState::running)) return model.requeue(index);
    const auto change = *rc::gen::element(PriorityChange::hold, PriorityChange::release);
    const auto decision = model.owner_changes(index, change);
    RC_LOG() << "owner of " << job.job_id << ": " << (decision ? decision->message : "passes") << "\n";
}

/// Lets one thing happen, and tells it, for the report of a law that does not hold.
inline void any_step(Model& model, Histories histories) {
    const auto what = *rc::gen::inRange(0, histories == Histories::wild ? 15 : 14);
    if (what < 4 || model.jobs().empty()) {
        RC_LOG() << model.submit(any_request(model.policy())).message << "\n";
        return;
    }
    switch (what) {
        case 9: return model.take_snapshot();
        case 10:
        case 11: return any_pass(model);
        case 12: return any_time(model);
        case 13: return any_capacity(model);
        case 14: return any_change(model);
        default:
            return happens_to(model, *rc::gen::inRange<std::size_t>(0, model.jobs().size()), what - 4, histories);
    }
}

/// A model after up to `most` things have happened; `after_each` sees it after each of them.
template <typename AfterEach>
Model any_history(int most, Histories histories, AfterEach after_each) {
    Model model(any_world());
    const auto steps = *rc::gen::inRange(1, most + 1);
    for (int step = 0; step < steps; ++step) {
        any_step(model, histories);
        after_each(model);
    }
    return model;
}

inline Model any_history(int most, Histories histories = Histories::steady) {
    return any_history(most, histories, [](const Model&) {});
}

}  // namespace accord::test
