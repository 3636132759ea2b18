// SPDX-License-Identifier: GPL-2.0-or-later
// What the plugin answers when something it needs is missing, damaged, locked or full, and that it gets well again.
#include <fcntl.h>
#include <pwd.h>
#include <slurm/slurm_errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>

#include "catch.hpp"
#include "fuse_mount.hpp"
#include "name_service.hpp"
#include "root.hpp"
#include "site.hpp"
#include "slurmctld.hpp"
#include "store/hash.hpp"
#include "store/journal_files.hpp"

using namespace accord;

namespace {

constexpr auto partition = &job_desc_msg_t::partition;
constexpr auto admin_comment = &job_desc_msg_t::admin_comment;
constexpr auto tres_per_job = &job_desc_msg_t::tres_per_job;

HookAnswer submit(const OpenPlugin& plugin, std::uint32_t uid, const std::string& gpus = "gres:gpu:1",
                  const std::string& to = "gpu") {
    Request request(uid);
    request.set(tres_per_job, gpus).set(partition, to);
    return plugin.submit(request.desc(), uid);
}

bool is_admitted(const HookAnswer& answer) { return answer.code == SLURM_SUCCESS; }
bool is_unavailable(const HookAnswer& answer) { return answer.message.ends_with("[store_unavailable]"); }

/// A snapshot that has seen none of the journal claims nothing: what is claimed comes from the journal alone.
bool is_guaranteed(const HookAnswer& answer) { return answer.message.starts_with("accord: guaranteed"); }

/// Lets no file of this process grow beyond `bytes`, as a full disk does.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) {
        old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit limit{bytes, old_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, old_handler_);
    }

private:
    rlimit old_{};
    void (*old_handler_)(int) = nullptr;
};

std::uintmax_t journal_size(const Site& site) {
    return std::filesystem::file_size(journal_files(site.journal_dir(), 0)->back().path);
}

}  // namespace

TEST_CASE("without accord.toml every job but root's is rejected, with the file's name, until it is there") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const std::string text = read_text(site.config_path());
    std::filesystem::remove(site.config_path());
    const OpenPlugin plugin(site.config_path());
    for (const char* to : {"gpu", "cpu"}) {
        const HookAnswer answer = submit(plugin, vision1, "gres:gpu:1", to);
        CHECK(answer.code == ESLURM_DISABLED);
        CHECK(is_unavailable(answer));
        CHECK(answer.message.find(site.config_path()) != std::string::npos);
        CHECK(answer.error_number == 0);
    }
    CHECK(is_admitted(submit(plugin, 0)));
    write_text(site.config_path(), text);
    CHECK(wait_for([&] { return is_guaranteed(submit(plugin, vision1)); }));
}

TEST_CASE("a bad accord.toml at the start names file and line; a bad one later leaves the old in force") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const std::string good = read_text(site.config_path());
    write_text(site.config_path(), good + "\nnonsense = 1\n");
    const auto line = std::count(good.begin(), good.end(), '\n') + 2;
    {
        const OpenPlugin plugin(site.config_path());
        const HookAnswer answer = submit(plugin, vision1);
        CHECK(is_unavailable(answer));
        CHECK(answer.message.find(site.config_path() + ":" + std::to_string(line)) != std::string::npos);
    }
    write_text(site.config_path(), good);
    const OpenPlugin plugin(site.config_path());
    REQUIRE(is_guaranteed(submit(plugin, vision1)));
    static_cast<void>(take_log());
    write_text(site.config_path(), good + "\nnonsense = 1\n");
    std::vector<std::string> lines;
    CHECK(wait_for([&] {
        for (std::string& fresh : take_log()) lines.push_back(std::move(fresh));
        return std::any_of(lines.begin(), lines.end(), [](const auto& one) { return one.find("nonsense") != std::string::npos; });
    }));
    CHECK(is_guaranteed(submit(plugin, vision1)));
}

TEST_CASE("without contracts.db jobs for governed partitions are rejected, and others pass", "[A30]") {
    if (!is_root()) return;
    const Site site;
    const OpenPlugin plugin(site.config_path());
    const HookAnswer answer = submit(plugin, vision1);
    CHECK(answer.code == ESLURM_DISABLED);
    CHECK(is_unavailable(answer));
    CHECK(answer.message.find("contracts.db") != std::string::npos);
    CHECK(is_admitted(submit(plugin, vision1, "gres:gpu:1", "cpu")));
    CHECK(is_admitted(submit(plugin, 0)));
    CHECK(site.journal().size() == 2);

    site.apply("vision-lab", vision1, 8);
    CHECK(wait_for([&] { return is_guaranteed(submit(plugin, vision1)); }));
}

TEST_CASE("with on_unavailable = admit, jobs pass with an exempt grant where there is no policy") {
    if (!is_root()) return;
    const Site site;
    site.write_config("", "on_unavailable = \"admit\"");
    const OpenPlugin plugin(site.config_path());
    Request request(vision1);
    request.set(tres_per_job, "gres:gpu:1");
    const HookAnswer answer = plugin.submit(request.desc(), vision1);
    CHECK(is_admitted(answer));
    CHECK(answer.message.starts_with("accord: exempt"));
    const auto entries = request.spank_env();
    REQUIRE(entries.size() == 2);
    CHECK(site.unseal(entries[0].substr(entries[0].find('=') + 1)).exempt);
    CHECK(site.journal().back().decision.reason == Reason::store_unavailable);
}

TEST_CASE("a damaged contracts.db at the start is no policy; one damaged later leaves the last in force", "[A30]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    {
        const OpenPlugin plugin(site.config_path());
        REQUIRE(is_guaranteed(submit(plugin, vision1)));
        write_text(site.file("contracts.db"), std::string(64 * 1024, 'x'));
        static_cast<void>(take_log());
        CHECK(wait_for([&] {
            for (const std::string& line : take_log())
                if (line.starts_with("error: accord: ") && line.find("contracts.db") != std::string::npos) return true;
            return false;
        }));
        CHECK(is_guaranteed(submit(plugin, vision1)));
    }
    const OpenPlugin plugin(site.config_path());
    CHECK(is_unavailable(submit(plugin, vision1)));
}

TEST_CASE("contracts.db removed and made anew is followed") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    REQUIRE(is_guaranteed(submit(plugin, vision1)));
    std::filesystem::remove(site.file("contracts.db"));
    site.apply("speech-lab", speech1, 8);
    CHECK(wait_for([&] { return is_guaranteed(submit(plugin, speech1)); }));
    CHECK(submit(plugin, vision1).message.ends_with("[no_contract]"));
}

TEST_CASE("a locked contracts.db leaves the last policy in force, for users without a seal, too") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    site.apply("speech-lab", speech1, 8);
    const OpenPlugin plugin(site.config_path());
    REQUIRE(is_guaranteed(submit(plugin, vision1)));
    {
        SQLite::Database db(site.file("contracts.db"), SQLite::OPEN_READWRITE);
        db.exec("BEGIN EXCLUSIVE");
        CHECK(is_guaranteed(submit(plugin, vision1)));
        CHECK(is_guaranteed(submit(plugin, speech1)));
        db.exec("COMMIT");
    }
    site.apply("vision-lab", vision1, 0, [](Contract& contract) { contract.capacity["a100"].borrow_limit = 0; });
    CHECK(wait_for([&] { return submit(plugin, vision1).message.ends_with("[impossible]"); }));
}

TEST_CASE("a store on a network file system is no policy, and is named with what to change", "[E03]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const FuseMount mount(site.file("remote"));
    const std::string good = read_text(site.config_path());
    std::string bad = good;
    const std::string local = std::filesystem::path(site.config_path()).parent_path();
    bad.replace(bad.find(local), local.size(), site.file("remote"));
    write_text(site.config_path(), bad);
    const OpenPlugin plugin(site.config_path());
    const HookAnswer answer = submit(plugin, vision1);
    CHECK(answer.code == ESLURM_DISABLED);
    CHECK(is_unavailable(answer));
    CHECK(answer.message.find(site.file("remote")) != std::string::npos);
    CHECK(answer.message.find("fuse") != std::string::npos);
    CHECK(is_admitted(submit(plugin, vision1, "gres:gpu:1", "cpu")));
    write_text(site.config_path(), good);
    CHECK(wait_for([&] { return is_guaranteed(submit(plugin, vision1)); }));
}

TEST_CASE("a contract that changes is in force without a reconfigure") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const OpenPlugin plugin(site.config_path());
    REQUIRE(is_admitted(submit(plugin, vision1, "gres:gpu:4")));
    site.apply("vision-lab", vision1, 8, [](Contract& contract) { contract.workloads.max_gpus_per_job = 2; });
    CHECK(wait_for([&] { return submit(plugin, vision1, "gres:gpu:4").message.ends_with("[gpus_per_job]"); }));
    REQUIRE(is_admitted(submit(plugin, vision1)));
    CHECK(site.journal().back().decision.contract_version == 2);
}

TEST_CASE("a job that cannot be put on record is rejected saying so, until there is room again", "[E04]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 16);
    const OpenPlugin plugin(site.config_path());
    REQUIRE(is_admitted(submit(plugin, vision1)));
    const auto size = journal_size(site);
    {
        const FullDisk full(size + 100);
        for (int i = 0; i < 3; ++i) {
            const HookAnswer answer = submit(plugin, vision1, "gres:gpu:15");
            CHECK(answer.code == ESLURM_DISABLED);
            CHECK(is_unavailable(answer));
            CHECK(answer.message.find("cannot write") != std::string::npos);
        }
        CHECK(journal_size(site) == size);
    }
    CHECK(is_guaranteed(submit(plugin, vision1, "gres:gpu:15")));  // nothing was claimed by the refused ones
    CHECK(site.journal().back().id == DecisionId{0, 2});
}

TEST_CASE("with on_unavailable = admit, a job that cannot be put on record passes, and the log says so") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 16);
    site.write_config("", "on_unavailable = \"admit\"");
    const OpenPlugin plugin(site.config_path());
    static_cast<void>(take_log());
    REQUIRE(is_admitted(submit(plugin, vision1)));
    REQUIRE(next_log(1).size() == 1);
    const FullDisk full(journal_size(site));
    Request request(vision1);
    request.set(tres_per_job, "gres:gpu:1");
    const HookAnswer answer = plugin.submit(request.desc(), vision1);
    CHECK(is_admitted(answer));
    CHECK(answer.message.starts_with("accord: exempt"));
    CHECK(request.text(admin_comment).empty());
    const auto entries = request.spank_env();
    REQUIRE(entries.size() == 1);
    CHECK(site.unseal(entries[0].substr(entries[0].find('=') + 1)).exempt);
    const auto lines = take_log();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with("error: accord: decision=none kind=submission"));
    CHECK(lines[0].find("trouble=\"") != std::string::npos);
}

TEST_CASE("a journal that cannot be opened is tried again") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    write_text(site.journal_dir(), "in the way");
    const OpenPlugin plugin(site.config_path());
    const HookAnswer answer = submit(plugin, vision1);
    CHECK(is_unavailable(answer));
    CHECK(answer.message.find(site.journal_dir()) != std::string::npos);
    std::filesystem::remove(site.journal_dir());
    CHECK(wait_for([&] { return is_guaranteed(submit(plugin, vision1)); }));
}

TEST_CASE("a process that is not SlurmUser's writes no journal") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    set_host({4242, true, 0});
    const OpenPlugin plugin(site.config_path());
    CHECK(is_unavailable(submit(plugin, vision1)));
    CHECK_FALSE(std::filesystem::exists(site.journal_dir()));
}

TEST_CASE("claims survive a restart: they are read back from the journal") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8, [](Contract& contract) { contract.capacity["a100"].borrow_limit = 0; });
    for (int start = 0; start < 2; ++start) {
        const OpenPlugin plugin(site.config_path());
        CHECK(is_guaranteed(submit(plugin, vision1, "gres:gpu:4")));
    }
    const OpenPlugin plugin(site.config_path());
    CHECK(submit(plugin, vision1, "gres:gpu:4").message.starts_with("accord: queued"));
    const auto records = site.journal();
    REQUIRE(records.size() == 3);
    CHECK(records[2].id == DecisionId{0, 3});
    CHECK(records[2].prev_hash == records[1].hash);
}

TEST_CASE("a snapshot ends the claims that it accounts for, and an older one brings them back") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 4, [](Contract& contract) { contract.capacity["a100"].borrow_limit = 0; });
    const OpenPlugin plugin(site.config_path());
    REQUIRE(is_guaranteed(submit(plugin, vision1, "gres:gpu:4")));
    site.write_ledger(1);
    CHECK(wait_for([&] { return is_guaranteed(submit(plugin, vision1, "gres:gpu:4")); }));
    site.write_ledger(0);
    CHECK(wait_for([&] {
        static_cast<void>(submit(plugin, vision1, "gres:gpu:4"));
        return site.journal().back().inputs.find("\"guaranteed\":{\"a100\":8}") != std::string::npos;
    }));
}

TEST_CASE("a damaged snapshot is refused, and the one before stays") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 4, [](Contract& contract) { contract.capacity["a100"].borrow_limit = 0; });
    ContractClaims claims;
    claims.guaranteed = {{"a100", 4}};
    site.write_ledger(0, {{"vision-lab/gpu", claims}});
    const OpenPlugin plugin(site.config_path());
    REQUIRE(submit(plugin, vision1, "gres:gpu:4").message.starts_with("accord: queued"));
    static_cast<void>(take_log());
    write_text(site.file("ledger"), "{}");
    CHECK(wait_for([&] {
        for (const std::string& line : take_log())
            if (line.find("ledger: cannot read") != std::string::npos) return true;
        return false;
    }));
    CHECK(submit(plugin, vision1, "gres:gpu:4").message.starts_with("accord: queued"));
}

TEST_CASE("submissions from many threads never claim more than the guarantee, and each is on record once", "[A29]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8, [](Contract& contract) { contract.capacity["a100"].borrow_limit = 0; });
    const OpenPlugin plugin(site.config_path());
    constexpr int threads = 8, each = 25;
    std::vector<std::thread> clients;
    for (int i = 0; i < threads; ++i)
        clients.emplace_back([&] {
            for (int n = 0; n < each; ++n) static_cast<void>(submit(plugin, vision1));
        });
    for (std::thread& client : clients) client.join();
    const auto records = site.journal();
    REQUIRE(records.size() == threads * each);
    std::set<std::uint64_t> numbers;
    Gpus guaranteed = 0;
    std::string head(no_hash);
    for (const JournalRecord& record : records) {
        numbers.insert(record.id.number);
        if (record.decision.cls == JobClass::guaranteed) guaranteed += total(record.decision.claim);
        CHECK(record.prev_hash == head);
        head = record.hash;
    }
    CHECK(numbers.size() == records.size());
    CHECK(guaranteed == 8);
}

TEST_CASE("nothing in the plugin asks the name service", "[A31]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    const int before = name_service_calls();
    REQUIRE(getpwuid(54321) == nullptr);
    REQUIRE(name_service_calls() == before + 1);
    const OpenPlugin plugin(site.config_path());
    CHECK(wait_for([&] { return is_admitted(submit(plugin, vision1)); }));
    CHECK(submit(plugin, 54321).message.find("54321") != std::string::npos);
    Request update(vision1);
    update->priority = INFINITE;
    CHECK(plugin.modify(update.desc(), nullptr, vision1).code != SLURM_SUCCESS);
    site.apply("speech-lab", speech1, 8);
    CHECK(wait_for([&] { return is_admitted(submit(plugin, speech1)); }));
    CHECK(name_service_calls() == before + 1);
}

TEST_CASE("without munged a seal made before serves, and a user without one is rejected", "[D04]") {
    if (!is_root()) return;
    const Site site;
    site.apply("vision-lab", vision1, 8);
    site.apply("speech-lab", speech1, 8);
    const OpenPlugin plugin(site.config_path());
    REQUIRE(wait_for([&] { return is_guaranteed(submit(plugin, vision1)); }));
    Site::stop_munged();
    const auto before = site.journal().size();
    CHECK(is_guaranteed(submit(plugin, vision1)));
    const HookAnswer answer = submit(plugin, speech1);
    CHECK(is_unavailable(answer));
    CHECK(site.journal().size() == before + 1);
}
