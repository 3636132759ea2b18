// SPDX-License-Identifier: GPL-2.0-or-later
// The journal over starts, days, full disks and torn lines: every record once, in one chain.
#include "store/journal.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "catch.hpp"
#include "store/hash.hpp"
#include "store/journal_example.hpp"
#include "store/journal_files.hpp"
#include "temp_dir.hpp"

using namespace accord;

namespace {

constexpr std::int64_t day_s = 86400;

JournalWriter open_writer(const std::string& dir, std::uint32_t controller = 0) {
    auto writer = JournalWriter::open(dir, controller);
    REQUIRE(writer);
    return std::move(*writer);
}

DecisionId append(JournalWriter& writer, std::int64_t time_s = 1'790'000'000) {
    JournalRecord record = example_record(time_s);
    const auto id = writer.append(record);
    REQUIRE(id);
    return *id;
}

std::vector<JournalRecord> read_all(JournalReader& reader, std::uint64_t after = 0) {
    std::vector<JournalRecord> records;
    const auto count = reader.read_new(after, [&](const JournalRecord& record) { records.push_back(record); });
    REQUIRE(count);
    CHECK(*count == records.size());
    return records;
}

std::vector<std::uint64_t> numbers_in(const std::string& dir, std::uint64_t after = 0) {
    JournalReader reader(dir);
    std::vector<std::uint64_t> numbers;
    for (const JournalRecord& record : read_all(reader, after)) numbers.push_back(record.id.number);
    return numbers;
}

void check_chain(const std::string& dir) {
    JournalReader reader(dir);
    std::string head(no_hash);
    for (const JournalRecord& record : read_all(reader)) {
        CHECK(record.prev_hash == head);
        head = record.hash;
    }
}

std::string newest_file(const std::string& dir) { return journal_files(dir, 0)->back().path; }

void append_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::app) << text; }

using Numbers = std::vector<std::uint64_t>;

/// Lets no file of this process grow beyond `bytes`, as a full disk does.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit limit{bytes, old_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, old_handler_);
    }

private:
    rlimit old_{};
    void (*old_handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("records are numbered from 1 and chained") {
    const TempDir dir;
    const std::string journal = dir / "journal";
    JournalWriter writer = open_writer(journal);
    CHECK(writer.next_id() == DecisionId{0, 1});
    CHECK(writer.head() == no_hash);
    CHECK(append(writer) == DecisionId{0, 1});
    CHECK(append(writer) == DecisionId{0, 2});
    CHECK(numbers_in(journal) == Numbers{1, 2});
    check_chain(journal);

    struct stat status {};
    REQUIRE(::stat(newest_file(journal).c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
    REQUIRE(::stat(journal.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0750);
}

TEST_CASE("each start and each day has a file of its own, in one chain") {
    const TempDir dir;
    std::int64_t time_s = 1'790'000'000;
    for (int start = 0; start < 3; ++start) {
        JournalWriter writer = open_writer(dir.path());
        append(writer, time_s);
        append(writer, time_s += day_s);
    }
    CHECK(journal_files(dir.path(), 0)->size() == 6);
    CHECK(numbers_in(dir.path()) == Numbers{1, 2, 3, 4, 5, 6});
    check_chain(dir.path());
}

TEST_CASE("file names say controller, first number and day") {
    CHECK(journal_file_name(1, 17, 1'790'000'000) == "1-00000000000000000017-20260921.jsonl");
    CHECK(journal_file_name(0, 1, 0) == "0-00000000000000000001-19700101.jsonl");
    CHECK(journal_file_name(0, 1, -1) == "0-00000000000000000001-19691231.jsonl");
}

TEST_CASE("a clock that steps backward leaves the order of the numbers") {
    const TempDir dir;
    JournalWriter writer = open_writer(dir.path());
    append(writer, 1'790'000'000);
    append(writer, 1'790'000'000 - 5 * day_s);
    append(writer, 1'790'000'000 + day_s);
    CHECK(numbers_in(dir.path()) == Numbers{1, 2, 3});
    check_chain(dir.path());
}

TEST_CASE("each controller has a journal of its own") {
    const TempDir dir;
    JournalWriter first = open_writer(dir.path(), 0);
    JournalWriter second = open_writer(dir.path(), 1);
    CHECK(append(first) == DecisionId{0, 1});
    CHECK(append(second) == DecisionId{1, 1});
    CHECK(append(first) == DecisionId{0, 2});
    JournalReader of_second(dir.path(), 1);
    const auto records = read_all(of_second);
    REQUIRE(records.size() == 1);
    CHECK(records[0].id == DecisionId{1, 1});
}

TEST_CASE("a second writer's numbers never collide with the first one's") {
    const TempDir dir;
    JournalWriter first = open_writer(dir.path());
    append(first);
    JournalWriter second = open_writer(dir.path());
    JournalWriter third = open_writer(dir.path());
    CHECK(append(second) == DecisionId{0, 2'000'001});
    CHECK(append(third) == DecisionId{0, 3'000'001});
    CHECK(append(first) == DecisionId{0, 2});
    CHECK(numbers_in(dir.path()) == Numbers{1, 2, 2'000'001, 3'000'001});
}

TEST_CASE("when the other writers are gone, numbers go on from the highest") {
    const TempDir dir;
    {
        JournalWriter first = open_writer(dir.path());
        append(first);
        JournalWriter second = open_writer(dir.path());
        append(second);
    }
    JournalWriter next = open_writer(dir.path());
    CHECK(append(next) == DecisionId{0, 2'000'002});
}

TEST_CASE("a reader gets each record once, and only those above a number") {
    const TempDir dir;
    JournalWriter writer = open_writer(dir.path());
    JournalReader reader(dir.path());
    CHECK(read_all(reader).empty());
    append(writer);
    append(writer);
    CHECK(read_all(reader, 1).size() == 1);
    CHECK(read_all(reader, 1).empty());
    append(writer, 1'790'000'000 + day_s);
    const auto records = read_all(reader, 1);
    REQUIRE(records.size() == 1);
    CHECK(records[0].id.number == 3);
    CHECK(numbers_in(dir.path(), 2) == Numbers{3});
    CHECK(numbers_in(dir.path(), 3).empty());
}

TEST_CASE("a reader sees what an older writer adds after a newer one began") {
    const TempDir dir;
    JournalWriter first = open_writer(dir.path());
    append(first);
    JournalWriter second = open_writer(dir.path());
    append(second);
    JournalReader reader(dir.path());
    CHECK(read_all(reader).size() == 2);
    append(first);
    const auto late = read_all(reader);
    REQUIRE(late.size() == 1);
    CHECK(late[0].id.number == 2);
}

TEST_CASE("a missing journal has no records") {
    const TempDir dir;
    CHECK(numbers_in(dir / "nothing").empty());
}

TEST_CASE("a torn last line is no record, and the next start goes on before it") {
    const TempDir dir;
    {
        JournalWriter writer = open_writer(dir.path());
        append(writer);
        append(writer);
    }
    append_text(newest_file(dir.path()), R"({"v":1,"id":"0-3","kind":"sub)");
    CHECK(numbers_in(dir.path()) == Numbers{1, 2});
    JournalWriter writer = open_writer(dir.path());
    CHECK(append(writer) == DecisionId{0, 3});
    CHECK(numbers_in(dir.path()) == Numbers{1, 2, 3});
    check_chain(dir.path());
}

TEST_CASE("a torn line that is completed later is read then") {
    const TempDir dir;
    {
        JournalWriter writer = open_writer(dir.path());
        append(writer);
    }
    const std::string path = newest_file(dir.path());
    const std::string whole = read_text(path);
    write_text(path, whole.substr(0, 100));
    JournalReader reader(dir.path());
    CHECK(read_all(reader).empty());
    append_text(path, whole.substr(100));
    CHECK(read_all(reader).size() == 1);
}

TEST_CASE("a file whose only line is torn is used again") {
    const TempDir dir;
    write_text(dir / journal_file_name(0, 1, 1'790'000'000), R"({"v":1,"id":"0-1")");
    JournalWriter writer = open_writer(dir.path());
    CHECK(append(writer) == DecisionId{0, 1});
    CHECK(journal_files(dir.path(), 0)->size() == 1);
    CHECK(numbers_in(dir.path()) == Numbers{1});
}

TEST_CASE("a broken line in the middle is an error that names its place, and what follows is read") {
    const TempDir dir;
    {
        JournalWriter writer = open_writer(dir.path());
        for (int i = 0; i < 3; ++i) append(writer);
    }
    const std::string path = newest_file(dir.path());
    std::string text = read_text(path);
    const auto second_line = text.find('\n') + 1;
    text.replace(text.find("vision1", second_line), 7, "vision2");
    write_text(path, text);

    JournalReader reader(dir.path());
    std::vector<std::uint64_t> numbers;
    const auto note = [&](const JournalRecord& record) { numbers.push_back(record.id.number); };
    const auto first = reader.read_new(0, note);
    REQUIRE_FALSE(first);
    CHECK(first.error().code == "invalid");
    CHECK(first.error().what == "journal: cannot trust a record: it does not have the hash that it names");
    CHECK(first.error().where == path + ":byte " + std::to_string(second_line));
    REQUIRE(reader.read_new(0, note));
    CHECK(numbers == Numbers{1, 3});
}

TEST_CASE("after a damaged end no number is given twice") {
    const TempDir dir;
    {
        JournalWriter writer = open_writer(dir.path());
        for (int i = 0; i < 3; ++i) append(writer);
    }
    const std::string path = newest_file(dir.path());
    std::string text = read_text(path);
    text.replace(text.rfind("vision1"), 7, std::string(7, '\0'));
    write_text(path, text);
    JournalWriter writer = open_writer(dir.path());
    CHECK(append(writer) == DecisionId{0, 2'000'001});
}

TEST_CASE("a record that does not fit leaves nothing behind, and its number is used again") {
    const TempDir dir;
    JournalWriter writer = open_writer(dir.path());
    append(writer);
    const auto size = std::filesystem::file_size(newest_file(dir.path()));
    for (const rlim_t room : {rlim_t{0}, rlim_t{1}, rlim_t{200}}) {
        const FileSizeLimit limit(size + room);
        JournalRecord record = example_record();
        const auto id = writer.append(record);
        REQUIRE_FALSE(id);
        CHECK(id.error().code == "io");
        CHECK(id.error().what.starts_with(newest_file(dir.path()) + ": cannot write: "));
        CHECK(std::filesystem::file_size(newest_file(dir.path())) == size);
    }
    CHECK(append(writer) == DecisionId{0, 2});
    CHECK(numbers_in(dir.path()) == Numbers{1, 2});
    check_chain(dir.path());
}

TEST_CASE("a journal whose folder cannot be made says so") {
    const TempDir dir;
    write_text(dir / "file", "");
    const auto writer = JournalWriter::open(dir / "file/journal", 0);
    REQUIRE_FALSE(writer);
    CHECK(writer.error().code == "io");
    CHECK(writer.error().what == (dir / "file/journal") + ": cannot make the journal's folder: Not a directory");
}

TEST_CASE("a record longer than the reader's chunk is read whole") {
    const TempDir dir;
    {
        JournalWriter writer = open_writer(dir.path());
        JournalRecord record = example_record();
        record.decision.message.assign(3'000'000, 'x');
        REQUIRE(writer.append(record));
        append(writer);
    }
    JournalReader reader(dir.path());
    const auto records = read_all(reader);
    REQUIRE(records.size() == 2);
    CHECK(records[0].decision.message.size() == 3'000'000);
    JournalWriter writer = open_writer(dir.path());
    CHECK(writer.head() == records[1].hash);
}
