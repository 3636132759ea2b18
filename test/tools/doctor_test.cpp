// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <functional>

#include "accord/doctor/contract_controls.hpp"
#include "accord/doctor/node_answer.hpp"
#include "accord/doctor/node_controls.hpp"
#include "accord/doctor/slurm_controls.hpp"
#include "accord/doctor/store_controls.hpp"
#include "catch.hpp"

using namespace accord;
using State = ControlState;

namespace {

/// A cluster on which everything is as it must be.
struct Sound {
    Config config;
    SlurmControls slurm;
    ClusterShape shape;
    StoreFacts store;
    HostFacts host;
    ContractFacts contracts;

    Sound() {
        config.cluster = "demo";
        config.admin_group = "accord-admin";
        config.store_dir = "/var/lib/accord";
        config.node.ungranted = Ungranted::refuse;
        config.pools.push_back({"gpu", "gpu-lend", "static", {{"a100", 8}}});
        slurm = {.version = "22.05.8", .cluster_name = "demo", .slurm_user = "slurm",
                 .preempt_type = "preempt/partition_prio", .preempt_mode = "REQUEUE", .priority_type = "priority/multifactor",
                 .select_type = "select/cons_tres", .accounting_type = "accounting_storage/none", .container_type = "",
                 .job_submit_plugins = {"accord"}, .gres_types = {"gpu"}, .accounting_tres = {}, .auth_info = "socket=/run/munge/munge.socket.2,cred_expire=5",
                 .federation = "", .prolog_at_allocation = true, .requeues_by_default = true,
                 .enforces_partition_limits = true, .permits_job_expansion = false, .exempts_by_priority = false,
                 .partitions = {{"gpu", {"OFF", true}}, {"gpu-lend", {"REQUEUE", false}}}};
        shape.default_partition = "gpu";
        for (const auto* name : {"gpu", "gpu-lend"}) {
            auto& partition = shape.partitions[name];
            partition.name = name;
            partition.priority_tier = partition.name == "gpu" ? 100 : 1;
            partition.nodes = {{"n1", {{"a100", 4}}}, {"n2", {{"a100", 4}}}};
        }
        store.slurm_user = "slurm";
        store.dir = file("/var/lib/accord", 02750);
        store.files = {file("/var/lib/accord/contracts.db", 0640), file("/var/lib/accord/journal", 0750)};
        store.free_bytes = std::uint64_t{1} << 40;
        store.journal_writable = store.journal_locked = true;
        store.served = store.contracts_generation = 7;
        store.now_s = 1000;
        store.accordd = {true, 999};
        store.snapshot_age_s = 2;
        host.plugstack = "/etc/slurm/plugstack.conf";
        host.plugstack_readable = true;
        host.spank = spank_lines("/etc/slurm/plugstack.conf", "required spank_accord.so conf=/etc/accord/accord.toml\n");
        host.config_path = "/etc/accord/accord.toml";
        host.scope_config = host.config_path;
        host.scope_config_hash = "00aa", host.spank_hash = "00bb";
        host.spank_plugin = root_file("/usr/lib/slurm/spank_accord.so", 0644);
        host.submit_plugin = root_file("/usr/lib/slurm/job_submit_accord.so", 0644);
        host.slurm_version = host.spank_version = host.submit_version = 0x160508;
        host.munge_key = root_file("/etc/munge/munge.key", 0400);
        host.run_dir = root_file("/run/accord", 0755);
        contracts.contracts = {contract("vision", 4)};
    }
    static FileFacts file(const std::string& path, unsigned mode) { return {path, true, "slurm", "accord-admin", mode, {}}; }
    static FileFacts root_file(const std::string& path, unsigned mode) { return {path, true, "root", "root", mode, {}}; }
    static PolicyContract contract(const std::string& account, Gpus guaranteed, const std::string& partition = "gpu") {
        auto terms = std::make_shared<Contract>();
        terms->account = account, terms->partition = partition;
        terms->valid_from_s = 0, terms->valid_until_s = 4102444800;
        terms->capacity["a100"].guaranteed = guaranteed;
        PolicyContract made;
        made.contract = terms;
        return made;
    }

    PartitionShape& governed() { return shape.partitions["gpu"]; }
    PartitionShape& lent() { return shape.partitions["gpu-lend"]; }

    [[nodiscard]] Controls examine() const {
        Controls all;
        for (const auto& some : {check_slurm(config, slurm), check_pools(config, slurm, shape), check_host(config, host),
                                 check_store(config, store), check_contracts(config, contracts)})
            all.insert(all.end(), some.begin(), some.end());
        return all;
    }
};

struct Fault {
    const char* what;
    std::function<void(Sound&)> break_it;
    const char* control;
    State state;
    const char* found;
    const char* line;
};

constexpr const char* plugstack_line =
    "/etc/slurm/plugstack.conf: required spank_accord.so; then restart slurmd, which looks for prologs in it only at its start";

const std::vector<Fault> faults{
    {"another cluster's name", [](Sound& s) { s.slurm.cluster_name = "other"; }, "ClusterName", State::mismatch, "other",
     "accord.toml: cluster = \"other\""},
    {"no preemption", [](Sound& s) { s.slurm.preempt_type = "preempt/none"; }, "slurm.conf PreemptType", State::mismatch,
     "preempt/none", "slurm.conf: PreemptType=preempt/partition_prio"},
    {"preemption off", [](Sound& s) { s.slurm.preempt_mode = "OFF"; }, "slurm.conf PreemptMode", State::mismatch, "OFF",
     "slurm.conf: PreemptMode=REQUEUE"},
    {"another priority plugin", [](Sound& s) { s.slurm.priority_type = "priority/basic"; }, "slurm.conf PriorityType",
     State::mismatch, "priority/basic", "slurm.conf: PriorityType=priority/multifactor"},
    {"no requeueing", [](Sound& s) { s.slurm.requeues_by_default = false; }, "slurm.conf JobRequeue", State::warning, "0",
     "slurm.conf: JobRequeue=1"},
    {"no job_submit plugin", [](Sound& s) { s.slurm.job_submit_plugins.clear(); }, "slurm.conf JobSubmitPlugins",
     State::missing, "(none)", "slurm.conf: JobSubmitPlugins=accord"},
    {"a plugin behind it", [](Sound& s) { s.slurm.job_submit_plugins.push_back("lua"); },
     "slurm.conf JobSubmitPlugins order", State::warning, "accord,lua",
     "slurm.conf: name accord last in JobSubmitPlugins"},
    {"no prolog at allocation", [](Sound& s) { s.slurm.prolog_at_allocation = false; }, "slurm.conf PrologFlags",
     State::missing, "without Alloc", "slurm.conf: PrologFlags=Alloc"},
    {"another select plugin", [](Sound& s) { s.slurm.select_type = "select/linear"; }, "slurm.conf SelectType",
     State::mismatch, "select/linear", "slurm.conf: SelectType=select/cons_tres"},
    {"no GPUs in GresTypes", [](Sound& s) { s.slurm.gres_types = {"shard"}; }, "slurm.conf GresTypes", State::missing,
     "shard", "slurm.conf: GresTypes=gpu"},
    {"another munged", [](Sound& s) { s.slurm.auth_info = "socket=/run/other"; }, "munge socket", State::mismatch,
     "/run/munge/munge.socket.2", "accord.toml: [munge] socket = \"/run/other\""},
    {"limits not enforced", [](Sound& s) { s.slurm.enforces_partition_limits = false; }, "slurm.conf EnforcePartLimits",
     State::warning, "NO", "slurm.conf: EnforcePartLimits=ALL"},
    {"jobs that expand others", [](Sound& s) { s.slurm.permits_job_expansion = true; }, "slurm.conf SchedulerParameters",
     State::mismatch, "permit_job_expansion", "slurm.conf: take permit_job_expansion out of SchedulerParameters"},
    {"a federation", [](Sound& s) { s.slurm.federation = "alliance"; }, "federation", State::mismatch, "alliance",
     "sacctmgr modify federation alliance set clusters-=demo"},
    {"GPUs not accounted", [](Sound& s) { s.slurm.accounting_type = "accounting_storage/slurmdbd"; },
     "slurm.conf AccountingStorageTRES", State::mismatch, "(none)", "slurm.conf: AccountingStorageTRES=gres/gpu"},
    {"another maker of /tmp", [](Sound& s) { s.slurm.container_type = "job_container/tmpfs"; }, "slurm.conf JobContainerType",
     State::warning, "job_container/tmpfs", "slurm.conf: JobContainerType=job_container/none"},

    {"no pool", [](Sound& s) { s.config.pools.clear(); s.contracts.contracts.clear(); }, "accord.toml pools", State::missing, "0",
     "accord.toml: [[pool]]"},
    {"no lend partition", [](Sound& s) { s.shape.partitions.erase("gpu-lend"); }, "pool gpu: partition gpu-lend",
     State::missing, "not there", "slurm.conf: PartitionName=gpu-lend Nodes=…"},
    {"equal tiers", [](Sound& s) { s.governed().priority_tier = 1; }, "pool gpu: PriorityTier", State::mismatch,
     "1 and 1 in gpu-lend", "slurm.conf: PartitionName=gpu PriorityTier=100"},
    {"guaranteed jobs preemptible", [](Sound& s) { s.slurm.partitions["gpu"].preempt_mode = "REQUEUE"; },
     "pool gpu: PreemptMode", State::mismatch, "REQUEUE", "slurm.conf: PartitionName=gpu PreemptMode=OFF"},
    {"lending by suspension", [](Sound& s) { s.slurm.partitions["gpu-lend"].preempt_mode = "SUSPEND"; },
     "pool gpu: PreemptMode of gpu-lend", State::mismatch, "SUSPEND",
     "slurm.conf: PartitionName=gpu-lend PreemptMode=REQUEUE"},
    {"no preemption of what is lent", [](Sound& s) { s.slurm.partitions["gpu-lend"].preempt_mode = "OFF"; },
     "pool gpu: PreemptMode of gpu-lend", State::mismatch, "OFF",
     "slurm.conf: PartitionName=gpu-lend PreemptMode=REQUEUE"},
    {"different nodes", [](Sound& s) { s.lent().nodes.pop_back(); }, "pool gpu: nodes", State::mismatch,
     "in one of the partitions only: n2", "slurm.conf: give gpu and gpu-lend the same Nodes="},
    {"a partition in the way",
     [](Sound& s) { s.shape.partitions["debug"] = s.lent(); s.slurm.partitions["debug"] = {"REQUEUE", false}; },
     "pool gpu: other partitions", State::mismatch, "over its nodes: debug",
     "slurm.conf: take the nodes out of debug, or give it a PriorityTier below 1 and PreemptMode=REQUEUE"},
    {"the lend partition as default",
     [](Sound& s) { s.slurm.partitions["gpu-lend"].is_default = true; s.shape.default_partition = "gpu-lend"; },
     "pool gpu: default partition", State::mismatch, "gpu-lend",
     "slurm.conf: PartitionName=gpu Default=YES, and not gpu-lend"},
    {"fewer GPUs than promised",
     [](Sound& s) { s.governed().nodes.pop_back(); s.lent().nodes.pop_back(); }, "pool gpu: GPUs", State::mismatch,
     "4 a100", "accord.toml: gpus = { a100 = 4 }"},
    {"all of a node's memory for a job that names none",
     [](Sound& s) {
         for (auto& node : s.governed().nodes) node.memory_mb = 20'000;
         s.slurm.partitions["gpu"].default_ask = {.tres_per_node = "gres/gpu:1", .min_nodes = 1, .max_nodes = 1, .mem_per_node_mb = 0};
     },
     "pool gpu: defaults for jobs", State::warning,
     "more than 5000 MiB of memory for each GPU leaves others unusable, which makes 4 GPU",
     "slurm.conf: DefMemPerGPU and DefCpuPerGPU, no more than a GPU's share of its node"},
    {"a node down", [](Sound& s) { s.governed().nodes[1].available = false; }, "pool gpu: nodes available", State::warning,
     "down or draining: n2 (4 a100)", "scontrol show node n2"},
    {"live reclaim asked for", [](Sound& s) { s.config.pools[0].reclaim = "live"; }, "pool gpu: reclaim", State::mismatch,
     "static: Slurm 22.05.8", "accord.toml: reclaim = \"static\""},

    {"no store", [](Sound& s) { s.store.dir.there = false; }, "store dir", State::missing, "/var/lib/accord: not there",
     "install -d -o slurm -m 0750 /var/lib/accord"},
    {"another's store", [](Sound& s) { s.store.dir.owner = "root"; }, "store dir owner", State::mismatch, "root",
     "chown slurm /var/lib/accord"},
    {"an open store", [](Sound& s) { s.store.dir.mode = 0755; }, "store dir mode", State::mismatch, "0755",
     "chmod 0750 /var/lib/accord"},
    {"another group", [](Sound& s) { s.store.dir.group = "slurm"; }, "store dir group", State::warning, "slurm",
     "chgrp accord-admin /var/lib/accord"},
    {"a network file system", [](Sound& s) { s.store.network_filesystem = "nfs"; }, "store file system", State::mismatch,
     "nfs", "accord.toml: [store] dir = a local folder"},
    {"little space", [](Sound& s) { s.store.free_bytes = 500 << 20; }, "store space", State::warning, "500 MiB free",
     "make room on /var/lib/accord"},
    {"no space", [](Sound& s) { s.store.free_bytes = 1 << 20; }, "store space", State::mismatch, "1 MiB free",
     "make room on /var/lib/accord"},
    {"a file for all to read", [](Sound& s) { s.store.files[0].mode = 0644; }, "contracts.db mode", State::mismatch, "0644",
     "chmod 0640 /var/lib/accord/contracts.db"},
    {"root's database", [](Sound& s) { s.store.files[0].owner = "root"; }, "contracts.db owner", State::mismatch, "root",
     "chown slurm /var/lib/accord/contracts.db"},
    {"a damaged database", [](Sound& s) { s.store.files[0].trouble = "the file is damaged"; }, "contracts.db",
     State::mismatch, "the file is damaged", "restore it from a copy; see doc/data.md for what can be made anew"},
    {"a journal that cannot be written", [](Sound& s) { s.store.journal_writable = false; }, "journal writable",
     State::mismatch, "no", "chown -R slurm /var/lib/accord/journal"},
    {"slurmctld without the plugin", [](Sound& s) { s.store.journal_locked = false; }, "job_submit plugin", State::missing,
     "does not hold the journal on this host",
     "see slurmctld's log for lines that begin with \"accord: \"; restart slurmctld after changing JobSubmitPlugins"},
    {"contracts that slurmctld has not taken", [](Sound& s) { s.store.contracts_generation = 8; }, "contracts taken",
     State::mismatch, "slurmctld's plugin decides by older ones",
     "see slurmctld's log for lines that begin with \"accord: \""},
    {"accordd down", [](Sound& s) { s.store.accordd.running = false; }, "accordd", State::missing, "not running",
     "systemctl start accordd"},
    {"accordd stopped", [](Sound& s) { s.store.accordd.last_pass_s = 900; }, "accordd passes", State::mismatch,
     "the last one 1 min 40 s ago", "see accordd's log; systemctl restart accordd"},
    {"no snapshot", [](Sound& s) { s.store.snapshot_age_s.reset(); }, "ledger snapshot", State::missing, "none",
     "see accordd's log"},
    {"accordd behind the journal", [](Sound& s) { s.store.not_loaded = 3; s.store.oldest_not_loaded_age_s = 200; }, "decisions loaded",
     State::mismatch, "3 are not, the oldest for 3 min 20 s", "see accordd's log; systemctl restart accordd"},
    {"unscoped jobs allowed for nobody", [](Sound& s) { s.config.node.ungranted = Ungranted::log; },
     "accord.toml [node] ungranted", State::warning, "\"log\", and 0 jobs that Accord never judged",
     "accord.toml: [node] ungranted = \"refuse\""},
    {"jobs older than Accord refused", [](Sound& s) { s.store.jobs_without_decision = 2; }, "accord.toml [node] ungranted",
     State::warning, "\"refuse\", and 2 jobs that Accord never judged",
     "accord.toml: [node] ungranted = \"log\", until they have ended"},

    {"no plugstack.conf", [](Sound& s) { s.host.plugstack_readable = false; }, "plugstack.conf", State::missing,
     "/etc/slurm/plugstack.conf: cannot be read", plugstack_line},
    {"no line for the plugin", [](Sound& s) { s.host.spank.clear(); }, "plugstack.conf", State::missing,
     "no line names spank_accord.so", plugstack_line},
    {"an optional plugin", [](Sound& s) { s.host.spank[0].required = false; }, "plugstack.conf required", State::mismatch,
     "optional", "/etc/slurm/plugstack.conf: required spank_accord.so"},
    {"two lines", [](Sound& s) { s.host.spank.push_back(s.host.spank[0]); }, "plugstack.conf once", State::mismatch,
     "2 lines", "/etc/slurm/plugstack.conf: remove all but one line"},
    {"another configuration on the node", [](Sound& s) { s.host.spank[0].conf = "/srv/accord.toml"; },
     "plugstack.conf conf=", State::warning, "/srv/accord.toml",
     "/etc/slurm/plugstack.conf: conf=/etc/accord/accord.toml"},
    {"the plugin's file missing", [](Sound& s) { s.host.spank_plugin.there = false; }, "spank_accord.so", State::missing,
     "/usr/lib/slurm/spank_accord.so: not there", "install Accord on this host"},
    {"a plugin that others can write", [](Sound& s) { s.host.submit_plugin->mode = 0666; }, "job_submit_accord.so mode",
     State::mismatch, "0666 root", "chmod go-w /usr/lib/slurm/job_submit_accord.so"},
    {"a job_submit plugin of another patch", [](Sound& s) { s.host.submit_version = 0x160509; }, "job_submit_accord.so release",
     State::mismatch, "built for Slurm 22.05.9, and Slurm is 22.05.8 here", "install the Accord that is built for Slurm 22.05.8"},
    {"a SPANK plugin of another release", [](Sound& s) { s.host.slurm_version = s.host.submit_version = 0x180b05; },
     "spank_accord.so release", State::mismatch, "built for Slurm 22.05.8, and Slurm is 24.11.5 here",
     "install the Accord that is built for Slurm 24.11.5"},
    {"munged down", [](Sound& s) { s.host.munge_trouble = "munged does not answer"; }, "munge", State::mismatch,
     "munged does not answer", "systemctl start munge; accord.toml: [munge] socket"},
    {"a readable key", [](Sound& s) { s.host.munge_key->mode = 0440; }, "munge key mode", State::mismatch, "0440 root",
     "chmod 0400 /etc/munge/munge.key"},
    {"another's run folder", [](Sound& s) { s.host.run_dir->owner = "vision1"; }, "/run/accord", State::mismatch,
     "0755 vision1", "chown root: /run/accord; chmod 0755 /run/accord"},

    {"open credentials", [](Sound& s) { s.host.credentials = Sound::root_file("/etc/accord/credentials", 0750); },
     "credentials folder", State::mismatch, "0750 root",
     "chown root: /etc/accord/credentials; chmod 0700 /etc/accord/credentials"},
    {"a node without accord.toml", [](Sound& s) { s.host.scope_config_hash.clear(); }, "accord.toml contents", State::missing,
     "/etc/accord/accord.toml: cannot be read", "copy the controller's accord.toml to /etc/accord/accord.toml"},

    {"no contract", [](Sound& s) { s.contracts.contracts.clear(); }, "contracts", State::warning, "0 active of 0",
     "accord apply FOLDER"},
    {"more promised than there is", [](Sound& s) { s.contracts.contracts.push_back(Sound::contract("speech", 5)); },
     "guarantees", State::mismatch, nullptr, "accord apply, with smaller guarantees"},
    {"a contract without a pool", [](Sound& s) { s.contracts.contracts.push_back(Sound::contract("speech", 1, "big")); },
     "contract pool", State::mismatch, "speech/big: accord.toml has no such pool",
     "accord.toml: [[pool]] partition = \"big\""},
    {"a member who is not there", [](Sound& s) { s.contracts.member_warnings = {"contract vision/gpu: there is no user x yet"}; },
     "members", State::warning, "contract vision/gpu: there is no user x yet",
     "make the user or group, or change the contract"},
    {"an owner who is not there", [](Sound& s) { s.contracts.missing_owners = {"vision/gpu: cost owner x"}; },
     "contract owner", State::warning, "vision/gpu: cost owner x: there is no such user",
     "change [owners] in the contract's file, and apply it"},
    {"an account that Slurm does not know", [](Sound& s) { s.contracts.accounts = {"speech"}; }, "contract account",
     State::warning, "vision/gpu: Slurm has no such account", "sacctmgr add account vision"},
    {"a child account without a contract",
     [](Sound& s) { s.contracts.accounts = {"vision", "lab", "team"}; s.contracts.parents = {{"team", "lab"}, {"lab", "vision"}}; },
     "child account", State::warning, "lab is below vision, which has a contract in gpu",
     "a contract with account = \"lab\""},
};

}  // namespace

TEST_CASE("a sound cluster has no control that is missing or mismatched") {
    for (const auto& control : Sound().examine()) {
        INFO(control.control + ": " + control.found);
        CHECK((control.state == State::ok || control.control == "pool gpu: reclaim"));
        CHECK_FALSE(is_error(control.state));
        CHECK(control.line.empty() == (control.state == State::ok));
        CHECK_FALSE(control.found.empty());
    }
}

TEST_CASE("each fault is named with what was found and the line to change", "[G06][B06][E07][F05]") {
    for (const auto& fault : faults) {
        Sound sound;
        fault.break_it(sound);
        const auto controls = sound.examine();
        const auto named = std::find_if(controls.begin(), controls.end(), [&](const Control& control) {
            return control.control == fault.control && control.state != State::ok;
        });
        INFO(fault.what);
        REQUIRE(named != controls.end());
        CHECK(named->state == fault.state);
        if (fault.found) CHECK(named->found == fault.found);
        CHECK(named->line == fault.line);
        CHECK_FALSE(named->why.empty());
    }
}

TEST_CASE("a SPANK plugin of another patch of Slurm's is right", "[C08]") {
    Sound sound;
    sound.host.spank_version = 0x160501;
    for (const auto& control : sound.examine())
        if (control.control == "spank_accord.so release") CHECK(control.state == State::ok);
}

TEST_CASE("a release that is not known is no finding", "[C08]") {
    Sound sound;
    sound.host.slurm_version.reset();
    for (const auto& control : sound.examine()) CHECK(control.control.find(" release") == std::string::npos);
}

TEST_CASE("a partition below the lend one whose jobs give way may lie over the nodes") {
    Sound sound;
    auto& scavenger = sound.shape.partitions["scavenger"] = sound.lent();
    scavenger.priority_tier = 0;
    sound.slurm.partitions["scavenger"] = {"CANCEL", false};
    for (const auto& control : check_pools(sound.config, sound.slurm, sound.shape)) CHECK_FALSE(is_error(control.state));
}

TEST_CASE("plugstack.conf is read as Slurm reads it") {
    const auto* text =
        "# required spank_accord.so\n"
        "include plugstack.conf.d/*\n"
        "optional  /opt/x/spank_accord.so   conf=/a.toml  # a comment\n"
        "required other.so\n"
        "required spank_accord.so\n";
    const auto lines = spank_lines("p", text);
    REQUIRE(lines.size() == 2);
    CHECK_FALSE(lines[0].required);
    CHECK(lines[0].plugin == "/opt/x/spank_accord.so");
    CHECK(lines[0].conf == "/a.toml");
    CHECK(lines[1].required);
    CHECK(lines[1].conf.empty());
    CHECK(plugstack_includes(text) == std::vector<std::string>{"plugstack.conf.d/*"});
}

namespace {

const NodeReference here{"00aa", "00bb"};

/// As `accord doctor --node --json` prints it, with what srun says around it.
NodeAnswer answer(const std::string& config_hash, const std::string& plugin_hash, const std::string& more = "") {
    return {.node = "n1",
            .output = "from a task prolog\n[\n"
                      "  {\"control\": \"accord.toml contents\", \"state\": \"ok\", \"found\": \"" + config_hash +
                      "\", \"why\": null, \"line\": null, \"node\": null},\n"
                      "  {\"control\": \"spank_accord.so contents\", \"state\": \"ok\", \"found\": \"" + plugin_hash +
                      "\"}" + more + "\n]\n",
            .complaints = "srun: error: n1: task 0: Exited with exit code 1\n"};
}
NodeAnswer said(const std::string& complaints) { return {.node = "n1", .output = "[\nnot a listing\n]\n", .complaints = complaints}; }

}  // namespace

TEST_CASE("a node that has what the controller has gives no finding", "[C07]") {
    CHECK(has_answered(answer("00aa", "00bb")));
    CHECK(check_node(answer("00aa", "00bb"), here).empty());
    CHECK(check_node(answer("00cc", "00dd"), {}).empty());
}

TEST_CASE("what a node found, and what differs from the controller's, comes with the node's name", "[C07]") {
    const auto found = check_node(
        answer("00cc", "00dd", ", {\"control\": \"munge\", \"state\": \"missing\", \"found\": \"x\", \"why\": \"y\", \"line\": \"z\"}"), here);
    REQUIRE(found.size() == 3);
    CHECK(found[0].found == "00cc; the controller's is 00aa");
    CHECK(found[1].control == "spank_accord.so contents");
    CHECK(found[1].state == State::mismatch);
    CHECK(found[2].state == State::missing);
    CHECK(found[2].line == "z");
    for (const auto& one : found) CHECK(one.node == "n1");
}

TEST_CASE("a node without an answer is told by why", "[C07]") {
    struct Case { NodeAnswer answer; const char* control; State state; const char* found; };
    const std::vector<Case> cases{
        {said("srun: error: Unable to allocate resources: Requested nodes are busy\n"), "answer", State::warning,
         "not asked: Requested nodes are busy"},
        {said("srun: error: accord: user root: not a member [not_member]\nsrun: error: Unable to allocate resources: x\n"),
         "answer", State::warning, "not asked: user root: not a member [not_member]"},
        {said("accord: node n1 has no verdict for job 8\nsrun: error: n1: task 0: Exited with exit code 1\n"), "jobs",
         State::mismatch, "node n1 has no verdict for job 8"},
        {said("slurmstepd: error: execve(): /usr/bin/accord: No such file or directory\n"), "accord", State::missing,
         "/usr/bin/accord: No such file or directory"},
        {{.node = "n1", .output = "", .complaints = "", .asked = false}, "answer", State::warning, "not asked: down or draining"},
        {{.node = "n1", .output = "", .complaints = "", .out_of_time = true}, "answer", State::warning, "not asked: no answer in time"},
        {said(""), "answer", State::warning, "not asked: srun did not say why"},
    };
    for (const auto& one : cases) {
        const auto found = check_node(one.answer, here);
        REQUIRE(found.size() == 1);
        CHECK_FALSE(has_answered(one.answer));
        CHECK(found[0].control == one.control);
        CHECK(found[0].state == one.state);
        CHECK(found[0].found == one.found);
        CHECK_FALSE(found[0].line.empty());
    }
}

TEST_CASE("what several nodes have in common is told once") {
    auto one = check_node(said("srun: error: busy\n"), here).front(), other = one;
    other.node = "n2";
    const auto own = Control{"munge", State::ok, "socket", "", "", ""};
    const auto groups = grouped_by_node({own, one, own, other});
    REQUIRE(groups.size() == 3);
    CHECK(groups[1].node == "n1,n2");
}
