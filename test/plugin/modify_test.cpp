// SPDX-License-Identifier: GPL-2.0-or-later
// Updates, holds and releases through the plugin, with the job as slurmctld has it (R17).
#include <slurm/slurm_errno.h>

#include "catch.hpp"
#include "root.hpp"
#include "site.hpp"
#include "slurm/compat.hpp"
#include "slurm/slurm_strings.hpp"
#include "slurmctld.hpp"

using namespace accord;

namespace {

constexpr auto partition = &job_desc_msg_t::partition;
constexpr auto account = &job_desc_msg_t::account;
constexpr auto admin_comment = &job_desc_msg_t::admin_comment;
constexpr auto tres_per_job = &job_desc_msg_t::tres_per_job;
constexpr std::uint32_t root = 0;

/// A job of vision1 as slurmctld lists it.
class ListedJob {
public:
    ListedJob(const std::string& partition_name, const std::string& comment, bool held) {
        info_.job_id = 17;
        info_.user_id = vision1;
        info_.array_task_id = NO_VAL;
        info_.batch_flag = 1;
        info_.job_state = JOB_PENDING;
        info_.priority = held ? 0 : 100'000;
        info_.state_reason = held ? WAIT_HELD_USER : WAIT_RESOURCES;
        info_.requeue = 1;
        info_.shared = NO_VAL16;
        info_.core_spec = NO_VAL16;
        info_.num_tasks = 1;
        info_.num_nodes = 1;
        info_.time_limit = 60;
        info_.site_factor = NICE_OFFSET;
        info_.account = text_("vision-lab");
        info_.partition = text_(partition_name);
        info_.admin_comment = text_(comment);
        info_.tres_per_job = text_("gres:gpu:4");
    }
    const slurm_job_info_t* operator&() const { return &info_; }

private:
    SlurmStrings text_;
    slurm_job_info_t info_{};
};

/// An update as scontrol sends it, of job 17.
class Update : public Request {
public:
    Update() : Request(vision1) {
        set(&job_desc_msg_t::script, "");
        set(&job_desc_msg_t::job_id_str, "17");
        desc().bitflags = 0x1e000000;
    }
};

/// A contract of four guaranteed GPUs that may not borrow, all claimed: the second job is queued.
struct QueuedJob {
    Site site;
    std::optional<OpenPlugin> plugin;

    QueuedJob() {
        site.apply("vision-lab", vision1, 4, [](Contract& contract) { contract.capacity["a100"].borrow_limit = 0; });
        plugin.emplace(site.config_path());
        static_cast<void>(take_log());
        for (int i = 0; i < 2; ++i) {
            Request request(vision1);
            request.set(tres_per_job, "gres:gpu:4");
            REQUIRE(plugin->submit(request.desc(), vision1).code == SLURM_SUCCESS);
        }
        REQUIRE(site.journal().back().decision.cls == JobClass::queued);
        REQUIRE(next_log(2).size() == 2);
    }
};

const std::string queued_comment = "accord:v1 decision=0-2";

}  // namespace

TEST_CASE("a queued job's owner can neither release it, nor set its priority, nor move it") {
    if (!is_root()) return;
    const QueuedJob world;
    const ListedJob job("gpu-lend", queued_comment, true);
    const auto refused = [&](Update& update, int code) {
        const HookAnswer answer = world.plugin->modify(update.desc(), &job, vision1);
        CHECK(answer.code == code);
        CHECK(answer.error_number == 0);
        CHECK(world.site.journal().back().decision.verdict == Verdict::rejected);
    };
    Update release, priority, move, change_account, comment;
    release->priority = INFINITE;
    refused(release, ESLURM_JOB_HELD);
    priority->priority = 5000;
    refused(priority, ESLURM_JOB_HELD);
    move.set(partition, "gpu");
    refused(move, ESLURM_JOB_HELD);
    change_account.set(account, "speech-lab");
    refused(change_account, ESLURM_ACCESS_DENIED);
    comment.set(admin_comment, "accord:v1 decision=0-1");
    refused(comment, ESLURM_ACCESS_DENIED);
}

TEST_CASE("a change that asks for more than the job's class allows is refused by the code that says it best") {
    if (!is_root()) return;
    const QueuedJob world;
    const ListedJob borrowed("gpu-lend", "accord:v1 decision=0-1", false), guaranteed("gpu", "accord:v1 decision=0-1", false);
    struct Refused {
        const ListedJob& job;
        const char* tres;
        Reason reason;
        int code;
    };
    const Refused cases[] = {{borrowed, "gres:gpu:8", Reason::impossible, ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE},
                             {guaranteed, "gres:gpu:a100:1,gres:gpu:4", Reason::impossible, ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE},
                             {guaranteed, "gres:gpu:v100:1,gres:gpu:4", Reason::gpu_type, ESLURM_INVALID_GRES_TYPE}};
    for (const auto& [job, tres, reason, code] : cases) {
        Update update;
        update.set(tres_per_job, tres);
        CHECK(world.plugin->modify(update.desc(), &job, vision1).code == code);
        CHECK(world.site.journal().back().decision.reason == reason);
    }
}

TEST_CASE("what asks for nothing passes without a record, what asks for no more with one") {
    if (!is_root()) return;
    const QueuedJob world;
    const ListedJob job("gpu", "accord:v1 decision=0-1", false);
    const auto records = world.site.journal().size();
    Update comment, time;
    comment.set(&job_desc_msg_t::comment, "note");
    CHECK(world.plugin->modify(comment.desc(), &job, vision1).code == SLURM_SUCCESS);
    CHECK(world.site.journal().size() == records);
    time->time_limit = 30;
    CHECK(world.plugin->modify(time.desc(), &job, vision1).code == SLURM_SUCCESS);
    const auto decision = world.site.journal().back().decision;
    CHECK(decision.cls == JobClass::guaranteed);
    CHECK(decision.claim.empty());
    CHECK(decision.message == "accord: job 17: TimeLimit changed: guaranteed, 4 a100 of vision-lab/gpu");
}

TEST_CASE("an operator's change that Slurm takes in part is written as Slurm holds it") {
    if (!is_root()) return;
    const QueuedJob world;
    const ListedJob job("gpu", "accord:v1 decision=0-1", false);
    Update update;
    update.set(tres_per_job, "gres:gpu:0");
    CHECK(world.plugin->modify(update.desc(), &job, root).code == SLURM_SUCCESS);
    CHECK(update.text(tres_per_job) == compat::spelled("gres/gpu:4"));
}

TEST_CASE("a job of another partition is its owner's to change") {
    if (!is_root()) return;
    const QueuedJob world;
    const ListedJob job("cpu", "", false);
    Update gpus;
    gpus.set(&job_desc_msg_t::tres_per_node, "gres:gpu:8");
    CHECK(world.plugin->modify(gpus.desc(), &job, vision1).code == SLURM_SUCCESS);
    Update move;
    move.set(partition, "gpu");
    CHECK(world.plugin->modify(move.desc(), &job, vision1).code == ESLURM_ACCESS_DENIED);
}

TEST_CASE("an operator's change is recorded and passes") {
    if (!is_root()) return;
    const QueuedJob world;
    const ListedJob job("gpu-lend", queued_comment, true);
    Update release;
    release->priority = INFINITE;
    for (const auto caller : {root, slurm_operator}) {
        CHECK(world.plugin->modify(release.desc(), &job, caller).code == SLURM_SUCCESS);
        const JournalRecord record = world.site.journal().back();
        CHECK(record.decision.kind == DecisionKind::modification);
        CHECK(record.decision.job_id == 17u);
        CHECK(record.job_decision == DecisionId{0, 2});
    }
}

TEST_CASE("accordd's promotion is checked against the claims, and its comment put back") {
    if (!is_root()) return;
    const QueuedJob world;
    const ListedJob job("gpu-lend", queued_comment, true);
    const auto promote = [&](Update& update) {
        update.set(admin_comment, "accord:v1 action=5 to=guaranteed").set(partition, "gpu");
        update->priority = INFINITE;
        return world.plugin->modify(update.desc(), &job, root);
    };
    Update too_early;
    CHECK(promote(too_early).code == ESLURM_TRANSITION_STATE_NO_UPDATE);
    CHECK(world.site.journal().back().decision.reason == Reason::stale);

    // the first job is gone: accordd's next snapshot says so
    world.site.write_ledger(world.site.journal().back().id.number);
    Update in_time;
    CHECK(wait_for([&] {
        Update update;
        return promote(update).code == SLURM_SUCCESS;
    }));
    const JournalRecord record = world.site.journal().back();
    CHECK(record.decision.cls == JobClass::guaranteed);
    CHECK(record.decision.claim == GpuVector{{"a100", 4}});
    CHECK(record.job_decision == DecisionId{0, 2});
    // the promoted job's claim counts from now on
    CHECK(promote(in_time).code == ESLURM_TRANSITION_STATE_NO_UPDATE);
    Request another(vision1);
    another.set(tres_per_job, "gres:gpu:4");
    CHECK(world.plugin->submit(another.desc(), vision1).message.starts_with("accord: queued"));
}

TEST_CASE("after accordd's action the job carries its own decision again") {
    if (!is_root()) return;
    const QueuedJob world;
    world.site.write_ledger(2);
    const ListedJob job("gpu-lend", queued_comment, true);
    CHECK(wait_for([&] {
        Update update;
        update.set(admin_comment, "accord:v1 action=5 to=guaranteed").set(partition, "gpu");
        const bool done = world.plugin->modify(update.desc(), &job, root).code == SLURM_SUCCESS;
        return done && update.text(admin_comment) == queued_comment;
    }));
}

TEST_CASE("nobody but an operator can pass for accordd") {
    if (!is_root()) return;
    const QueuedJob world;
    world.site.write_ledger(2);
    const ListedJob job("gpu-lend", queued_comment, true);
    Update update;
    update.set(admin_comment, "accord:v1 action=5 to=guaranteed").set(partition, "gpu");
    CHECK(world.plugin->modify(update.desc(), &job, vision1).code != SLURM_SUCCESS);
}

TEST_CASE("of a job that cannot be read, what matters is refused to its owner and recorded of an operator") {
    if (!is_root()) return;
    const QueuedJob world;
    Update release, comment;
    release->priority = INFINITE;
    CHECK(world.plugin->modify(release.desc(), nullptr, vision1).code == ESLURM_ACCESS_DENIED);
    const auto lines = next_log(2);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] == "error: accord: job record: cannot read: unpack_msg refused it");
    CHECK(world.plugin->modify(release.desc(), nullptr, root).code == SLURM_SUCCESS);
    comment.set(&job_desc_msg_t::comment, "note");
    CHECK(world.plugin->modify(comment.desc(), nullptr, vision1).code == SLURM_SUCCESS);
}

TEST_CASE("in observe mode no change is refused") {
    if (!is_root()) return;
    const QueuedJob world;
    world.site.write_config("mode = \"observe\"");
    const ListedJob job("gpu-lend", queued_comment, true);
    CHECK(wait_for([&] {
        Update release;
        release->priority = INFINITE;
        return world.plugin->modify(release.desc(), &job, vision1).code == SLURM_SUCCESS;
    }));
    CHECK(world.site.journal().back().decision.verdict == Verdict::rejected);
}

TEST_CASE("without any settings a job's owner changes nothing that matters") {
    if (!is_root()) return;
    const Site site;
    std::filesystem::remove(site.config_path());
    const OpenPlugin plugin(site.config_path());
    const ListedJob job("gpu-lend", queued_comment, true);
    Update release;
    release->priority = INFINITE;
    CHECK(plugin.modify(release.desc(), &job, vision1).code != SLURM_SUCCESS);
    CHECK(plugin.modify(release.desc(), &job, root).code == SLURM_SUCCESS);
}
