// SPDX-License-Identifier: GPL-2.0-or-later
// Submissions through the plugin as slurmctld makes them: what is answered, rewritten and recorded.
#include <slurm/slurm_errno.h>

#include <algorithm>
#include <thread>

#include "catch.hpp"
#include "root.hpp"
#include "site.hpp"
#include "slurm/compat.hpp"
#include "slurmctld.hpp"
#include "store/hash.hpp"

using namespace accord;
using Texts = std::vector<std::string>;

namespace {

constexpr auto account = &job_desc_msg_t::account;
constexpr auto partition = &job_desc_msg_t::partition;
constexpr auto admin_comment = &job_desc_msg_t::admin_comment;
constexpr auto tres_per_job = &job_desc_msg_t::tres_per_job;
constexpr auto array_inx = &job_desc_msg_t::array_inx;

/// One of the entries that begin with `name`=.
std::string value_of(const Texts& entries, const std::string& name) {
    for (const std::string& entry : entries)
        if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
    return {};
}

}  // namespace

TEST_CASE("a job within the guarantee is admitted, rewritten and recorded", "[B07]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8, [](Contract& contract) {
        contract.filesystem.rw = {"/proj/vision"};
        contract.filesystem.login_env = true;
        contract.workloads.max_walltime_min = 60;
    });
    const OpenPlugin plugin(site.config_path());
    Request request(vision1);
    request.set(tres_per_job, "gres:gpu:8").set(account, "VISION-LAB").set(partition, "gpu");
    const HookAnswer answer = plugin.submit(request.desc(), vision1);

    CHECK(answer.code == SLURM_SUCCESS);
    CHECK(answer.error_number == 0);
    CHECK(answer.message.starts_with("accord: guaranteed"));
    CHECK(request.text(account) == "vision-lab");
    CHECK(request.text(partition) == "gpu");
    CHECK(request.text(admin_comment) == "accord:v1 decision=0-1");
    CHECK(request->site_factor == NICE_OFFSET + 100'000);
    CHECK(request->priority == NO_VAL);
    CHECK(request->time_limit == 60);

    const Texts entries = request.spank_env();
    CHECK(entries.size() == request->spank_job_env_size);
    CHECK(value_of(entries, "SPANK_ACCORD_DECISION") == "0-1");
    const Grant grant = site.unseal(value_of(entries, "SPANK_ACCORD_GRANT"));
    CHECK_FALSE(grant.exempt);
    CHECK(grant.cluster == "demo");
    CHECK(grant.contract == "vision-lab/gpu");
    CHECK(grant.contract_version == 1);
    CHECK(grant.uid == vision1);
    CHECK(grant.account == "vision-lab");
    CHECK(grant.pool == "gpu");
    CHECK(grant.valid_until_s == 4'000'000'000);
    CHECK(grant.scope.rw == Texts{"/proj/vision"});

    const auto records = site.journal();
    REQUIRE(records.size() == 1);
    const Decision& decision = records[0].decision;
    CHECK(records[0].prev_hash == no_hash);
    CHECK(decision.verdict == Verdict::admitted);
    CHECK(decision.cls == JobClass::guaranteed);
    CHECK(decision.user == "vision1");
    CHECK(decision.contract == "vision-lab/gpu");
    CHECK(decision.claim == GpuVector{{"a100", 8}});
    CHECK(decision.message == answer.message);
    CHECK(records[0].inputs ==
          R"({"account":"VISION-LAB","partitions":["gpu"],"type":"batch","tres_per_job":"gres:gpu:8","requeue":true})");
}

TEST_CASE("the same request is borrowed once the guarantee is claimed, then queued", "[B07]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8, [](Contract& contract) { contract.capacity["a100"].borrow_limit = 4; });
    const OpenPlugin plugin(site.config_path());
    const auto submit = [&](Request& request, const std::string& gpus) {
        request.set(tres_per_job, gpus);
        return plugin.submit(request.desc(), vision1);
    };
    Request first(vision1), second(vision1), third(vision1);
    CHECK(submit(first, "gres:gpu:8").message.starts_with("accord: guaranteed"));
    CHECK(first.text(partition) == "gpu");
    CHECK(submit(second, "gres:gpu:4").message.starts_with("accord: borrowed"));
    CHECK(second.text(partition) == "gpu-lend");
    CHECK(second->priority == NO_VAL);
    CHECK(second->site_factor < first->site_factor);
    CHECK(submit(third, "gres:gpu:4").message.starts_with("accord: queued"));
    CHECK(third.text(partition) == "gpu-lend");
    CHECK(third->priority == 0);
    CHECK(third.text(admin_comment) == "accord:v1 decision=0-3");
    CHECK(value_of(third.spank_env(), "SPANK_ACCORD_DECISION") == "0-3");
    // one seal for the same user and version
    CHECK(value_of(first.spank_env(), "SPANK_ACCORD_GRANT") == value_of(third.spank_env(), "SPANK_ACCORD_GRANT"));
}

TEST_CASE("a rejection names reason and code, and leaves the request alone", "[A33]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8, [](Contract& contract) { contract.workloads.max_gpus_per_job = 4; });
    const OpenPlugin plugin(site.config_path());
    struct Case {
        std::uint32_t uid;
        const char* account;
        const char* partition;
        const char* gpus;
        int code;
        const char* reason;
    };
    for (const Case& one : {Case{vision1, "vision-lab", "gpu", "gres:gpu:5", ESLURM_ACCOUNTING_POLICY, "gpus_per_job"},
                            Case{vision1, "vision-lab", "gpu-lend", "gres:gpu:1", ESLURM_INVALID_PARTITION_NAME, "lend_partition"},
                            Case{vision1, "vision-lab", "gpu,cpu", "gres:gpu:1", ESLURM_INVALID_PARTITION_NAME, "mixed_partitions"},
                            Case{outsider, "vision-lab", "gpu", "gres:gpu:1", ESLURM_ACCESS_DENIED, "not_member"},
                            Case{outsider, "other-lab", "gpu", "gres:gpu:1", ESLURM_INVALID_ACCOUNT, "no_contract"},
                            Case{vision1, "vision-lab", "gpu", "gres:gpu:v100:1", ESLURM_INVALID_GRES_TYPE, "gpu_type"}}) {
        INFO(one.reason);
        Request request(one.uid);
        request.set(tres_per_job, one.gpus).set(account, one.account).set(partition, one.partition);
        const HookAnswer answer = plugin.submit(request.desc(), one.uid);
        CHECK(answer.code == one.code);
        CHECK(answer.error_number == 0);
        CHECK(answer.message.starts_with("accord: "));
        CHECK(answer.message.ends_with(std::string("[") + one.reason + "]"));
        CHECK(answer.message.find('\n') == std::string::npos);
        CHECK(request.text(account) == one.account);
        CHECK(request.text(partition) == one.partition);
        CHECK(request.text(admin_comment).empty());
        CHECK(request.spank_env().empty());
        CHECK(site.journal().back().decision.verdict == Verdict::rejected);
    }
    CHECK(site.journal().size() == 6);
}

TEST_CASE("no account and no partition are looked up, and a user without a contract is told so", "[A27][A28]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    Request member(vision1), stranger(outsider);
    member.set(tres_per_job, "gres:gpu:1");
    CHECK(plugin.submit(member.desc(), vision1).code == SLURM_SUCCESS);
    CHECK(member.text(account) == "vision-lab");
    CHECK(member.text(partition) == "gpu");
    stranger.set(tres_per_job, "gres:gpu:1");
    CHECK(plugin.submit(stranger.desc(), outsider).message.ends_with("[no_contract]"));
}

TEST_CASE("the job's user is judged, not the one who submits for him") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    Request request(vision1);
    CHECK(plugin.submit(request.desc(), 0).code == SLURM_SUCCESS);
    CHECK(site.journal().back().decision.uid == vision1);
    Request unnamed(NO_VAL);
    CHECK(plugin.submit(unnamed.desc(), vision1).code == SLURM_SUCCESS);
    CHECK(site.journal().back().decision.uid == vision1);
}

TEST_CASE("a job for another partition passes untouched, but for entries that are not its own") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    Request request(outsider);
    request.set(partition, "cpu").add_spank_env("SPANK_TOOL=1").add_spank_env("SPANK_ACCORD_GRANT=forged");
    const HookAnswer answer = plugin.submit(request.desc(), outsider);
    CHECK(answer.code == SLURM_SUCCESS);
    CHECK(answer.message.empty());
    CHECK(request.spank_env() == Texts{"SPANK_TOOL=1"});
    CHECK(request.text(admin_comment).empty());
    CHECK(request->site_factor == NO_VAL);
    CHECK(site.journal().empty());
}

TEST_CASE("entries that look like the plugin's are replaced, and the array ends with NULL", "[C09]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    Request request(vision1);
    request.add_spank_env("SPANK_ACCORD_GRANT=forged")
        .add_spank_env("SPANK_TOOL=1")
        .add_spank_env("SPANK_ACCORD_DECISION=0-999")
        .add_spank_env("SPANK_ACCORD_ANYTHING=x")
        .add_spank_env("SPANK_OTHER=2");
    REQUIRE(plugin.submit(request.desc(), vision1).code == SLURM_SUCCESS);
    const Texts entries = request.spank_env();
    REQUIRE(entries.size() == 4);
    CHECK(request->spank_job_env_size == 4);
    CHECK(entries[0] == "SPANK_TOOL=1");
    CHECK(entries[1] == "SPANK_OTHER=2");
    CHECK(entries[2].starts_with("SPANK_ACCORD_GRANT=MUNGE:"));
    CHECK(entries[3] == "SPANK_ACCORD_DECISION=0-1");
}

TEST_CASE("an environment of 200 KiB for the prolog is refused") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    Request request(vision1);
    for (int i = 0; i < 2; ++i) request.add_spank_env("SPANK_BIG=" + std::string(100 * 1024, 'x'));
    CHECK(plugin.submit(request.desc(), vision1).message.ends_with("[env_too_large]"));
}

TEST_CASE("an array beyond what its contract can hold gets a limit that fits, in place of its own") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 4, [](Contract& contract) { contract.capacity["a100"].borrow_limit = 0; });
    const OpenPlugin plugin(site.config_path());
    Request request(vision1);
    request.set(tres_per_job, "gres:gpu:2").set(array_inx, "0-99%50");
    CHECK(plugin.submit(request.desc(), vision1).code == SLURM_SUCCESS);
    CHECK(request.text(array_inx) == "0-99%2");
    Request small(vision1);
    small.set(tres_per_job, "gres:gpu:1").set(array_inx, "0-1");
    CHECK(plugin.submit(small.desc(), vision1).code == SLURM_SUCCESS);
    CHECK(small.text(array_inx) == "0-1");
}

TEST_CASE("in observe mode a decision is recorded, and nothing is changed or refused") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    site.write_config("mode = \"observe\"");
    const OpenPlugin plugin(site.config_path());
    Request good(vision1), bad(outsider);
    good.set(tres_per_job, "gres:gpu:1").set(partition, "gpu").add_spank_env("SPANK_ACCORD_GRANT=mine");
    bad.set(partition, "gpu");
    for (Request* request : {&good, &bad}) {
        const HookAnswer answer = plugin.submit(request->desc(), request->desc().user_id);
        CHECK(answer.code == SLURM_SUCCESS);
        CHECK(answer.message.empty());
        CHECK(request->text(account).empty());
        CHECK(request->text(partition) == "gpu");
        CHECK(request->text(admin_comment).empty());
        CHECK(request->desc().site_factor == NO_VAL);
        CHECK(request->desc().priority == NO_VAL);
    }
    CHECK(good.spank_env() == Texts{"SPANK_ACCORD_GRANT=mine"});
    const auto records = site.journal();
    REQUIRE(records.size() == 2);
    CHECK(records[0].decision.verdict == Verdict::admitted);
    CHECK(records[1].decision.verdict == Verdict::rejected);
    CHECK(records[1].decision.mode == Mode::observe);
}

TEST_CASE("an exempt user's job is recorded and gets an exempt grant") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    Request request(0);
    request.set(tres_per_job, "gres:gpu:16").set(partition, "gpu");
    CHECK(plugin.submit(request.desc(), 0).code == SLURM_SUCCESS);
    const Grant grant = site.unseal(value_of(request.spank_env(), "SPANK_ACCORD_GRANT"));
    CHECK(grant.exempt);
    CHECK(grant.contract.empty());
    CHECK(grant.pool == "gpu");
    CHECK(site.journal().back().decision.cls == JobClass::exempt);
}

TEST_CASE("an exempt user may use the lend partition, with a grant of its pool") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    Request request(0);
    request.set(partition, "gpu-lend");
    CHECK(plugin.submit(request.desc(), 0).code == SLURM_SUCCESS);
    const Grant grant = site.unseal(value_of(request.spank_env(), "SPANK_ACCORD_GRANT"));
    CHECK(grant.exempt);
    CHECK(grant.pool == "gpu");
}

TEST_CASE("each decision is one line in the log, and what users chose cannot break it") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    static_cast<void>(take_log());
    Request good(vision1), bad(vision1);
    good.set(tres_per_job, "gres:gpu:2");
    bad.set(account, "x\ny verdict=admitted \"z");
    static_cast<void>(plugin.submit(good.desc(), vision1));
    static_cast<void>(plugin.submit(bad.desc(), vision1));
    const Texts lines = next_log(2);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] ==
          "accord: decision=0-1 kind=submission user=vision1 uid=1001 account=vision-lab partition=gpu verdict=admitted "
          "class=guaranteed claim=a100:2");
    CHECK(lines[1].starts_with("accord: decision=0-2 kind=submission user=vision1 uid=1001 account=\"x?y "
                               "verdict=admitted \\\"z\" partition=gpu verdict=rejected reason=no_contract message=\""));
    CHECK(lines[1].find('\n') == std::string::npos);
}

TEST_CASE("decisions carry the controller's place in slurm.conf") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    set_host({::geteuid(), true, 1});
    const OpenPlugin plugin(site.config_path());
    Request request(vision1);
    CHECK(plugin.submit(request.desc(), vision1).code == SLURM_SUCCESS);
    CHECK(request.text(admin_comment) == "accord:v1 decision=1-1");
}

TEST_CASE("whether a job can be requeued is slurm.conf's to say where the job does not") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 0);
    const OpenPlugin plugin(site.config_path());
    Request borrows(vision1), waits(vision1);
    borrows.set(tres_per_job, "gres:gpu:1");
    CHECK(plugin.submit(borrows.desc(), vision1).message.starts_with("accord: borrowed"));
    set_host({::geteuid(), false, 0});
    waits.set(tres_per_job, "gres:gpu:1");
    const HookAnswer answer = plugin.submit(waits.desc(), vision1);
    CHECK_FALSE(answer.message.starts_with("accord: borrowed"));
}

TEST_CASE("a request's texts fill no disk by its record") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    const std::string huge(1'000'000, 'a');
    Request request(vision1);
    request.set(account, huge).set(tres_per_job, "gres:gpu:1," + huge);
    CHECK(plugin.submit(request.desc(), vision1).code != SLURM_SUCCESS);
    const JournalRecord record = site.journal().back();
    CHECK(record.decision.reason == Reason::no_contract);
    CHECK(record.decision.account == huge.substr(0, 200) + "...");
    CHECK(record.inputs.size() < 16'000);
    CHECK(record.inputs.find("\"cut\":true") != std::string::npos);
}

TEST_CASE("the components of a heterogeneous job count together, those of another job do not") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8, [](Contract& contract) {
        contract.workloads.allowed.insert(WorkloadType::het);
        contract.workloads.max_gpus_per_job = 4;
    });
    const OpenPlugin plugin(site.config_path());
    const auto submit = [&](std::uint32_t offset, const char* gpus) {
        Request request(vision1);
        request.set(tres_per_job, gpus).set(account, "vision-lab").set(partition, "gpu");
        request->het_job_offset = offset;
        return plugin.submit(request.desc(), vision1);
    };
    CHECK(submit(0, "gres:gpu:3").message.starts_with("accord: queued: 3 a100 for vision-lab/gpu; starts together with"));
    CHECK(submit(1, "gres:gpu:1").code == SLURM_SUCCESS);
    CHECK(submit(2, "gres:gpu:1").message.ends_with("[gpus_per_job]"));
    CHECK(submit(0, "gres:gpu:4").code == SLURM_SUCCESS);
    CHECK(submit(0, "gres:gpu:4").code == SLURM_SUCCESS);
    CHECK(submit(1, "gres:gpu:1").message.ends_with("[gpus_per_job]"));
    // a component that does not go on from what this thread asked for before
    CHECK(submit(7, "gres:gpu:4").code == SLURM_SUCCESS);
    std::thread([&] { CHECK(submit(1, "gres:gpu:4").code == SLURM_SUCCESS); }).join();
}

TEST_CASE("a request without a type is rewritten to the contract's, as this release spells it", "[A12]") {
    if (!is_root()) return;
    const Site site;
    site.write_config({}, {}, "{ a100 = 8, v100 = 8 }");
    site.apply("vision-lab", vision1, 8, [](Contract& contract) {
        contract.capacity["v100"] = {8, {}, {}};
        contract.fallback = {"v100", "a100"};
    });
    site.write_ledger(0, {}, {{"a100", 2}, {"v100", 2}});
    const OpenPlugin plugin(site.config_path());
    Request request(vision1);
    request.set(&job_desc_msg_t::tres_per_node, "gres:gpu:2").set(account, "vision-lab").set(partition, "gpu");
    CHECK(plugin.submit(request.desc(), vision1).message.starts_with("accord: guaranteed: 2 v100"));
    CHECK(request.text(&job_desc_msg_t::tres_per_node) == compat::spelled("gres/gpu:v100:2"));
}
