// SPDX-License-Identifier: GPL-2.0-or-later
// What holds of every simulation.
#include <rapidcheck.h>

#include <map>
#include <sstream>

#include "catch.hpp"
#include "sim/history.hpp"

using namespace accord;
using namespace accord::test;

namespace {

std::string random_rows() {
    std::string rows;
    std::int64_t submit_s = 0;
    const auto count = *rc::gen::inRange(1, 40);
    for (int row = 1; row <= count; ++row) {
        submit_s += *rc::gen::inRange(0, 60);
        const auto* account = *rc::gen::element("vision-lab", "speech-lab", "guest");
        const auto gpus = *rc::gen::element(0, 1, 2, 4, 5, 8);
        const auto* kind = *rc::gen::element("batch", "batch", "interactive");
        const auto requeue = *rc::gen::inRange(0, 2);
        const auto* array = *rc::gen::element("", "", "", "0-4%2");
        rows += fmt::format("{},{},{},{},{},gpu,{},{},{},{}\n", row, submit_s, account, gpus, *rc::gen::inRange(0, 200),
                            *array ? "batch" : kind, requeue, array, *rc::gen::element(0, 0, 100));
    }
    return rows;
}

History random_history() {
    History history;
    history.contracts = {contract_for("vision-lab", *rc::gen::inRange<Gpus>(0, 9)),
                         contract_for("speech-lab", *rc::gen::inRange<Gpus>(0, 9)), contract_for("guest", 0)};
    for (auto& contract : history.contracts)
        if (*rc::gen::arbitrary<bool>()) contract.capacity["a100"].borrow_limit = *rc::gen::inRange<Gpus>(0, 12);
    history.reclaim = *rc::gen::element(sim::ReclaimMode::live, sim::ReclaimMode::fixed);
    return history;
}

/// The job and the event of a line.
std::pair<std::string, std::string> read_line(const std::string& line) {
    std::istringstream words(line);
    std::string time, job, event;
    words >> time >> job >> event;
    return {job, event};
}

}  // namespace

TEST_CASE("in every simulation jobs end as often as they start, but for preemptions, and none is lost") {
    CHECK(rc::check([] {
        auto history = random_history();
        history.run(random_rows(), "kind,requeue,array,priority");
        std::map<std::string, int> running;
        for (const auto& line : history.events) {
            const auto [job, event] = read_line(line);
            if (event == "start") RC_ASSERT(++running[job] == 1);
            if (event == "end" || event == "preempt") RC_ASSERT(--running[job] == 0);
            if (event == "preempt") RC_ASSERT(line.find(" borrowed ") != std::string::npos);
        }
        for (const auto& [job, count] : running) RC_ASSERT(count == 0);
        std::int64_t borrowed = 0, lent = 0;
        for (const auto& row : history.totals.contracts) {
            borrowed += row.borrowed_gpu_s;
            lent += row.lent_gpu_s;
            RC_ASSERT(row.started + row.rejected == row.jobs);
        }
        RC_ASSERT(borrowed == lent + history.totals.all.unowned_gpu_s);
    }));
}

TEST_CASE("the same simulation gives the same events, and a stranger's contract changes nothing") {
    CHECK(rc::check([] {
        auto history = random_history();
        const auto rows = random_rows();
        const auto first = history.run(rows, "kind,requeue,array,priority").events;
        RC_ASSERT(history.run(rows, "kind,requeue,array,priority").events == first);
        history.contracts.push_back(contract_for("stranger", 0));
        RC_ASSERT(history.run(rows, "kind,requeue,array,priority").events == first);
    }));
}
