// SPDX-License-Identifier: GPL-2.0-or-later
// The program itself, over a store that was made for the test, on a host without Slurm.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "root.hpp"
#include "store/contracts_db.hpp"
#include "store/decisions_db.hpp"
#include "store/ledger_file.hpp"
#include "store/records.hpp"
#include "store/store_paths.hpp"
#include "store/usage_db.hpp"
#include "temp_dir.hpp"

using namespace accord;
using nlohmann::json;

namespace {

struct Output {
    int code = -1;
    std::string out;  ///< with stderr, unless it was turned away
};

/// A site with one pool of 16 a100, the contract vision/gpu with 8 of them, and a few decisions.
class Site {
public:
    Site() : paths_(dir_ / "store") {
        REQUIRE(::mkdir(paths_.dir.c_str(), 0750) == 0);
        std::ofstream(dir_ / "accord.toml") << "cluster = \"test\"\n[store]\ndir = \"" << paths_.dir
                                            << "\"\n[[pool]]\npartition = \"gpu\"\nlend_partition = \"gpu-lend\"\n"
                                               "gpus = { a100 = 16 }\n[governance]\nacknowledgements = []\nfour_eyes = false\n";
        // a Slurm without accounting and with nobody at home: without a slurm.conf sacctmgr waits for one
        std::ofstream(dir_ / "slurm.conf") << "ClusterName=test\nSlurmctldHost=localhost\nSlurmctldPort=1\n";
        apply_contract();
        decide(a_submission(), 17);
        auto borrowed = a_submission(new_year_s + 60);
        borrowed.cls = JobClass::borrowed, borrowed.reason = Reason::headroom;
        borrowed.message = "accord: borrowed: 2 a100 for vision/gpu";
        decide(borrowed, 18);
        auto rejected = a_submission(new_year_s + 120);
        rejected.account = "speech", rejected.contract.clear(), rejected.cls.reset(), rejected.claim.clear();
        rejected.verdict = Verdict::rejected, rejected.reason = Reason::no_contract;
        decide(rejected);
        write_usage();
    }

    [[nodiscard]] const StorePaths& paths() const { return paths_; }

    [[nodiscard]] Output run(const std::string& arguments, const std::string& before = "") const {
        const auto command = before + "SLURM_CONF=" + (dir_ / "slurm.conf") + " ACCORD_CONF=" + (dir_ / "accord.toml") + " " +
                             program_ + " " + arguments + " 2>&1";
        Output output;
        std::FILE* pipe = ::popen(command.c_str(), "r");
        REQUIRE(pipe);
        std::array<char, 4096> part{};
        while (const auto got = std::fread(part.data(), 1, part.size(), pipe)) output.out.append(part.data(), got);
        const int status = ::pclose(pipe);
        output.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return output;
    }
    /// Puts the program where every user can run it: the tree may lie in a home that others may not enter.
    void open_to_everyone() {
        REQUIRE(::chmod(dir_.path().c_str(), 0755) == 0);
        const auto built = std::filesystem::path(ACCORD_PROGRAM).parent_path() / ".libs/accord";
        const auto library = std::filesystem::path(ACCORD_PROGRAM).parent_path() / "../../.libs/libaccord.so.0";
        REQUIRE(std::filesystem::copy_file(built, dir_ / "accord"));
        REQUIRE(std::filesystem::copy_file(library, dir_ / "libaccord.so.0"));
        program_ = "LD_LIBRARY_PATH=" + dir_.path() + " " + (dir_ / "accord");
    }
    [[nodiscard]] json listing(const std::string& arguments) const {
        const auto output = run(arguments + " --json 2>/dev/null;");
        INFO(output.out);
        REQUIRE(output.code == 0);
        return json::parse(output.out);
    }

    JournalRecord decide(Decision decision, std::optional<std::uint32_t> job_id = {}) {
        auto writer = JournalWriter::open(paths_.journal, 0);
        REQUIRE(writer);
        JournalRecord record;
        record.decision = std::move(decision);
        REQUIRE(writer->append(record));
        auto db = DecisionsDb::open(paths_.decisions_db, DecisionsDb::Open::read_write);
        REQUIRE(db);
        REQUIRE(db->load({record}));
        if (job_id) REQUIRE(db->link({{record.id, *job_id}}));
        return record;
    }

private:
    void apply_contract() {
        const auto path = dir_ / "vision.toml";
        std::ofstream(path) << "schema = 1\naccount = \"vision\"\npartition = \"gpu\"\npurpose = \"test\"\n"
                               "valid_from = 2026-01-01\nvalid_until = 2099-12-31\n"
                               "[owners]\nbusiness = \"root\"\noperations = \"root\"\ncost = \"root\"\ncost_center = \"C\"\n"
                               "[members]\nusers = [\"vision1\"]\n[workloads]\nallowed = [\"batch\"]\n"
                               "[capacity.a100]\nguaranteed = 8\nborrow_limit = 4\n";
        const auto applied = run("apply " + path);
        INFO(applied.out);
        REQUIRE(applied.code == 0);
    }
    void write_usage() {
        auto usage = UsageDb::open(paths_.usage_db, UsageDb::Open::read_write);
        REQUIRE(usage);
        UsageInterval lent;
        lent.job_id = 18, lent.contract = "vision/gpu", lent.cls = JobClass::borrowed, lent.gpus = {{"a100", 2}};
        lent.start_s = new_year_s + 65, lent.end_s = new_year_s + 125, lent.ended = "preempted", lent.beneficiary_job = 17;
        UsageInterval own = lent;
        own.job_id = 17, own.cls = JobClass::guaranteed, own.end_s.reset(), own.ended.clear(), own.beneficiary_job.reset();
        REQUIRE(usage->put_intervals({lent, own}));
        Action promotion;
        promotion.job_id = 18, promotion.contract = "vision/gpu", promotion.from = JobClass::borrowed, promotion.gpus = {{"a100", 2}};
        REQUIRE(usage->begin_action(promotion, new_year_s + 200));
        REQUIRE(usage->set_outcome(1, "done"));
    }

    TempDir dir_;
    std::string program_ = ACCORD_PROGRAM;
    StorePaths paths_;
};

std::vector<std::string> values(const json& rows, const char* column) {
    std::vector<std::string> found;
    for (const auto& row : rows) found.push_back(row[column].is_string() ? row[column].get<std::string>() : row[column].dump());
    return found;
}

using Values = std::vector<std::string>;

}  // namespace

TEST_CASE("decisions are listed with every column of the view, and filtered") {
    const Site site;
    const auto all = site.listing("decisions");
    REQUIRE(all.size() == 3);
    CHECK(all[0].size() == 20);
    CHECK(all[0]["id"] == "0-1");
    CHECK(all[0]["time"] == "2026-01-01T00:00:00Z");
    CHECK(all[0]["class"] == "guaranteed");
    CHECK(all[0]["job_id"] == 17);
    CHECK(all[2]["job_id"].is_null());
    CHECK(values(site.listing("decisions --account speech"), "id") == Values{"0-3"});
    CHECK(values(site.listing("decisions --reason headroom --partition gpu"), "id") == Values{"0-2"});
    CHECK(values(site.listing("decisions --since 2026-01-01T00:01:00Z"), "id") == Values{"0-2", "0-3"});
    CHECK(values(site.listing("decisions --job 18"), "id") == Values{"0-2"});
    CHECK(values(site.listing("decisions --id 0-1"), "id") == Values{"0-1"});
    CHECK(site.listing("decisions --since 1d").empty());
    const auto table = site.run("decisions --account vision");
    CHECK(table.out ==
          "ID   TIME                  KIND        JOB  USER     ACCOUNT  PARTITION  GPUS    VERDICT   CLASS       REASON\n"
          "0-1  2026-01-01T00:00:00Z  submission   17  vision1  vision   gpu        2 a100  admitted  guaranteed  -\n"
          "0-2  2026-01-01T00:01:00Z  submission   18  vision1  vision   gpu        2 a100  admitted  borrowed    headroom\n");
}

TEST_CASE("a wrong option value is wrong usage, and an unreadable setting is refused") {
    const Site site;
    CHECK(site.run("decisions --since yesterday").code == 2);
    CHECK(site.run("decisions --id seventeen").code == 2);
    CHECK(site.run("decisions --colour red").code == 2);
    CHECK(site.run("why seventeen").code == 2);
    CHECK(site.run("audit verify --head nonsense").code == 2);
    CHECK(site.run("count-gpus --nodes x").code == 2);
    CHECK(site.run("status --pool none").code == 1);
    CHECK(site.run("ACCORD_CONF=/nonexistent status", "").code != 0);
}

TEST_CASE("status tells claims, headroom and what runs, and that accordd is down") {
    const Site site;
    LedgerBase base;
    base.taken_s = new_year_s + 100;
    base.resolved_through = 3;
    base.contracts["vision/gpu"].guaranteed = {{"a100", 2}};
    base.contracts["vision/gpu"].queued_jobs = 1;
    REQUIRE(write_ledger(site.paths().ledger, base));
    const auto rows = site.listing("status");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0] == json{{"contract", "vision/gpu"}, {"pool", "gpu"}, {"state", "active"}, {"gpu_type", "a100"},
                          {"guaranteed", 8}, {"claimed", 2}, {"headroom", 6}, {"borrowed", 0}, {"excess", 0},
                          {"in_use", 2}, {"lent", 0}, {"lendable", 6}, {"queued_jobs", 1}, {"budget_period", nullptr},
                          {"budget_gpu_hours", nullptr}, {"budget_used_gpu_hours", nullptr},
                          {"budget_period_end", nullptr}});
    const auto text = site.run("status --pool gpu").out;
    CHECK(text.find("pool gpu: 16 a100; 8 guaranteed, 8 owned by no contract; 2 in use, 0 of them lent\n") != std::string::npos);
    CHECK(text.find("claims: snapshot of 2026-01-01T00:01:40Z, and 0 later decisions\n") != std::string::npos);
    CHECK(text.find("accordd is not running on this host") != std::string::npos);
}

TEST_CASE("without a snapshot the claims are those of the journal") {
    const Site site;
    const auto rows = site.listing("status");
    CHECK(rows[0]["claimed"] == 2);
    CHECK(rows[0]["borrowed"] == 2);
    CHECK(site.run("status").out.find("no snapshot by accordd yet") != std::string::npos);
}

TEST_CASE("a preempted job's story names the job that took its GPUs back") {
    const Site site;
    const auto story = site.listing("why 18");
    CHECK(values(story, "event") == Values{"decision", "start", "end", "action"});
    CHECK(story[2]["text"] == "it was preempted after 1 min for job 17, which took back GPUs of vision/gpu's guarantee");
    CHECK(site.run("why 18").out.find("2026-01-01T00:01:00Z  vision1 submitted it as account vision to partition gpu; decision "
                                      "0-2: admitted: borrowed: 2 a100 for vision/gpu.\n") != std::string::npos);
}

TEST_CASE("a job that nobody knows is refused by name") {
    const Site site;
    const auto answer = site.run("why 99");
    CHECK(answer.code == 1);
    CHECK(answer.out == "accord: slurmctld: cannot reach it: Unable to contact slurm controller (connect failure)\n"
                        "accord: job 99: the record does not know it\n");
}

TEST_CASE("audit verifies a sound store and names a row that was changed") {
    const Site site;
    const auto head = site.run("audit head");
    CHECK(head.code == 0);
    CHECK(head.out.starts_with("accord-heads "));
    CHECK(std::count(head.out.begin(), head.out.end(), '\n') == 1);
    const auto sound = site.run("audit verify");
    CHECK(sound.code == 0);
    CHECK(sound.out.find("consistent, not proven complete") != std::string::npos);
    const auto complete = site.run("audit verify --head '" + head.out.substr(0, head.out.size() - 1) + "'");
    CHECK(complete.code == 0);
    CHECK(complete.out.find("consistent, and complete up to the heads given") != std::string::npos);

    {
        SQLite::Database db(site.paths().decisions_db, SQLite::OPEN_READWRITE);
        db.exec("DROP TRIGGER decision_record_update; UPDATE decision_record SET uid = 0 WHERE id = '0-2'");
    }
    const auto broken = site.run("audit verify");
    CHECK(broken.code == 1);
    CHECK(broken.out.find("accord: decisions-0: altered: 0-2 has another \"uid\" than was recorded\n") != std::string::npos);
}

TEST_CASE("count-gpus tells the interval and how it came about") {
    const Site site;
    const auto rows = site.listing("count-gpus --gres=gpu:2 -N 2-4");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["pool"] == "gpu");
    CHECK(rows[0]["gpu_type"] == "a100");
    CHECK(rows[0]["gpus_min"] == 4);
    CHECK(rows[0]["gpus_max"] == 8);
    CHECK(rows[0]["exact"] == true);
    const auto array = site.run("count-gpus --gpus=2 --array=0-9%4");
    CHECK(array.out.starts_with("2 a100 a task in pool gpu\n"));
    CHECK(array.out.find("10 tasks, 4 at once: the array claims up to 8 a100") != std::string::npos);
    CHECK(site.run("count-gpus --gpus=1 -p cpu").code == 2);
}

TEST_CASE("wrong usage is told in one line that says what is wrong") {
    const Site site;
    const auto wrong = [&](const std::string& arguments) {
        const auto answer = site.run(arguments);
        CHECK(answer.code == 2);
        return answer.out;
    };
    CHECK(wrong("stauts") == "accord: stauts: no such subcommand or option (see accord --help)\n");
    CHECK(wrong("audit vrify") == "accord: vrify: no such subcommand or option (see accord audit --help)\n");
    CHECK(wrong("") == "accord: A subcommand is required (see accord --help)\n");
    CHECK(wrong("why") == "accord: JOBID is required (see accord why --help)\n");
    CHECK(wrong("why 0").starts_with("accord: 0: expected a job's number"));
    CHECK(wrong("why \"$(printf '1\\n\\0332')\"").starts_with("accord: 1??2: expected a job's number"));
    CHECK(wrong("audit verify --head ''").starts_with("accord: cannot read the heads"));
    CHECK(wrong("count-gpus --ntasks=0") == "accord: --ntasks: 0: expected a whole number of 1 or more (see accord count-gpus --help)\n");
}

TEST_CASE("who may not read the store is told whom to ask") {
    if (!is_root()) return;
    Site site;
    site.open_to_everyone();
    for (const auto* command : {"status", "decisions", "why 17", "audit verify", "audit head"}) {
        const auto answer = site.run(command, "setpriv --reuid 65534 --regid 65534 --clear-groups env ");
        INFO(command);
        CHECK(answer.code == 1);
        CHECK(answer.out.find("cannot read it: ask an administrator; only root, root may") != std::string::npos);
    }
}
