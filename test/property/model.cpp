// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld, plugin and accordd do in the model.
#include "property/model.hpp"

#include <algorithm>

namespace accord::test {

void Model::record(const Decision& decision) {
    journal_.push_back(decision);
    apply_to_ledger(ledger_, journal_.size(), decision);
    const auto own = decision.kind == DecisionKind::submission ? journal_.size() : decision.job_decision->number;
    if (decision.cls) {
        facts_.try_emplace(own, JobFacts{{0, own}, decision.time_s});
        facts_[own].classify(*decision.cls, decision.reason);
    }
    if (decision.user_hold) facts_[own].user_wants_hold = *decision.user_hold;
    if (decision.throttle) facts_[own].throttle = decision.throttle;
}

Decision Model::submit(const JobRequest& request) {
    auto decision = decide(policy_, ledger_, request, noon).value();
    record(decision);
    if (decision.allows()) make_job(request, decision);
    return decision;
}

void Model::make_job(const JobRequest& request, const Decision& decision) {
    auto& made = jobs_.emplace_back();
    made.job_id = ++last_job_;
    made.uid = request.uid;
    made.account = decision.rewrite.account;
    made.partition = decision.rewrite.partition;
    made.hold = decision.rewrite.hold || request.held ? Hold::user : Hold::none;
    made.admin_comment = comment_of(DecisionId{0, journal_.size()});
    made.type = request.type;
    made.requeueable = request.requeueable;
    made.gpus = request.gpus;
    if (!request.array) return;
    made.array_job_id = made.job_id;
    made.array = request.array;
    if (decision.rewrite.array_limit) made.array->limit = decision.rewrite.array_limit;
    made.array_limit = made.array->limit;
}

std::optional<Decision> Model::owner_changes(std::size_t index, PriorityChange priority) {
    auto& changed = jobs_.at(index);
    auto decision = decide_modification(policy_, ledger_, {changed, "1", changed.uid, false, {.priority = priority}}, noon);
    if (decision) record(*decision);
    if ((decision && !decision->allows()) || changed.state != JobState::pending) return decision;
    if (priority == PriorityChange::hold && changed.hold == Hold::none) changed.hold = Hold::user;
    if (priority == PriorityChange::release && changed.hold == Hold::user) changed.hold = Hold::none;
    return decision;
}

/// Slurm's throttle counts an array's tasks over all partitions.
bool Model::throttled(std::uint32_t array_job_id) {
    const auto running = std::count_if(jobs_.begin(), jobs_.end(), [&](const JobView& one) {
        return one.array_job_id == array_job_id && one.holds_resources();
    });
    const auto limit = job(array_job_id).array->limit;
    return limit && running >= *limit;
}

void Model::start(std::size_t index) {
    auto& started = jobs_.at(index);
    if (started.state != JobState::pending || started.hold != Hold::none) return;
    if (started.array_job_id != 0 && throttled(started.array_job_id)) return;
    if (!started.array) {
        started.state = JobState::running;
        return;
    }
    auto task = started;
    task.job_id = ++last_job_;
    task.array.reset();
    task.array_task_id = static_cast<std::uint32_t>(started.array->tasks);
    task.state = JobState::running;
    if (--started.array->tasks == 0) started.state = JobState::ended;
    jobs_.push_back(std::move(task));
}

void Model::requeue(std::size_t index) {
    auto& requeued = jobs_.at(index);
    if (requeued.state == JobState::running) requeued.state = JobState::pending;
}

void Model::end(std::size_t index) { jobs_.at(index).state = JobState::ended; }

std::vector<GovernedJob> Model::governed() const {
    return governed_jobs(policy_, world_.shape, jobs_, noon, [&](const JobView& view) -> std::optional<JobFacts> {
        const auto own = decision_in_comment(view.admin_comment);
        const auto known = own ? facts_.find(own->number) : facts_.end();
        return known == facts_.end() ? std::nullopt : std::optional(known->second);
    });
}

void Model::take_snapshot() {
    auto base = std::make_shared<LedgerBase>();
    base->shape = world_.shape;
    base->resolved_through = journal_.size();
    const auto counted = governed();
    base->contracts = claims_of(counted);
    for (const auto& one : counted)
        if (one.cls == JobClass::queued) base->queued.insert(decision_in_comment(one.job->admin_comment)->number);
    ledger_.rebase(std::move(base));
}

std::vector<Action> Model::planned() const {
    std::unordered_map<std::string, ContractClaims> claims;
    for (const auto& contract : policy_.contracts())
        claims[contract.contract->key()] = ledger_.of(contract.contract->key());
    return plan(policy_, world_.shape, governed(), std::move(claims), ledger_.base().budgets, noon);
}

std::vector<Decision> Model::pass() {
    std::vector<Decision> decisions;
    for (const auto& action : planned()) {
        const ActionMark mark{journal_.size() + 1, action.to};
        const Modification update{job(action.job_id),
                                  std::to_string(action.job_id),
                                  slurm_user,
                                  true,
                                  {.partition = action.partition, .admin_comment = comment_of(mark)}};
        decisions.push_back(decide_modification(policy_, ledger_, update, noon).value());
        record(decisions.back());
        if (decisions.back().allows()) carry_out(action);
    }
    return decisions;
}

void Model::carry_out(const Action& action) {
    auto& updated = job(action.job_id);
    updated.partition = action.partition;
    if (action.begin_s) updated.begin_s = *action.begin_s;
    if (action.to == JobClass::queued) updated.hold = action.parks() ? Hold::none : Hold::admin;
    else if (action.kind != ActionKind::demote) updated.hold = action.user_hold ? Hold::user : Hold::none;
}

JobView& Model::job(std::uint32_t job_id) {
    for (auto& one : jobs_)
        if (one.job_id == job_id) return one;
    return jobs_.front();
}

}  // namespace accord::test
