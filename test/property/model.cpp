// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld, plugin and accordd do in the model.
#include "property/model.hpp"

#include <algorithm>

#include "policy/governed.hpp"

namespace accord::test {

namespace {

/// Slurm lets a requeued job begin only after the credential of its run before has expired.
constexpr std::int64_t requeue_wait_s = 121;

void note(JobFacts& facts, const Decision& decision) {
    if (decision.cls) facts.classify(*decision.cls, decision.reason, decision.time_s);
    if (decision.user_hold) facts.user_wants_hold = *decision.user_hold;
    if (decision.throttle) facts.throttle = decision.throttle;
}

}  // namespace

void Model::record(const Decision& decision) {
    journal_.push_back(decision);
    apply_to_ledger(ledger_, journal_.size(), decision);
    const auto own = decision.kind == DecisionKind::submission ? journal_.size() : decision.job_decision->number;
    const auto [known, is_new] = facts_.try_emplace(own, JobFacts{{0, own}, decision.time_s});
    const bool of_task = decision.job_id && job(*decision.job_id).array_task_id;
    if (!of_task) return note(known->second, decision);
    note(facts_of_tasks_.try_emplace(*decision.job_id, known->second).first->second, decision);
}

Decision Model::submit(const JobRequest& request) {
    auto decision = decide(policy_, ledger_, request, now_s_).value();
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
    made.submit_s = now_s_;
    if (!request.array) return;
    made.array_job_id = made.job_id;
    made.array = request.array;
    if (decision.rewrite.array_limit) made.array->limit = decision.rewrite.array_limit;
    made.array_limit = made.array->limit;
}

std::optional<Decision> Model::owner_changes(std::size_t index, PriorityChange priority) {
    auto& changed = jobs_.at(index);
    auto decision =
        decide_modification(policy_, ledger_, {changed, "1", changed.uid, false, {.priority = priority}}, now_s_);
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
    const auto limit = job(array_job_id).array_limit;
    return limit && running >= *limit;
}

Gpus Model::gpus_of_one(const JobView& one) const {
    return total(maxima(gpus_of(one, world_.config.pools[0], world_.shape)));
}

Gpus Model::idle() const {
    Gpus idle = total(world_.shape.partition("gpu")->available_capacity());
    for (const auto& one : jobs_)
        if (one.holds_resources()) idle -= gpus_of_one(one);
    return idle;
}

void Model::preempt(JobView& victim) {
    auto& [times, last_s] = preempted_[victim.job_id];
    ++times;
    last_s = now_s_;
    victim.state = victim.type == WorkloadType::interactive || !victim.requeueable ? JobState::ended : JobState::pending;
    ++victim.restarts;
    victim.begin_s = now_s_ + requeue_wait_s;
}

/// No job is preempted for one that could not start even then.
bool Model::make_room(Gpus gpus) {
    Gpus lent = 0;
    std::vector<JobView*> victims;
    for (auto& one : jobs_)
        if (one.state == JobState::running && one.partition == "gpu-lend") {
            victims.push_back(&one);
            lent += gpus_of_one(one);
        }
    if (idle() + lent < gpus) return false;
    for (auto victim = victims.rbegin(); idle() < gpus; ++victim) preempt(**victim);
    return true;
}

void Model::start(std::size_t index) {
    const auto& ready = jobs_.at(index);
    if (ready.state != JobState::pending || ready.hold != Hold::none || ready.begin_s > now_s_) return;
    if (ready.array_job_id != 0 && throttled(ready.array_job_id)) return;
    const auto gpus = gpus_of_one(ready);
    if (idle() < gpus && (ready.partition != "gpu" || !make_room(gpus))) return;
    auto& started = ready.array && !ready.array_task_id ? split(ready.job_id, ready.array->first(1).front()) : jobs_.at(index);
    started.state = JobState::running;
    started.start_s = now_s_;
}

/// The task gets a record of its own.
JobView& Model::split(std::uint32_t array_job_id, std::uint32_t task) {
    auto& rest = job(array_job_id);
    std::string left;
    for (const auto other : rest.array->first(static_cast<std::size_t>(rest.array->tasks)))
        if (other != task) left += (left.empty() ? "" : ",") + std::to_string(other);
    auto made = rest;
    made.job_id = ++last_job_;
    made.array.reset();
    made.array_task_id = task;
    rest.array->indices = left;
    if (--rest.array->tasks == 0) rest.state = JobState::ended;
    return jobs_.emplace_back(std::move(made));
}

void Model::requeue(std::size_t index) {
    auto& requeued = jobs_.at(index);
    const bool was_rest = requeued.array && !requeued.array_task_id;
    if (requeued.state == JobState::pending || requeued.start_s == 0 || was_rest) return;
    requeued.state = JobState::pending;
    ++requeued.restarts;
    requeued.begin_s = now_s_ + requeue_wait_s;
}

void Model::end(std::size_t index) { jobs_.at(index).state = JobState::ended; }

void Model::set_available(std::size_t node, bool available) {
    world_.shape.partitions["gpu"].nodes.at(node).available = available;
}

void Model::change_contract(std::size_t index, Contract terms, ContractState state) {
    auto& changed = world_.contracts.at(index);
    changed.contract = std::make_shared<const Contract>(std::move(terms));
    changed.state = state;
    policy_ = world_.policy();
}

std::optional<JobFacts> Model::facts_of(const JobView& view) const {
    const auto own = decision_in_comment(view.admin_comment);
    const auto known = own ? facts_.find(own->number) : facts_.end();
    if (known == facts_.end()) return std::nullopt;
    const auto of_task = facts_of_tasks_.find(view.job_id);
    auto facts = of_task == facts_of_tasks_.end() ? known->second : of_task->second;
    facts.throttle = known->second.throttle;
    if (const auto preempted = preempted_.find(view.job_id); preempted != preempted_.end()) {
        facts.preemptions = preempted->second.times;
        facts.last_preempted_s = preempted->second.last_s;
    }
    if (const auto sent = sent_back_s_.find(view.job_id); sent != sent_back_s_.end()) facts.sent_back_s = sent->second;
    return facts;
}

std::vector<GovernedJob> Model::governed() const {
    return governed_jobs(policy_, world_.shape, jobs_, now_s_, [&](const JobView& view) { return facts_of(view); });
}

void Model::take_snapshot() {
    auto base = std::make_shared<LedgerBase>();
    base->shape = world_.shape;
    base->resolved_through = journal_.size();
    const auto listed = governed();
    base->contracts = claims_of(listed);
    for (const auto& one : listed) {
        const auto decision = decision_in_comment(one.job->admin_comment)->number;
        if (one.cls == JobClass::queued) base->queued.insert(decision);
        else if (one.job->array_job_id != 0) base->released[decision].insert(one.job->job_id);
    }
    ledger_.rebase(std::move(base));
}

std::unordered_map<std::string, ContractClaims> Model::counted() const {
    std::unordered_map<std::string, ContractClaims> claims;
    for (const auto& contract : policy_.contracts())
        claims[contract.contract->key()] = ledger_.of(contract.contract->key());
    return claims;
}

std::vector<Action> Model::planned() const {
    return plan(policy_, world_.shape, governed(), counted(), ledger_.base().budgets, now_s_);
}

std::vector<Decision> Model::pass(const AfterAction& after_each) {
    std::vector<Decision> decisions;
    for (const auto& action : planned()) {
        if (action.kind == ActionKind::cancel) {
            job(action.job_id).state = JobState::ended;
            continue;
        }
        auto& updated = action.task ? split(action.job_id, *action.task) : job(action.job_id);
        const auto job_id = updated.job_id;
        const ActionMark mark{journal_.size() + 1, action.to};
        const Modification update{updated,
                                  std::to_string(job_id),
                                  slurm_user,
                                  true,
                                  {.partition = action.partition, .admin_comment = comment_of(mark)}};
        decisions.push_back(decide_modification(policy_, ledger_, update, now_s_).value());
        record(decisions.back());
        after_each(action, decisions.back());
        if (decisions.back().allows()) carry_out(job(job_id), action);
    }
    return decisions;
}

void Model::carry_out(JobView& updated, const Action& action) {
    updated.partition = action.partition;
    if (action.begin_s) updated.begin_s = *action.begin_s;
    if (action.to == JobClass::queued) updated.hold = action.parks() ? Hold::none : Hold::admin;
    else if (action.kind != ActionKind::demote) updated.hold = action.user_hold ? Hold::user : Hold::none;
    const bool sent_back = action.kind == ActionKind::demote &&
                           (action.reason == Reason::borrow_limit || action.reason == Reason::lend_limit);
    if (sent_back) sent_back_s_[action.job_id] = now_s_;
}

JobView& Model::job(std::uint32_t job_id) {
    for (auto& one : jobs_)
        if (one.job_id == job_id) return one;
    return jobs_.front();
}

}  // namespace accord::test
