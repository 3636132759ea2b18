// SPDX-License-Identifier: GPL-2.0-or-later
// Small histories, worked out by hand.
#include "sim/simulation.hpp"

#include <algorithm>

#include "catch.hpp"
#include "sim/history.hpp"

using namespace accord;
using namespace accord::test;

namespace {

/// A contract that owns nothing and borrows what it finds.
Contract guest() { return contract_for("guest", 0); }

}  // namespace

TEST_CASE("a job within its guarantee starts at once and ends when it is done") {
    History history;
    history.run("1,5,vision-lab,4,100,gpu\n");
    CHECK(history.events == Lines{"5 1 admit guaranteed vision-lab", "5 1 start guaranteed vision-lab",
                                  "105 1 end guaranteed vision-lab"});
    const auto& vision = history.of("vision-lab");
    CHECK(vision.jobs == 1);
    CHECK(vision.started == 1);
    CHECK(vision.allocated_gpu_s == 400);
    CHECK(vision.borrowed_gpu_s == 0);
    CHECK(history.totals.all.capacity_gpu_s == 1600);
    CHECK(history.totals.all.utilisation == 0.25);
}

TEST_CASE("idle guarantees are borrowed, and come back when their owner wants them") {
    History history;
    history.run(
        "1,0,vision-lab,8,100,gpu\n"
        "2,0,vision-lab,8,50,gpu\n"
        "3,10,speech-lab,8,200,gpu\n");
    CHECK(history.events ==
          Lines{"0 1 admit guaranteed vision-lab", "0 2 admit borrowed vision-lab (headroom)", "0 1 start guaranteed vision-lab",
                "0 2 start borrowed vision-lab", "10 3 admit guaranteed speech-lab", "10 2 preempt borrowed vision-lab for 3",
                "10 3 start guaranteed speech-lab", "100 1 end guaranteed vision-lab",
                "100 2 promote guaranteed vision-lab (headroom)", "100 2 start guaranteed vision-lab",
                "150 2 end guaranteed vision-lab", "210 3 end guaranteed speech-lab"});
    const auto& vision = history.of("vision-lab");
    CHECK(vision.preempted == 1);
    CHECK(vision.lost_gpu_s == 80);
    CHECK(vision.started == 2);
    CHECK(vision.allocated_gpu_s == 1200);
    CHECK(vision.borrowed_gpu_s == 80);
    CHECK(history.of("speech-lab").lent_gpu_s == 80);
    CHECK(history.totals.all.unowned_gpu_s == 0);
}

TEST_CASE("a running borrowed job is promoted when its contract is back within its guarantee, and not preempted then") {
    History history;
    const std::string rows =
        "1,0,vision-lab,8,20,gpu\n"
        "2,0,vision-lab,8,100,gpu\n"
        "3,30,speech-lab,8,10,gpu\n";
    history.run(rows);
    CHECK(history.those("promote") == Lines{"20 2 promote guaranteed vision-lab (headroom)"});
    CHECK(history.those("preempt").empty());
    CHECK(history.those("start").back() == "30 3 start guaranteed speech-lab");
    history.reclaim = sim::ReclaimMode::fixed;
    history.run(rows);
    CHECK(history.those("promote").empty());
}

TEST_CASE("a job that could not start even then preempts nobody") {
    History history;
    history.nodes = {{2, 4, "a100"}};
    history.contracts = {contract_for("vision-lab", 4), contract_for("speech-lab", 4), guest()};
    history.run(
        "1,0,vision-lab,4,50,gpu,2\n"  // two on each node
        "2,1,guest,2,1000,gpu,1\n"
        "3,1,guest,2,1000,gpu,1\n"
        "4,2,speech-lab,4,10,gpu,1\n",
        "nodes");
    CHECK(history.those("preempt") == Lines{"50 2 preempt borrowed guest for 4"});
    CHECK(history.those("start")[3] == "50 4 start guaranteed speech-lab");
}

TEST_CASE("owners that come together share a victim, but not where Slurm chooses") {
    History history;
    history.contracts.push_back(guest());
    const std::string rows =
        "1,0,guest,4,1000,gpu\n2,0,guest,4,1000,gpu\n3,0,guest,4,1000,gpu\n4,0,guest,4,1000,gpu\n"
        "5,10,vision-lab,2,20,gpu\n6,10,speech-lab,2,20,gpu\n";
    history.run(rows);
    CHECK(history.those("preempt") == Lines{"10 1 preempt borrowed guest for 5"});
    history.reclaim = sim::ReclaimMode::fixed;
    history.run(rows);
    CHECK(history.those("preempt") == Lines{"10 1 preempt borrowed guest for 5", "10 2 preempt borrowed guest for 6"});
}

TEST_CASE("what cannot be requeued is cancelled, or waits for guaranteed GPUs") {
    History history;
    history.run(
        "1,0,vision-lab,8,100,gpu,batch,1\n"
        "2,0,vision-lab,8,100,gpu,interactive,1\n"
        "3,0,vision-lab,4,100,gpu,batch,0\n"
        "4,10,speech-lab,8,100,gpu,batch,1\n",
        "kind,requeue");
    CHECK(history.those("queue") == Lines{"0 3 queue queued vision-lab (not_requeueable)"});
    CHECK(history.those("cancel") == Lines{"10 2 cancel borrowed vision-lab"});
    CHECK(history.those("release") == Lines{"100 3 release guaranteed vision-lab (headroom)"});
    CHECK(history.those("end").size() == 3);
    CHECK(history.of("vision-lab").wait_s_p90 == 100);
}

TEST_CASE("a job that was preempted as often as its contract allows waits for guaranteed GPUs") {
    History history;
    history.nodes = {{2, 4, "a100"}};
    history.contracts = {contract_for("vision-lab", 4), contract_for("speech-lab", 4)};
    history.contracts[0].reclaim.max_preemptions = 1;
    history.run(
        "1,0,vision-lab,4,100,gpu\n"
        "2,0,vision-lab,4,30,gpu\n"
        "3,10,speech-lab,4,20,gpu\n");
    CHECK(history.those("preempt") == Lines{"10 2 preempt borrowed vision-lab for 3"});
    CHECK(history.those("demote") == Lines{"10 2 demote queued vision-lab (headroom)"});
    CHECK(history.those("release") == Lines{"100 2 release guaranteed vision-lab (headroom)"});
}

TEST_CASE("one that could never be guaranteed borrows again after a pause") {
    History history;
    history.nodes = {{2, 4, "a100"}};
    history.contracts = {guest(), contract_for("speech-lab", 4)};
    history.contracts[0].reclaim.max_preemptions = 1;
    history.run(
        "1,0,guest,8,30,gpu\n"
        "2,10,speech-lab,4,20,gpu\n");
    CHECK(history.those("demote") == Lines{"10 1 demote queued guest (headroom)"});
    CHECK(history.those("start").back() == "70 1 start borrowed guest");
    CHECK(history.events.back() == "100 1 end borrowed guest");
}

TEST_CASE("a released job that does not start gives way to one that could") {
    History history;
    history.contracts = {contract_for("vision-lab", 0, 4), guest()};
    history.run(
        "1,0,guest,12,1000,gpu,3\n"
        "2,0,vision-lab,4,20,gpu,1\n"
        "3,1,vision-lab,4,10,gpu,4\n"  // released at 20, but guest has three of its nodes until 1000
        "4,2,vision-lab,2,10,gpu,1\n",
        "nodes");
    CHECK(history.those("demote") == Lines{"80 3 demote queued vision-lab (borrow_limit)"});
    CHECK(history.those("start")[2] == "80 4 start borrowed vision-lab");
    CHECK(history.those("start").back() == "1000 3 start borrowed vision-lab");
}

TEST_CASE("what exceeds the borrow limit is queued, and released as room appears, smaller ones past larger ones") {
    History history;
    history.contracts[0] = contract_for("vision-lab", 8, 4);
    history.run(
        "1,0,vision-lab,8,100,gpu\n"
        "2,0,vision-lab,4,50,gpu\n"
        "3,1,vision-lab,12,100,gpu\n"
        "4,2,vision-lab,4,10,gpu\n");
    CHECK(history.those("queue") == Lines{"1 3 queue queued vision-lab (borrow_limit)", "2 4 queue queued vision-lab (borrow_limit)"});
    CHECK(history.those("release") ==
          Lines{"50 4 release borrowed vision-lab (borrow_limit)", "100 3 release borrowed vision-lab (borrow_limit)"});
    CHECK(history.those("start").back() == "100 3 start borrowed vision-lab");
}

TEST_CASE("no more is borrowed than the others lend, and the rest is released as room appears") {
    History history;
    history.contracts[0].capacity["a100"].lend_limit = 4;
    history.run(
        "1,0,speech-lab,8,100,gpu\n"
        "2,0,speech-lab,4,50,gpu\n"
        "3,1,speech-lab,4,10,gpu\n");
    CHECK(history.those("queue") == Lines{"1 3 queue queued speech-lab (lend_limit)"});
    CHECK(history.those("release") == Lines{"50 3 release borrowed speech-lab (lend_limit)"});
    CHECK(history.of("vision-lab").lent_gpu_s == 240);
}

TEST_CASE("every rejection says why") {
    History history;
    history.contracts[0].workloads.max_walltime_min = 60;
    history.contracts[0].members.users = {"vision1"};
    history.contracts[1].members.users = {"speech1"};
    history.run(
        "1,0,vision-lab,1,10,gpu,vision1,7200\n"
        "2,0,speech-lab,1,10,gpu,vision1,60\n"
        "3,0,nobody,1,10,gpu,vision1,60\n"
        "4,0,vision-lab,17,10,gpu,vision1,60\n"
        "5,0,vision-lab,1,10,gpu-lend,vision1,60\n"
        "6,0,,1,10,gpu,vision1,60\n"
        "7,0,vision-lab,1,10,debug,vision1,60\n",
        "user,time_limit_s");
    CHECK(history.those("reject") ==
          Lines{"0 1 reject vision-lab (time_limit)", "0 2 reject speech-lab (not_member)", "0 3 reject  (no_contract)",
                "0 4 reject vision-lab (impossible)", "0 5 reject  (lend_partition)"});
    CHECK(history.those("start") == Lines{"0 6 start guaranteed vision-lab"});
    CHECK(history.totals.ungoverned == 1);
    CHECK(history.of("vision-lab").rejected == 2);
    CHECK(history.totals.contracts.front().contract.empty());
    CHECK(history.totals.contracts.front().rejected == 2);
}

TEST_CASE("exempt users are not judged, and what they use is their account's") {
    History history;
    history.run("1,0,vision-lab,4,10,gpu,root\n2,0,nobody,4,10,gpu,root\n3,0,vision-lab,4,10,gpu-lend,root\n", "user");
    CHECK(history.those("start") == Lines{"0 1 start exempt vision-lab", "0 2 start exempt nobody"});
    CHECK(history.of("vision-lab").allocated_gpu_s == 40);
    CHECK(history.of("nobody").borrowed_gpu_s == 40);
    CHECK(history.totals.ungoverned == 1);
}

TEST_CASE("a job that no nodes could ever hold is rejected by the model, as Slurm would") {
    History history;
    history.run("1,0,vision-lab,8,10,gpu,1\n2,0,vision-lab,8,10,gpu,5\n", "nodes");
    CHECK(history.events == Lines{"0 1 reject vision-lab (impossible)", "0 2 reject vision-lab (impossible)"});
}

TEST_CASE("a time limit ends a job") {
    History history;
    history.run("1,0,vision-lab,4,100,gpu,50\n", "time_limit_s");
    CHECK(history.events.back() == "60 1 end guaranteed vision-lab (time_limit)");
}

TEST_CASE("a job without GPUs borrows and claims nothing") {
    History history;
    history.contracts[0] = contract_for("vision-lab", 0, 0);
    history.run("1,0,vision-lab,0,10,gpu\n");
    CHECK(history.events == Lines{"0 1 admit borrowed vision-lab (no_gpu)", "0 1 start borrowed vision-lab", "10 1 end borrowed vision-lab"});
}

TEST_CASE("jobs wait by priority, then as they came, and those of the governed tier go first") {
    History history;
    history.nodes = {{1, 4, "a100"}};
    history.contracts = {contract_for("vision-lab", 4), guest()};
    history.run(
        "1,0,vision-lab,4,100,gpu,\n"
        "2,1,guest,4,10,gpu,\n"
        "3,2,guest,4,10,gpu,500\n"
        "4,3,guest,4,10,gpu,500\n"
        "5,4,vision-lab,4,10,gpu,\n",
        "priority");
    CHECK(history.those("promote") == Lines{"100 5 promote guaranteed vision-lab (headroom)"});
    CHECK(history.those("start") == Lines{"0 1 start guaranteed vision-lab", "100 5 start guaranteed vision-lab",
                                          "110 3 start borrowed guest", "120 4 start borrowed guest", "130 2 start borrowed guest"});
}

TEST_CASE("a job overtakes one that waits for room only where it does not put it off") {
    History history;
    history.contracts = {guest()};
    history.run(
        "1,0,guest,12,100,gpu,120\n"
        "2,1,guest,16,10,gpu,60\n"    // waits for 1, until 120 by its limit
        "3,2,guest,4,200,gpu,240\n"   // would run until 242
        "4,3,guest,2,30,gpu,60\n",    // until 63
        "time_limit_s");
    CHECK(history.those("start") == Lines{"0 1 start borrowed guest", "3 4 start borrowed guest", "100 2 start borrowed guest",
                                          "110 3 start borrowed guest"});
}

TEST_CASE("an array's tasks run side by side up to its limit, each with its own events") {
    History history;
    history.run("7,0,vision-lab,4,10,gpu,1-5:2%2\n", "array");
    CHECK(history.events == Lines{"0 7 admit guaranteed vision-lab", "0 7_1 start guaranteed vision-lab",
                                  "0 7_3 start guaranteed vision-lab", "10 7_1 end guaranteed vision-lab",
                                  "10 7_3 end guaranteed vision-lab", "10 7_5 start guaranteed vision-lab",
                                  "20 7_5 end guaranteed vision-lab"});
    const auto& vision = history.of("vision-lab");
    CHECK(vision.jobs == 3);
    CHECK(vision.started == 3);
    CHECK(vision.allocated_gpu_s == 120);
    CHECK(vision.wait_s_p90 == 10);
}

TEST_CASE("a preempted task runs again before those that have not run") {
    History history;
    history.contracts = {contract_for("vision-lab", 8), guest()};
    history.nodes = {{2, 4, "a100"}};
    history.run("7,0,guest,4,10,gpu,0-3\n8,5,vision-lab,4,20,gpu,\n", "array");
    CHECK(history.those("preempt") == Lines{"5 7_0 preempt borrowed guest for 8"});
    const auto starts = history.those("start");
    CHECK(starts[3] == "10 7_0 start borrowed guest");
    CHECK(history.of("guest").started == 4);
    CHECK(history.of("guest").lost_gpu_s == 20);
}

TEST_CASE("an array of ten thousand tasks is a row") {
    History history;
    history.run("7,0,vision-lab,1,10,gpu,0-9999\n", "array");
    CHECK(history.those("end").size() == 10'000);
    CHECK(history.of("vision-lab").jobs == 10'000);
    CHECK(history.of("vision-lab").allocated_gpu_s + history.of("vision-lab").borrowed_gpu_s == 100'000);
    // 16 at once
    CHECK_THAT(history.events.back(), Catch::Matchers::StartsWith("6250 7_9999 end "));
}

TEST_CASE("tasks of an array that borrows are promoted as far as the guarantee goes") {
    History history;
    history.run("7,0,vision-lab,4,10,gpu,0-3\n8,5,speech-lab,8,10,gpu,\n", "array");
    CHECK(history.those("promote") == Lines{"0 7_0 promote guaranteed vision-lab (headroom)", "0 7_1 promote guaranteed vision-lab (headroom)",
                                            "10 7 promote guaranteed vision-lab (headroom)"});
    CHECK(history.those("preempt") == Lines{"5 7_2 preempt borrowed vision-lab for 8", "5 7_3 preempt borrowed vision-lab for 8"});
}

TEST_CASE("the components of a heterogeneous job start together, and preempt nobody") {
    History history;
    for (auto& contract : history.contracts) contract.workloads.allowed.insert(WorkloadType::het);
    history.contracts.push_back(guest());
    history.run(
        "1,0,guest,12,100,gpu,\n"
        "2,5,vision-lab,4,10,gpu,a\n"
        "3,5,vision-lab,4,20,gpu,a\n",
        "het");
    CHECK(history.those("queue") == Lines{"5 2 queue queued vision-lab (not_eligible)", "5 3 queue queued vision-lab (not_eligible)"});
    CHECK(history.those("preempt").empty());
    CHECK(history.those("release") == Lines{"100 2 release guaranteed vision-lab (headroom)", "100 3 release guaranteed vision-lab (headroom)"});
    CHECK(history.those("end").back() == "120 3 end guaranteed vision-lab");
    history.run("1,0,vision-lab,4,10,gpu,a\n2,0,nobody,4,20,gpu,a\n", "het");
    CHECK(history.events == Lines{"0 1 reject vision-lab (no_contract)", "0 2 reject  (no_contract)"});
}

TEST_CASE("a contract that ends in the midst admits nothing more, and its use is borrowed from then on") {
    History history;
    history.contracts[0].valid_until_s = history.start_s + 49;
    history.run("1,0,vision-lab,4,100,gpu\n2,60,vision-lab,4,10,gpu\n");
    CHECK(history.those("reject") == Lines{"60 2 reject vision-lab (not_active)"});
    CHECK(history.of("vision-lab").allocated_gpu_s == 200);
    CHECK(history.of("vision-lab").borrowed_gpu_s == 200);
}

TEST_CASE("accordd's passes are as far apart as its interval says") {
    History history;
    history.contracts[0] = contract_for("vision-lab", 8, 0);
    history.interval_ms = 30'000;
    history.run(
        "1,0,vision-lab,8,10,gpu\n"
        "2,0,vision-lab,8,15,gpu\n"
        "3,1,vision-lab,8,10,gpu\n");
    CHECK(history.those("release") == Lines{"10 2 release guaranteed vision-lab (headroom)", "40 3 release guaranteed vision-lab (headroom)"});
}

TEST_CASE("GPUs of several types are lent apart from each other") {
    History history;
    history.nodes = {{1, 4, "a100"}, {1, 4, "h100"}};
    history.pools = {pool_named("gpu", {{"a100", 4}, {"h100", 4}})};
    history.contracts = {contract_for("vision-lab", 4), contract_for("speech-lab", 0)};
    history.contracts[0].capacity["h100"] = {0, {}, {}};
    history.contracts[1].capacity["h100"] = {4, {}, {}};
    history.run(
        "1,0,vision-lab,4,100,gpu,h100\n"
        "2,0,speech-lab,4,100,gpu,a100\n"
        "3,10,speech-lab,4,10,gpu,h100\n"
        "4,20,vision-lab,1,10,gpu,\n",
        "gpu_type");
    CHECK(history.those("preempt") == Lines{"10 1 preempt borrowed vision-lab for 3"});
    CHECK(history.those("reject") == Lines{"20 4 reject vision-lab (gpu_type)"});
    CHECK(history.of("vision-lab").lent_gpu_s == 400);
    CHECK(history.of("speech-lab").borrowed_gpu_s == 400);
}
