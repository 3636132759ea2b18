// SPDX-License-Identifier: GPL-2.0-or-later
// Traces as files have them, right and wrong.
#include "sim/trace.hpp"

#include "catch.hpp"

using namespace accord;
using namespace accord::sim;

namespace {

const std::string header = "id,submit_s,account,partition,gpus,duration_s";

Result<Trace> read(const std::string& text) { return read_trace(text, "jobs.csv"); }

/// "line: what", of a trace that is refused.
std::string problem_of(const std::string& text) {
    const auto trace = read(text);
    if (trace) return "none";
    return trace.error().where + ": " + trace.error().what;
}

}  // namespace

TEST_CASE("a trace is read by its header, whatever the order of the columns") {
    const auto trace = read(
        "gpus,id,account,duration_s,partition,submit_s,user,gpu_type,nodes,time_limit_s,kind,requeue,priority,array,het,cpus\n"
        "8,7,vision-lab,60,gpu,5,vision1,a100,2,120,array,0,9,0-3%2,,32\n"
        "1,8,vision-lab,60,gpu,5,,,,,,,,,,\n"
        "1,9,vision-lab,60,gpu,6,vision1,,,,interactive,,,,a,\n");
    REQUIRE(trace);
    REQUIRE(trace->jobs.size() == 3);
    CHECK(trace->has_users);
    const auto& [first, second, third] = std::tie(trace->jobs[0], trace->jobs[1], trace->jobs[2]);
    CHECK(first.id == "7");
    CHECK(first.submit_s == 5);
    CHECK(trace->names[first.account] == "vision-lab");
    CHECK(trace->names[first.user] == "vision1");
    CHECK(trace->names[first.gpu_type] == "a100");
    CHECK(first.gpus == 8);
    CHECK(first.nodes == 2);
    CHECK(first.duration_s == 60);
    CHECK(first.time_limit_s == 120);
    CHECK(first.kind == WorkloadType::array);
    CHECK_FALSE(first.requeue);
    CHECK(first.priority == 9);
    CHECK(first.cpus == 32);
    CHECK(trace->arrays[first.array].tasks == 4);
    CHECK(trace->arrays[first.array].limit == 2);
    CHECK(second.user == none);
    CHECK(second.nodes == 0);
    CHECK(second.requeue);
    CHECK(second.kind == WorkloadType::batch);
    CHECK(second.account == first.account);
    CHECK(third.kind == WorkloadType::het);
    CHECK(third.het == 0);
}

TEST_CASE("line ends of any kind, quotes around fields and empty lines make no difference") {
    const auto trace = read("\xef\xbb\xbf" + header + ",array\r\n\r\n\"1\",0,vision-lab,gpu,1,1,\"0-3,8\"\r\n\n2,0,vision-lab,gpu,1,1,");
    REQUIRE(trace);
    REQUIRE(trace->jobs.size() == 2);
    CHECK(trace->arrays[0].tasks == 5);
    CHECK(trace->jobs[1].line == 5);
}

TEST_CASE("a trace without rows is one") {
    CHECK(read(header + "\n")->jobs.empty());
    CHECK(problem_of("") == "jobs.csv:1: the file is empty: a trace begins with a line of column names");
}

TEST_CASE("columns must be known, be there once, and be enough") {
    CHECK_THAT(problem_of(header + ",gpu\n"), Catch::Matchers::ContainsSubstring("jobs.csv:1: unknown column \"gpu\": the columns"));
    CHECK(problem_of(header + ",id\n") == "jobs.csv:1: column id is there twice");
    CHECK(problem_of("id,submit_s,account,partition,gpus\n") == "jobs.csv:1: column duration_s is missing");
    CHECK(problem_of(header + "\n1,0,a,gpu,1\n") == "jobs.csv:2: 5 fields, and the header has 6 columns");
    CHECK(problem_of(header + "\n1,0,a,gpu,1,1,1\n") == "jobs.csv:2: 7 fields, and the header has 6 columns");
}

TEST_CASE("numbers are whole, not negative and within reason") {
    const auto row = [](const std::string& gpus, const std::string& duration) {
        return header + "\n1,0,a,gpu," + gpus + "," + duration + "\n";
    };
    CHECK(problem_of(row("-1", "1")) == "jobs.csv:2: gpus: expected a whole number from 0 to 1000000, found \"-1\"");
    CHECK(problem_of(row("1.5", "1")) == "jobs.csv:2: gpus: expected a whole number from 0 to 1000000, found \"1.5\"");
    CHECK(problem_of(row("", "1")) == "jobs.csv:2: gpus: expected a whole number from 0 to 1000000, found \"\"");
    CHECK_THAT(problem_of(row("99999999999999999999", "1")), Catch::Matchers::StartsWith("jobs.csv:2: gpus: "));
    CHECK_THAT(problem_of(row("1", "1e9")), Catch::Matchers::StartsWith("jobs.csv:2: duration_s: "));
    CHECK_THAT(problem_of(row("1", "9999999999")), Catch::Matchers::StartsWith("jobs.csv:2: duration_s: "));
    CHECK(problem_of(row("1000000", "3153600000")) == "none");
}

TEST_CASE("other values are what their columns take") {
    const auto with = [](const std::string& column, const std::string& value) {
        return problem_of(header + "," + column + "\n1,0,a,gpu,1,1," + value + "\n");
    };
    CHECK(with("kind", "cron") == "jobs.csv:2: kind: expected batch, array or interactive, found \"cron\"");
    CHECK(with("requeue", "yes") == "jobs.csv:2: requeue: expected 0 or 1, found \"yes\"");
    CHECK(with("nodes", "0") == "jobs.csv:2: nodes: expected a whole number from 1 to 1000000, found \"0\"");
    CHECK(with("array", "3-1") == "jobs.csv:2: array: expected indices as for --array, such as 0-9%4, found \"3-1\"");
    CHECK(with("gpu_type", "a100:2") == "jobs.csv:2: gpu_type: expected a name of letters, digits, dots, dashes and underscores, found \"a100:2\"");
    CHECK(problem_of(header + "\n1 2,0,a,gpu,1,1\n") == "jobs.csv:2: id: expected a name or number without spaces, found \"1 2\"");
}

TEST_CASE("a submission before the one above it is refused") {
    CHECK(problem_of(header + "\n1,10,a,gpu,1,1\n2,9,a,gpu,1,1\n") ==
          "jobs.csv:3: submit_s 9 is before 10 in line 2: sort the rows by submit_s");
}

TEST_CASE("an id that is there twice is refused, in whatever order the ids are") {
    CHECK(problem_of(header + "\n1,0,a,gpu,1,1\n2,0,a,gpu,1,1\n1,0,a,gpu,1,1\n") == "jobs.csv:4: id: 1 is that of line 2 already");
    CHECK(problem_of(header + "\nb,0,a,gpu,1,1\na,0,a,gpu,1,1\n") == "none");
    CHECK(problem_of(header + "\n9,0,a,gpu,1,1\n10,0,a,gpu,1,1\n10,0,a,gpu,1,1\n") ==
          "jobs.csv:4: id: 10 is that of line 3 already");
}

TEST_CASE("components of a heterogeneous job are no arrays and come together") {
    CHECK(problem_of(header + ",het,array\n1,0,a,gpu,1,1,x,0-3\n") ==
          "jobs.csv:2: a component of a heterogeneous job cannot be an array");
    CHECK(problem_of(header + ",het\n1,0,a,gpu,1,1,x\n2,0,a,gpu,1,1,y\n3,1,a,gpu,1,1,x\n") ==
          "jobs.csv:4: the components of a heterogeneous job have the same submit_s: another one of this job has 0");
}

TEST_CASE("a quote that does not end, or stands within a field, is refused") {
    CHECK_THAT(problem_of(header + "\n\"1,0,a,gpu,1,1\n"), Catch::Matchers::StartsWith("jobs.csv:2: a quoted field"));
    CHECK_THAT(problem_of(header + "\n1\",0,a,gpu,1,1\n"), Catch::Matchers::StartsWith("jobs.csv:2: a quote within a field"));
}
