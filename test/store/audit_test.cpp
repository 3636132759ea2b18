// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/audit.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "catch.hpp"
#include "store/contracts_db.hpp"
#include "store/decisions_db.hpp"
#include "store/records.hpp"
#include "store/usage_db.hpp"
#include "temp_dir.hpp"

using namespace accord;

namespace {

using Lines = std::vector<std::string>;

/// A store in which a contract was applied twice, five decisions were made and loaded, and three actions taken.
class Evidence {
public:
    Evidence() : paths_(dir_.path()) {
        write_decisions(5);
        load();
        auto usage = UsageDb::open(paths_.usage_db, UsageDb::Open::read_write);
        REQUIRE(usage);
        apply_contract(4);
        apply_contract(8);
        for (int i = 0; i < 3; ++i) REQUIRE(usage->begin_action(Action{.job_id = 17u, .contract = "vision/gpu"}, new_year_s));
    }

    [[nodiscard]] const StorePaths& paths() const { return paths_; }
    [[nodiscard]] std::string journal_file() const {
        std::vector<std::string> files;
        for (const auto& entry : std::filesystem::directory_iterator(paths_.journal))
            if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
        std::sort(files.begin(), files.end());
        REQUIRE_FALSE(files.empty());
        return files.back();
    }

    void apply_contract(Gpus guaranteed) {
        Config config;
        config.pools.push_back({"gpu", "gpu-lend", "auto", {{"a100", 16}}});
        config.governance = {{}, false, 0};
        Contract contract;
        contract.account = "vision";
        contract.partition = "gpu";
        contract.valid_until_s = new_year_s + 86400;
        contract.capacity["a100"].guaranteed = guaranteed;
        auto db = ContractsDb::open(paths_.contracts_db, ContractsDb::Open::read_write);
        REQUIRE(db);
        REQUIRE(db->apply({{"vision.toml", "guaranteed = " + std::to_string(guaranteed), contract}}, config,
                          {1000, 1001, "gpu-ops"}, new_year_s));
    }
    void write_decisions(int count, std::int64_t time_s = new_year_s) {
        auto writer = JournalWriter::open(paths_.journal, 0);
        REQUIRE(writer);
        for (int i = 0; i < count; ++i) {
            JournalRecord record;
            record.decision = a_submission(time_s);
            REQUIRE(writer->append(record));
        }
    }
    void load() {
        auto db = DecisionsDb::open(paths_.decisions_db, DecisionsDb::Open::read_write);
        REQUIRE(db);
        std::vector<JournalRecord> records;
        JournalReader reader(paths_.journal);
        REQUIRE(reader.read_new(db->last_number(0).value(), [&](const auto& record) { records.push_back(record); }));
        REQUIRE(db->load(records));
    }
    /// Changes the newest file's lines.
    void edit_journal(const std::function<void(Lines&)>& edit) {
        const auto path = journal_file();
        std::ifstream in(path);
        Lines lines;
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        in.close();
        edit(lines);
        std::ofstream out(path);
        for (const auto& line : lines) out << line << '\n';
    }
    /// What anybody who may write the file can do: the triggers are dropped first.
    void edit_database(const std::string& path, const std::string& statement) {
        SQLite::Database db(path, SQLite::OPEN_READWRITE);
        Lines triggers;
        SQLite::Statement select(db, "SELECT name FROM sqlite_master WHERE type = 'trigger'");
        while (select.executeStep()) triggers.push_back(select.getColumn(0).getString());
        select.reset();
        for (const auto& trigger : triggers) db.exec("DROP TRIGGER " + trigger);
        db.exec(statement);
    }
    void edit_decisions(const std::string& statement) { edit_database(paths_.decisions_db, statement); }

    [[nodiscard]] std::vector<ChainReport> verify(const std::vector<ChainHead>& heads = {}) const {
        const auto reports = verify_chains(paths_, heads);
        if (!reports) FAIL(reports.error().what);
        return *reports;
    }
    /// "chain: kind record: what" of every fault, one a line.
    [[nodiscard]] std::string faults(const std::vector<ChainHead>& heads = {}) const {
        std::string text;
        for (const auto& report : verify(heads))
            if (report.fault)
                text += report.chain + ": " + to_string(report.fault->kind) + " " + report.fault->record + ": " +
                        report.fault->what + "\n";
        return text;
    }
    [[nodiscard]] std::string notes() const {
        std::string text;
        for (const auto& report : verify())
            for (const auto& note : report.notes) text += report.chain + ": " + note + "\n";
        return text;
    }
    [[nodiscard]] std::vector<ChainHead> heads() const {
        const auto found = chain_heads(paths_);
        REQUIRE(found);
        return *found;
    }

private:
    TempDir dir_;
    StorePaths paths_;
};

constexpr const char* first_file = "0-00000000000000000001-20260101.jsonl";

void replace(std::string& text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    REQUIRE(at != std::string::npos);
    text.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("an untouched store is consistent, chain by chain") {
    const Evidence evidence;
    const auto reports = evidence.verify(evidence.heads());
    REQUIRE(reports.size() == 4);
    CHECK(reports[0].chain == "journal-0");
    CHECK(reports[1].chain == "decisions-0");
    CHECK(reports[2].chain == "action");
    CHECK(reports[3].chain == "contract_event");
    for (const auto& report : reports) {
        INFO(report.chain);
        CHECK_FALSE(report.fault);
        CHECK(report.notes.empty());
    }
    CHECK(reports[0].records == 5);
    CHECK(reports[0].first == "0-1");
    CHECK(reports[0].last == "0-5");
    CHECK(reports[1].records == 5);
    CHECK(reports[2].last == "3");
    CHECK(reports[3].last == "4");
}

TEST_CASE("a folder without any store has no records and no faults") {
    const TempDir dir;
    const auto reports = verify_chains(StorePaths(dir.path()), {});
    REQUIRE(reports);
    CHECK(reports->empty());
    CHECK(chain_heads(StorePaths(dir.path())).value().empty());
}

TEST_CASE("an altered line of the journal is named") {
    Evidence evidence;
    evidence.edit_journal([](Lines& lines) { replace(lines[2], "vision1", "speech1"); });
    CHECK(evidence.faults() == std::string("journal-0: altered 0-3: 0-3 at ") + first_file +
                                   ":3 does not have the hash that it names\n");
}

TEST_CASE("a line of the journal that was altered and hashed anew is named by the one that follows") {
    Evidence evidence;
    evidence.edit_journal([](Lines& lines) {
        auto record = decode_record(lines[2]).value();
        record.decision.user = "speech1";
        lines[2] = encode(record);
    });
    CHECK(evidence.faults() == "journal-0: altered 0-4: 0-4 does not follow 0-3: one of the two was rewritten\n");
}

TEST_CASE("a journal rewritten to its end is told by decisions.db") {
    Evidence evidence;
    evidence.edit_journal([](Lines& lines) {
        Chain chain;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            auto decision = a_submission();
            if (i == 2) decision.user = "speech1";
            chain.add(decision);
        }
        lines = chain.lines();
    });
    const auto faults = evidence.faults();
    CHECK(faults.starts_with("decisions-0: altered 0-1: 0-1 is not what the journal says at "));
}

TEST_CASE("a line that is taken out, put in twice, moved, or broken is named") {
    Evidence evidence;
    SECTION("taken out") {
        evidence.edit_journal([](Lines& lines) { lines.erase(lines.begin() + 2); });
        CHECK(evidence.faults() == "journal-0: missing 0-3: 0-3 is not there\n");
    }
    SECTION("two taken out") {
        evidence.edit_journal([](Lines& lines) { lines.erase(lines.begin() + 1, lines.begin() + 3); });
        CHECK(evidence.faults() == "journal-0: missing 0-2: 0-2 to 0-3 are not there\n");
    }
    SECTION("put in twice") {
        evidence.edit_journal([](Lines& lines) { lines.insert(lines.begin() + 3, lines[1]); });
        CHECK(evidence.faults() == "journal-0: inserted 0-2: 0-2 is there twice, or was put in\n");
    }
    SECTION("moved") {
        evidence.edit_journal([](Lines& lines) { std::swap(lines[2], lines[3]); });
        CHECK(evidence.faults() == "journal-0: reordered 0-3: 0-3 comes after records with higher numbers\n");
    }
    SECTION("broken") {
        evidence.edit_journal([](Lines& lines) { lines[2] = "nonsense"; });
        CHECK(evidence.faults().starts_with(std::string("journal-0: altered ") + first_file + ":3: " + first_file +
                                            ":3 is not a record: "));
    }
    SECTION("another controller's") {
        Chain other(1);
        other.add(a_submission());
        evidence.edit_journal([&](Lines& lines) { lines[2] = other.lines()[0]; });
        CHECK(evidence.faults().starts_with("journal-0: inserted 1-1: "));
    }
}

TEST_CASE("a journal cut off at its end is told by decisions.db") {
    Evidence evidence;
    evidence.edit_journal([](Lines& lines) { lines.resize(3); });
    CHECK(evidence.faults() == "journal-0: truncated 0-3: the journal ends at 0-3, decisions.db holds 0-4\n");
}

TEST_CASE("journal and decisions.db cut off together are told by a head alone") {
    Evidence evidence;
    const auto heads = evidence.heads();
    evidence.edit_journal([](Lines& lines) { lines.resize(3); });
    evidence.edit_decisions("DELETE FROM decision_line WHERE number > 3; DELETE FROM decision_record WHERE number > 3");
    CHECK(evidence.faults().empty());
    CHECK(evidence.faults(heads) == "journal-0: truncated 0-3: it ends at 0-3, the head names 5\n");
}

TEST_CASE("a store rewritten whole is told by a head alone") {
    Evidence evidence;
    const auto heads = evidence.heads();
    std::filesystem::remove_all(evidence.paths().journal);
    std::filesystem::remove(evidence.paths().decisions_db);
    evidence.write_decisions(5, new_year_s + 1);
    evidence.load();
    CHECK(evidence.faults().empty());
    CHECK(evidence.faults(heads) == "journal-0: altered 5: record 5 is not the one that the head names\n");
}

TEST_CASE("a chain that is gone is told by a head") {
    Evidence evidence;
    const auto heads = evidence.heads();
    std::filesystem::remove(evidence.paths().usage_db);
    CHECK(evidence.faults(heads) == "action: truncated : there are no records, the head names 3\n");
}

TEST_CASE("oldest files that were taken away are a note, and decisions.db vouches for what was in them") {
    Evidence evidence;
    const auto old = evidence.journal_file();
    evidence.write_decisions(2, new_year_s + 86400);
    evidence.load();
    REQUIRE(evidence.journal_file() != old);
    std::filesystem::remove(old);
    CHECK(evidence.faults(evidence.heads()).empty());
    CHECK(evidence.notes() == "journal-0: begins at 0-6: what was before is not here\n");
    evidence.edit_decisions("UPDATE decision_record SET uid = 0 WHERE id = '0-2'");
    CHECK(evidence.faults() == "decisions-0: altered 0-2: 0-2 has another \"uid\" than was recorded\n");
}

TEST_CASE("a journal without files is a note, and a fault where a head names more than decisions.db holds") {
    Evidence evidence;
    evidence.write_decisions(1);
    const auto heads = evidence.heads();
    std::filesystem::remove_all(evidence.paths().journal);
    CHECK(evidence.faults().empty());
    CHECK(evidence.notes() == "journal-0: has no files: decisions.db is judged alone\n");
    CHECK(evidence.faults(heads) == "journal-0: truncated : there are no records, the head names 6\n");
}

TEST_CASE("a whole file taken out of the middle of the journal is named by the first record that is missing") {
    Evidence evidence;
    evidence.write_decisions(2, new_year_s + 86400);
    const auto middle = evidence.journal_file();
    evidence.write_decisions(1, new_year_s + 2 * 86400);
    std::filesystem::remove(middle);
    CHECK(evidence.faults() == "journal-0: missing 0-6: 0-6 to 0-7 are not there\n");
}

TEST_CASE("what is not loaded yet and half a record at the end are notes") {
    Evidence evidence;
    evidence.write_decisions(2);
    std::ofstream(evidence.journal_file(), std::ios::app) << R"({"v":1,"id":"0-8")";
    const auto torn = std::filesystem::path(evidence.journal_file()).filename().string();
    CHECK(evidence.faults(evidence.heads()).empty());
    CHECK(evidence.notes() == "journal-0: " + torn + " ends within a record\ndecisions-0: 2 of the journal's records not loaded yet\n");
}

TEST_CASE("every change to decisions.db is named") {
    Evidence evidence;
    const auto check = [&](const std::string& statement, const std::string& fault) {
        evidence.edit_decisions(statement);
        CHECK(evidence.faults() == "decisions-0: " + fault + "\n");
    };
    SECTION("a column") {
        check("UPDATE decision_record SET verdict = 'rejected' WHERE id = '0-3'",
              "altered 0-3: 0-3 has another \"verdict\" than was recorded");
    }
    SECTION("a line") {
        check("UPDATE decision_line SET line = replace(line, 'vision1', 'speech1') WHERE number = 3",
              "altered 0-3: 0-3 at decisions.db:0-3 does not have the hash that it names");
    }
    SECTION("a row that is gone with its line") {
        check("DELETE FROM decision_record WHERE id = '0-3'; DELETE FROM decision_line WHERE number = 3",
              "missing 0-3: 0-3 is not there");
    }
    SECTION("a row that is gone without its line") {
        check("DELETE FROM decision_record WHERE id = '0-3'",
              "missing 0-3: 0-3 is not there to be queried: only its line is");
    }
    SECTION("the first row") {
        check("DELETE FROM decision_record WHERE id = '0-1'; DELETE FROM decision_line WHERE number = 1",
              std::string("missing 0-1: 0-1 is in the journal at ") + first_file + ":1, but not here");
    }
    SECTION("a row put in") {
        check("INSERT INTO decision_record SELECT account, time, '0-99', 99, kind, mode, user, uid, partition, contract, "
              "contract_version, verdict, class, reason, gpu_type, gpus_min, gpus_max, message, job_decision, user_hold, "
              "prev_hash, hash, throttle FROM decision_record WHERE id = '0-3'",
              "inserted 0-99: 0-99 was put in: it has no line");
    }
    SECTION("two lines swapped") {
        evidence.edit_decisions("UPDATE decision_line SET number = -number WHERE number IN (2, 3);"
                                "UPDATE decision_line SET number = 5 + number WHERE number < 0;"
                                "UPDATE decision_line SET id = '0-' || number WHERE number IN (2, 3)");
        CHECK(evidence.faults() == "decisions-0: reordered 0-2: 0-2 comes after records with higher numbers\n");
    }
}

TEST_CASE("every change to the actions is named") {
    Evidence evidence;
    const auto& path = evidence.paths().usage_db;
    SECTION("a column") {
        evidence.edit_database(path, "UPDATE action_record SET job_id = 18 WHERE id = 2");
        CHECK(evidence.faults() == "action: altered 2: action 2 does not have the hash that it names\n");
    }
    SECTION("a row that is gone") {
        evidence.edit_database(path, "DELETE FROM action_record WHERE id = 2");
        CHECK(evidence.faults() == "action: missing 2: action 2 is not there\n");
    }
    SECTION("a row whose chain was mended by hand") {
        evidence.edit_database(path, "UPDATE action_record SET prev_hash = hash WHERE id = 2");
        CHECK(evidence.faults() == "action: altered 2: action 2 does not have the hash that it names\n");
    }
    SECTION("the last row, by a head") {
        const auto heads = evidence.heads();
        evidence.edit_database(path, "DELETE FROM action_record WHERE id = 3");
        CHECK(evidence.faults().empty());
        CHECK(evidence.faults(heads) == "action: truncated 2: it ends at 2, the head names 3\n");
    }
}

TEST_CASE("every change to a contract's events and texts is named") {
    Evidence evidence;
    const auto& path = evidence.paths().contracts_db;
    SECTION("a column") {
        evidence.edit_database(path, "UPDATE event_record SET who = 'vision-pi' WHERE id = 2");
        CHECK(evidence.faults() == "contract_event: altered 2: event 2 does not have the hash that it names\n");
    }
    SECTION("a row that is gone") {
        evidence.edit_database(path, "DELETE FROM event_record WHERE id = 3");
        CHECK(evidence.faults() == "contract_event: missing 3: event 3 is not there\n");
    }
    SECTION("the text that was agreed to") {
        evidence.edit_database(path, "UPDATE contract_version SET text = 'guaranteed = 16' WHERE version = 2");
        CHECK(evidence.faults() ==
              "contract_event: altered 3: the text of vision/gpu version 2 is not the one that event 3 names\n");
    }
    SECTION("the last event, by a head") {
        const auto heads = evidence.heads();
        evidence.edit_database(path, "DELETE FROM event_record WHERE id = 4");
        CHECK(evidence.faults().empty());
        CHECK(evidence.faults(heads) == "contract_event: truncated 3: it ends at 3, the head names 4\n");
    }
}

TEST_CASE("two writers at once leave a journal with two heads, and it verifies") {
    Evidence evidence;
    auto first = JournalWriter::open(evidence.paths().journal, 0);
    auto second = JournalWriter::open(evidence.paths().journal, 0);
    REQUIRE(first);
    REQUIRE(second);
    for (auto* writer : {&*first, &*second, &*first, &*second}) {
        JournalRecord record;
        record.decision = a_submission();
        REQUIRE(writer->append(record));
    }
    CHECK(evidence.faults(evidence.heads()).empty());
    std::vector<std::uint64_t> numbers;
    for (const auto& head : evidence.heads())
        if (head.chain == "journal-0") numbers.push_back(head.number);
    CHECK(numbers == std::vector<std::uint64_t>{7, second->next_id().number - 1});

    SECTION("a block whose beginning is gone is named") {
        evidence.edit_journal([](Lines& lines) { lines.erase(lines.begin()); });
        CHECK(evidence.faults().starts_with("journal-0: missing 0-8: "));
    }
}

TEST_CASE("heads are written on one line and read back from a log's") {
    const Evidence evidence;
    const auto heads = evidence.heads();
    const auto line = heads_line(heads, new_year_s);
    CHECK(line.starts_with("accord-heads 2026-01-01T00:00:00Z journal-0=5:"));
    CHECK(line.find('\n') == std::string::npos);
    CHECK(heads_from("Jan  1 00:00:00 ctl accordd[17]: " + line + " (end)").value() == heads);
    for (const auto* bad : {"", "journal-0=5", "journal-0=5:abc", "journal-0=x:0000000000000000000000000000000000000000000000000000000000000000"}) {
        INFO(bad);
        CHECK_FALSE(heads_from(bad));
    }
}
