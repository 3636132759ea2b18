// SPDX-License-Identifier: GPL-2.0-or-later
// A journal's line holds a decision whole, and its hash.
#include "store/journal_record.hpp"

#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "catch.hpp"
#include "store/hash.hpp"
#include "store/journal_example.hpp"

using namespace accord;

namespace {

JournalRecord placed(JournalRecord record) {
    record.id = {0, 18};
    record.prev_hash = no_hash;
    return record;
}

bool equal(const Decision& a, const Decision& b) {
    return a.kind == b.kind && a.time_s == b.time_s && a.mode == b.mode && a.user == b.user && a.uid == b.uid &&
           a.account == b.account && a.partition == b.partition && a.contract == b.contract &&
           a.contract_version == b.contract_version && a.verdict == b.verdict && a.cls == b.cls && a.reason == b.reason &&
           a.gpus == b.gpus && a.claim == b.claim && a.job_id == b.job_id && a.job_decision == b.job_decision &&
           a.user_hold == b.user_hold && a.throttle == b.throttle && a.message == b.message;
}

}  // namespace

TEST_CASE("a record's line is written in one way") {
    JournalRecord record = placed(example_record());
    const std::string line = encode(record);
    CHECK(line ==
          R"({"v":1,"id":"0-18","kind":"submission","time_s":1790000000,"mode":"enforce","user":"vision1","uid":1001,)"
          R"("account":"vision-lab","partition":"gpu","contract":"vision-lab/gpu","contract_version":3,)"
          R"("verdict":"admitted","class":"guaranteed","reason":"","gpus":{"a100":[4,8],"v100":[0,1]},)"
          R"("claim":{"a100":8,"v100":1},"message":"accord: guaranteed: 8 a100 of vision-lab in gpu",)"
          R"("inputs":{"partitions":["gpu"],"tres_per_job":"gres:gpu:8"},)"
          R"("prev_hash":"0000000000000000000000000000000000000000000000000000000000000000",)"
          R"("hash":")" + record.hash + "\"}");
    CHECK(nlohmann::json::accept(line));
    CHECK(record.hash.size() == 64);
    CHECK(record.job_decision == record.id);
}

TEST_CASE("an array's throttle stands before the message") {
    JournalRecord record = placed(example_modification());
    record.decision.throttle = 0;
    CHECK(encode(record).find(R"(,"user_hold":true,"throttle":0,"message":)") != std::string::npos);
}

TEST_CASE("a line's hash is that of the line without it") {
    JournalRecord record = placed(example_record());
    const std::string line = encode(record);
    const std::string without = line.substr(0, line.find(",\"hash\"")) + "}";
    CHECK(record.hash == blake2b_hex(without));
    CHECK(hash_of_line(line) == record.hash);
    CHECK(hash_in_line(line) == record.hash);
    std::string changed = line;
    changed.replace(changed.find("vision1"), 7, "vision2");
    CHECK(hash_of_line(changed) != hash_in_line(changed));
}

TEST_CASE("the hash is BLAKE2b with 32 bytes") {
    CHECK(blake2b_hex("") == "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    CHECK(blake2b_hex("abc") == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST_CASE("a record reads back as it was written") {
    JournalRecord without_inputs = example_record();
    without_inputs.inputs.clear();
    JournalRecord of_array = example_record();
    of_array.decision.throttle = 4;
    for (const JournalRecord& example : {example_record(), example_modification(), without_inputs, of_array}) {
        JournalRecord record = placed(example);
        const auto read = decode_record(encode(record));
        REQUIRE(read);
        CHECK(equal(read->decision, record.decision));
        CHECK(read->id == record.id);
        CHECK(read->job_decision == record.job_decision);
        CHECK(read->inputs == (record.inputs.empty() ? "{}" : record.inputs));
        CHECK(read->prev_hash == record.prev_hash);
        CHECK(read->hash == record.hash);
    }
}

TEST_CASE("a modification names the decision that its job carries") {
    JournalRecord record = placed(example_modification());
    const auto read = decode_record(encode(record));
    REQUIRE(read);
    CHECK(read->job_decision == DecisionId{0, 17});
    record.decision.job_decision.reset();
    CHECK(decode_record(encode(record))->job_decision == DecisionId{});
}

TEST_CASE("any texts and numbers read back from a line that is JSON") {
    CHECK(rc::check([] {
        JournalRecord record = placed(*rc::gen::arbitrary<bool>() ? example_record() : example_modification());
        const auto ascii = rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
        Decision& decision = record.decision;
        decision.user = *ascii;
        decision.account = *ascii;
        decision.message = *ascii;
        decision.uid = *rc::gen::arbitrary<std::uint32_t>();
        decision.time_s = *rc::gen::arbitrary<std::int64_t>();
        decision.contract_version = *rc::gen::arbitrary<std::uint32_t>();
        decision.claim[*ascii] = *rc::gen::arbitrary<Gpus>();
        decision.gpus[*ascii] = {*rc::gen::arbitrary<Gpus>(), *rc::gen::arbitrary<Gpus>()};
        const std::string line = encode(record);
        RC_ASSERT(nlohmann::json::accept(line));
        RC_ASSERT(line.find('\n') == std::string::npos);
        const auto read = decode_record(line);
        RC_ASSERT(read.has_value());
        RC_ASSERT(equal(read->decision, decision));
    }));
}

TEST_CASE("what is not a record is refused with the member that is wrong") {
    JournalRecord record = placed(example_modification());
    const std::string line = encode(record);
    const auto error_with = [&](const std::string& from, const std::string& to) {
        std::string changed = line;
        changed.replace(changed.find(from), from.size(), to);
        const auto read = decode_record(changed);
        REQUIRE_FALSE(read);
        CHECK(read.error().code == "invalid");
        return read.error().what;
    };
    const auto said = [](const std::string& member) {
        return "journal: cannot read a record: its member \"" + member + "\" is not as written";
    };
    CHECK(error_with("\"v\":1", "\"v\":2") == said("id"));
    CHECK(error_with("0-18", "0-x") == said("id"));
    CHECK(error_with("0-18", "0-018") == said("id"));
    CHECK(error_with("\"modification\"", "\"revision\"") == said("kind"));
    CHECK(error_with("\"observe\"", "\"watch\"") == said("mode"));
    CHECK(error_with("\"rejected\"", "\"denied\"") == said("verdict"));
    CHECK(error_with("\"class\":\"\"", "\"class\":\"best\"") == said("class"));
    CHECK(error_with("\"uid\":1001", "\"uid\":-1") == said("uid"));
    CHECK(error_with("\"uid\":1001,", "") == said("uid"));
    CHECK(error_with("\"job_decision\":\"0-17\"", "\"job_decision\":\"17\"") == said("job_decision"));
    CHECK(error_with("\"inputs\":{", "\"inputs\":[") == said("inputs"));
    CHECK(error_with("\"prev_hash\":\"0000", "\"prev_hash\":\"zzzz") == said("prev_hash"));
    CHECK(error_with(record.hash, record.hash.substr(1) + "G") == said("hash"));
    CHECK(decode_record("").error().what == said("hash"));
}

TEST_CASE("no cut or changed line crashes the reader") {
    JournalRecord record = placed(example_modification());
    const std::string line = encode(record);
    CHECK(rc::check([&] {
        std::string text = line;
        text[*rc::gen::inRange<std::size_t>(0, line.size())] = *rc::gen::arbitrary<char>();
        text.resize(*rc::gen::inRange<std::size_t>(0, line.size() + 1));
        const auto read = decode_record(text);
        if (text.size() < line.size()) RC_ASSERT_FALSE(read.has_value());
    }));
}
