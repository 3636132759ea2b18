// SPDX-License-Identifier: GPL-2.0-or-later
#include "model.hpp"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "catch.hpp"
#include "contract/config_toml.hpp"

namespace accord::test {
namespace {

template <typename T>
T must(Result<T> result) {
    INFO((result ? "" : result.error().what));
    REQUIRE(result);
    return std::move(*result);
}

}  // namespace

Model::Model(std::vector<Contract> contracts, const std::string& settings) {
    write_text(dir_ / "accord.toml", settings + "\ncluster = \"demo\"\nexempt_users = []\n[store]\ndir = \"" +
                                         dir_.path() + "\"\n[accordd]\nsettle = \"15s\"\n[[pool]]\npartition = \"gpu\"\n"
                                         "lend_partition = \"gpu-lend\"\ngpus = { a100 = 16 }\n[governance]\n"
                                         "acknowledgements = []\nfour_eyes = false\n");
    writer_ = must(JournalWriter::open(dir_ / "journal", 0));
    apply(std::move(contracts));
    start_accordd();
    pass();  // writes the first ledger, which has the cluster's shape
}

void Model::apply(std::vector<Contract> contracts) {
    auto db = must(ContractsDb::open(dir_ / "contracts.db", ContractsDb::Open::read_write));
    std::vector<ContractFile> files;
    ResolvedMembers members;
    members.names = {{nobody, "nobody"}};
    for (auto& contract : contracts) {
        contract.members.users = {"nobody"};
        members.uids_by_contract[contract.key()] = {nobody};
        const auto text = contract.key() + std::to_string(contract.capacity["a100"].guaranteed) + " " +
                          std::to_string(contract.budget ? contract.budget->gpu_hours : 0) + " " +
                          std::to_string(contract.valid_until_s);
        files.push_back({contract.account + ".toml", text, contract});
    }
    const Actor actor{0, 0, "gpu-ops"};
    must(db.apply(files, must(load_config(dir_ / "accord.toml")), actor, wall_s_));
    must(db.set_members(members, actor, wall_s_));
}

void Model::start_accordd() {
    Clocks clocks{[this] { return steady_ += std::chrono::microseconds(1); }, [this] { return wall_s_; }};
    daemon_ = std::make_unique<Daemon>(must(PolicyWatch::open(dir_ / "accord.toml")), *this, "ctl1", std::move(clocks));
}

void Model::pass() {
    const auto done = daemon_->pass();
    INFO((done ? "" : done.error().what));
    REQUIRE(done);
    take_over_files();
}

void Model::follow() {
    for (int i = 0; i < 3; ++i) {
        wait(1);
        pass();
    }
}

/// What the plugin's thread does when a file has changed.
void Model::take_over_files() {
    std::vector<StoredContract> known;
    const auto db = must(ContractsDb::open(dir_ / "contracts.db", ContractsDb::Open::read_only));
    policy_ = must(load_policy(must(load_config(dir_ / "accord.toml")), db, known));
    if (auto base = read_ledger(dir_ / "ledger")) ledger_.rebase(std::make_shared<const LedgerBase>(std::move(*base)));
}

void Model::restart_slurmctld() {
    ledger_ = Ledger();
    take_over_files();
    for (const auto& made : journal()) apply_to_ledger(ledger_, made.id.number, made.decision);
}

DecisionId Model::record(Decision decision) {
    JournalRecord made;
    made.decision = std::move(decision);
    made.inputs = "{}";
    const auto id = must(writer_->append(made));
    apply_to_ledger(ledger_, id.number, made.decision);
    return id;
}

std::uint32_t Model::submit(Gpus gpus, bool made, const std::string& account) {
    const auto request = batch("gres:gpu:a100:" + std::to_string(gpus), account, nobody);
    const auto decision = decide(*policy_, ledger_, request, wall_s_).value();
    const auto id = record(decision);
    return decision.allows() && made ? admit(request, decision, id) : 0;
}

std::uint32_t Model::submit_array(const char* indices) {
    auto request = batch("gres:gpu:a100:1", "vision-lab", nobody);
    request.type = WorkloadType::array;
    request.array = parse_array(indices);
    const auto decision = decide(*policy_, ledger_, request, wall_s_).value();
    const auto id = record(decision);
    if (!decision.allows()) return 0;
    const auto job_id = admit(request, decision, id);
    auto& job = jobs_.at(job_id);
    job.array_job_id = job_id;
    job.array = request.array;
    throttle(job_id, decision.rewrite.array_limit.value_or(request.array->limit.value_or(0)));
    return job_id;
}

/// All records of an array show the one throttle.
void Model::throttle(std::uint32_t array_job_id, std::int64_t throttle) {
    for (auto& [id, job] : jobs_) {
        if (job.array_job_id != array_job_id) continue;
        job.array_limit = throttle == 0 ? std::nullopt : std::optional(throttle);
        if (job.array) job.array->limit = job.array_limit;
    }
}

bool Model::set_throttle(std::uint32_t array_job_id, std::int64_t to, bool by_operator) {
    throttle(array_job_id, to);
    Change change;
    change.array_limit = to;
    change.asks = {"ArrayTaskThrottle"};
    const auto decision = modify(array_job_id, change, by_operator);
    return !decision || decision->allows();
}

std::uint32_t Model::admit(const JobRequest& request, const Decision& decision, const DecisionId& id) {
    JobView job = listed(++last_job_, decision.rewrite.partition, 0);
    job.uid = nobody;
    job.account = *request.account;
    job.gpus = request.gpus;
    job.type = request.type;
    job.admin_comment = comment_of(id);
    job.hold = decision.rewrite.hold ? Hold::user : Hold::none;
    job.site_factor = decision.rewrite.site_factor;
    job.submit_s = wall_s_;
    jobs_[job.job_id] = job;
    return job.job_id;
}

std::optional<Decision> Model::modify(std::uint32_t job_id, const Change& change, bool by_operator) {
    Modification modification;
    modification.job = jobs_.at(job_id);
    modification.job_name = std::to_string(job_id);
    modification.caller_uid = by_operator ? ::geteuid() : nobody;
    modification.by_operator = by_operator;
    modification.change = change;
    auto decision = decide_modification(*policy_, ledger_, modification, wall_s_);
    if (decision) record(*decision);
    return decision;
}

bool Model::user_change(std::uint32_t job_id, PriorityChange priority) {
    Change change;
    change.priority = priority;
    const auto decision = modify(job_id, change, false);
    if (decision && !decision->allows()) return false;
    auto& job = jobs_.at(job_id);
    // Slurm keeps an administrator's hold whatever the user asks for.
    if (job.hold != Hold::admin) job.hold = priority == PriorityChange::hold ? Hold::user : Hold::none;
    return true;
}

void Model::start(std::uint32_t job_id) {
    auto& job = jobs_.at(job_id);
    job.state = JobState::running;
    job.start_s = wall_s_;
    job.allocated = {{"a100", std::stol(job.gpus.tres_per_job->substr(job.gpus.tres_per_job->rfind(':') + 1))}};
}

/// Requeued by slurmctld: pending at once, while the owner starts where it ran.
void Model::preempt(std::uint32_t job_id, std::uint32_t owner) {
    auto& job = jobs_.at(job_id);
    job.state = JobState::pending;
    ++job.restarts;
    job.submit_s = wall_s_;
    job.allocated.clear();
    start(owner);
    jobs_.at(owner).nodes = job.nodes;
}

Result<ClusterSettings> Model::settings() {
    if (down) return fail("unavailable", "slurmctld: does not answer");
    return ClusterSettings{"slurm", static_cast<std::uint32_t>(::geteuid()), {"ctl1"}, prolog_at_allocation};
}

Result<ClusterShape> Model::shape() {
    if (down) return fail("unavailable", "slurmctld: does not answer");
    ClusterShape shape;
    shape.default_partition = "gpu";
    for (const auto* name : {"gpu", "gpu-lend"}) shape.partitions[name] = partition_of(name, "a100", 4, 4);
    return shape;
}

Result<bool> Model::jobs(std::vector<JobView>& list) {
    if (down) return fail("unavailable", "slurmctld: does not answer");
    if (sees_no_change && !std::exchange(change_expected_, false)) return false;
    list.clear();
    for (const auto& [id, job] : jobs_) list.push_back(job);
    return true;
}

Result<void> Model::update(const JobUpdate& update) {
    ++updates;
    if (before_update) before_update();
    if (down) return fail("unavailable", "slurmctld: does not answer");
    if (!jobs_.contains(update.job_id)) return fail("refused", "Invalid job id specified");
    const auto job_id = update.array_task ? split(update.job_id, *update.array_task) : update.job_id;
    Change change;
    change.partition = update.partition;
    change.admin_comment = update.admin_comment;
    if (update.hold)
        change.priority = update.hold == HoldChange::release ? PriorityChange::release : PriorityChange::hold;
    if (update.array_limit) {
        throttle(update.job_id, *update.array_limit);
        change.array_limit = update.array_limit;
        change.asks = {"ArrayTaskThrottle"};
    }
    const auto decision = modify(job_id, change, true);
    if (decision && !decision->allows()) return fail("refused", "Access/permission denied");
    if (refuses_after_hook && refuses_after_hook()) return fail("refused", "Requested partition configuration not available now");
    auto& job = jobs_.at(job_id);
    if (update.partition) job.partition = *update.partition;
    if (update.site_factor) job.site_factor = update.site_factor;
    if (!update.hold) return {};
    job.hold = update.hold == HoldChange::release ? Hold::none
               : update.hold == HoldChange::user  ? Hold::user
                                                  : Hold::admin;
    return {};
}

/// The task gets a record of its own before anyone is asked (job_array_split, 22.05).
std::uint32_t Model::split(std::uint32_t array_job_id, std::uint32_t task) {
    auto& rest = jobs_.at(array_job_id);
    auto made = rest;
    made.job_id = ++last_job_;
    made.array.reset();
    made.array_task_id = task;
    std::string left;
    for (const auto other : rest.array->first(static_cast<std::size_t>(rest.array->tasks)))
        if (other != task) left += (left.empty() ? "" : ",") + std::to_string(other);
    rest.array->indices = left;
    --rest.array->tasks;
    jobs_[made.job_id] = made;
    return made.job_id;
}

Result<void> Model::cancel(std::uint32_t job_id) {
    if (down) return fail("unavailable", "slurmctld: does not answer");
    end(job_id);
    return {};
}

ContractClaims Model::counted(const std::string& contract) { return ledger_.of(contract); }

LedgerBase Model::ledger_file() const { return must(read_ledger(dir_ / "ledger")); }

std::vector<ActionRecord> Model::actions() const {
    return must(must(UsageDb::open(dir_ / "usage.db", UsageDb::Open::read_only)).actions());
}

std::vector<JournalRecord> Model::journal() const {
    std::vector<JournalRecord> records;
    must(JournalReader(dir_ / "journal", 0).read_new(0, [&](const JournalRecord& record) { records.push_back(record); }));
    return records;
}

}  // namespace accord::test
