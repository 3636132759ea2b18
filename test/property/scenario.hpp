// SPDX-License-Identifier: GPL-2.0-or-later
// Random clusters, requests and happenings for the laws.
#pragma once

#include <rapidcheck.h>

#include "property/model.hpp"

namespace accord::test {

/// Up to four contracts lab0, lab1, ... in partition gpu, whose guarantees fit the pool (R10).
inline World any_world() {
    World world;
    Gpus left = 16;
    const auto contracts = *rc::gen::inRange(1, 5);
    for (int index = 0; index < contracts; ++index) {
        const auto guaranteed = *rc::gen::inRange<Gpus>(0, left + 1);
        left -= guaranteed;
        const auto limit = *rc::gen::inRange<Gpus>(-4, 9);
        auto contract = contract_for("lab" + std::to_string(index), guaranteed,
                                     limit < 0 ? std::nullopt : std::optional(limit));
        contract.reclaim.interactive_may_borrow = *rc::gen::arbitrary<bool>();
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

/// Lets one thing happen, and tells it, for the report of a law that does not hold.
inline void any_step(Model& model) {
    const auto what = *rc::gen::inRange(0, 10);
    if (what < 4 || model.jobs().empty()) {
        RC_LOG() << model.submit(any_request(model.policy())).message << "\n";
        return;
    }
    const auto index = *rc::gen::inRange<std::size_t>(0, model.jobs().size());
    const auto job_id = model.jobs()[index].job_id;
    switch (what) {
        case 4:
            RC_LOG() << "job " << job_id << " may start\n";
            return model.start(index);
        case 5:
            RC_LOG() << "job " << job_id << " ends\n";
            return model.end(index);
        case 8:
            RC_LOG() << "job " << job_id << " is requeued if it runs\n";
            return model.requeue(index);
        case 6:
            RC_LOG() << "snapshot\n";
            return model.take_snapshot();
        case 7:
            for (const auto& decision : model.pass()) RC_LOG() << "accordd: " << decision.message << "\n";
            return;
        default:
            const auto change = *rc::gen::element(PriorityChange::hold, PriorityChange::release);
            const auto decision = model.owner_changes(index, change);
            RC_LOG() << "owner of " << job_id << ": " << (decision ? decision->message : "passes") << "\n";
    }
}

/// A model after up to `most` things have happened; `after_each` sees it after each of them.
template <typename AfterEach>
Model any_history(int most, AfterEach after_each) {
    Model model(any_world());
    const auto steps = *rc::gen::inRange(1, most + 1);
    for (int step = 0; step < steps; ++step) {
        any_step(model);
        after_each(model);
    }
    return model;
}

inline Model any_history(int most) {
    return any_history(most, [](const Model&) {});
}

}  // namespace accord::test
