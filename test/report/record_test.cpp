// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/record.hpp"

#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "store/ledger_file.hpp"
#include "store/records.hpp"
#include "temp_dir.hpp"

using namespace accord;

namespace {

class Store {
public:
    Store() : paths_(dir_.path()) {}
    [[nodiscard]] const StorePaths& paths() const { return paths_; }

    JournalRecord decide(Decision decision) {
        auto writer = JournalWriter::open(paths_.journal, 0);
        REQUIRE(writer);
        JournalRecord record;
        record.decision = std::move(decision);
        REQUIRE(writer->append(record));
        return record;
    }
    void load(const JournalRecord& record) {
        auto db = DecisionsDb::open(paths_.decisions_db, DecisionsDb::Open::read_write);
        REQUIRE(db);
        REQUIRE(db->load({record}));
    }
    [[nodiscard]] std::vector<std::string> ids(const DecisionQuery& query) const {
        const auto record = Record::open(paths_);
        REQUIRE(record);
        const auto rows = record->decisions(query);
        REQUIRE(rows);
        std::vector<std::string> found;
        for (const auto& row : *rows) found.push_back(row.id);
        return found;
    }

private:
    TempDir dir_;
    StorePaths paths_;
};

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("decisions are listed whether or not they are loaded") {
    Store store;
    CHECK(store.ids({}).empty());
    store.load(store.decide(a_submission()));
    auto rejected = a_submission(new_year_s + 60);
    rejected.account = "speech", rejected.verdict = Verdict::rejected, rejected.reason = Reason::not_member;
    store.decide(rejected);
    store.decide(a_modification({0, 1}, 17, new_year_s + 120));

    CHECK(store.ids({}) == Ids{"0-1", "0-2", "0-3"});
    CHECK(store.ids({.account = "speech"}) == Ids{"0-2"});
    CHECK(store.ids({.partition = "big"}).empty());
    CHECK(store.ids({.reason = "not_member"}) == Ids{"0-2"});
    CHECK(store.ids({.since_s = new_year_s + 60}) == Ids{"0-2", "0-3"});
    CHECK(store.ids({.job_id = 17}) == Ids{"0-3"});
    CHECK(store.ids({.id = DecisionId{0, 2}}) == Ids{"0-2"});
    CHECK(store.ids({.about = DecisionId{0, 1}}) == Ids{"0-1", "0-3"});
}

TEST_CASE("what is known of a job includes what is not loaded yet") {
    Store store;
    auto queued = a_submission();
    queued.verdict = Verdict::queued, queued.cls = JobClass::queued;
    const auto own = store.decide(queued);
    const auto known = [&](std::optional<std::uint32_t> job_id = {}) {
        return Record::open(store.paths()).value().facts(own.id, job_id).value();
    };
    REQUIRE(known());
    CHECK(known()->cls == JobClass::queued);
    CHECK(known()->decided_s == new_year_s);
    store.load(own);
    auto released = a_modification(own.id, 17, new_year_s + 1);
    released.cls = JobClass::borrowed, released.user_hold = true;
    store.decide(released);
    CHECK(known()->cls == JobClass::borrowed);
    CHECK(known()->user_wants_hold);
    CHECK(known(18)->cls == JobClass::queued);
    auto raised = a_modification(own.id, 17, new_year_s + 2);
    raised.cls.reset(), raised.throttle = 4;
    store.decide(raised);
    CHECK(known()->throttle == 4);
    CHECK(known(18)->throttle == 4);
    CHECK_FALSE(Record::open(store.paths()).value().facts({0, 9}).value());
}

TEST_CASE("a bad line of the journal is a warning, and what follows it is listed") {
    Store store;
    store.decide(a_submission());
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::directory_iterator(store.paths().journal))
        if (entry.path().extension() == ".jsonl") file = entry.path();
    std::ofstream(file, std::ios::app) << "nonsense\n";
    store.decide(a_submission());
    const auto record = Record::open(store.paths());
    REQUIRE(record);
    CHECK(record->decisions({}).value().size() == 2);
    REQUIRE(record->warnings().size() == 1);
    CHECK(record->warnings()[0].starts_with(file.string()));
}

TEST_CASE("the ledger of now is the snapshot and the decisions that it does not account for") {
    Store store;
    const auto counted = store.decide(a_submission()), open = store.decide(a_submission());
    auto elsewhere = a_submission();
    elsewhere.contract = "speech/gpu", elsewhere.cls = JobClass::borrowed;
    store.decide(elsewhere);
    LedgerBase base;
    base.resolved_through = counted.id.number;
    base.contracts["vision/gpu"].guaranteed = {{"a100", 2}};
    REQUIRE(write_ledger(store.paths().ledger, base));

    const auto now = ledger_now(store.paths(), 0);
    REQUIRE(now);
    CHECK(now->contracts == Ids{"speech/gpu", "vision/gpu"});
    CHECK(now->ledger.of("vision/gpu").guaranteed == GpuVector{{"a100", 4}});
    CHECK(now->ledger.of("speech/gpu").borrowed == GpuVector{{"a100", 2}});
}

TEST_CASE("without a snapshot the ledger of now is the whole journal") {
    Store store;
    store.decide(a_submission());
    const auto now = ledger_now(store.paths(), 0);
    REQUIRE(now);
    CHECK(now->ledger.of("vision/gpu").guaranteed == GpuVector{{"a100", 2}});
    CHECK(now->ledger.base().taken_s == 0);
}
