// SPDX-License-Identifier: GPL-2.0-or-later
// compare_counts USER JOURNAL SEED COUNT: submits every special request and COUNT random ones to the cluster, one after
// the other, and compares what Accord counted with what Slurm gave. Prints the differences, and how many of each kind
// there were; 1 if one of them is not explained.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <map>

#include "comparison.hpp"
#include "store/journal.hpp"

using namespace accord;
using namespace accord::test;

namespace {

/// The decisions that were taken since the last call; a request makes one, a request that the client refuses none.
class Decisions {
public:
    explicit Decisions(const std::string& journal) : reader_(journal) {}

    std::optional<Decision> newest() {
        std::optional<Decision> newest;
        const auto read = reader_.read_new(0, [&](const JournalRecord& record) { newest = record.decision; });
        if (!read) throw std::runtime_error(read.error().what);
        return newest;
    }

private:
    JournalReader reader_;
};

class Tally {
public:
    void take(const Request& request, const accord::test::Verdict& verdict, const Placement& placement) {
        using enum accord::test::Verdict::Kind;
        ++requests_;
        if (verdict.kind == agreement) ++agreements_;
        if (verdict.kind == explained) ++explained_[verdict.reason];
        if (verdict.kind != fault) return;
        ++faults_;
        fmt::print("{}: {}\n  {}\n", request.text(), verdict.reason, placement.words);
    }

    [[nodiscard]] int report() const {
        std::string reasons;
        std::size_t differences = 0;
        for (const auto& [reason, count] : explained_) {
            differences += count;
            reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : ", ", reason, count);
        }
        fmt::print("requests: {}, agreements: {}, explained differences: {} ({}), unexplained: {}\n", requests_, agreements_,
                   differences, reasons, faults_);
        return faults_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }

private:
    std::size_t requests_ = 0, agreements_ = 0, faults_ = 0;
    std::map<std::string, std::size_t> explained_;
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 5) return 2;
    const Slurm slurm(argv[1], {.cpus = 4, .memory_mb = 5000});
    Decisions decisions(argv[2]);
    decisions.newest();
    auto requests = special_requests();
    for (auto& drawn : drawn_requests(static_cast<unsigned>(std::atoi(argv[3])), static_cast<std::size_t>(std::atoi(argv[4]))))
        requests.push_back(std::move(drawn));
    Tally tally;
    for (const auto& request : requests) {
        const auto placement = slurm.place(request);
        tally.take(request, compare(request, decisions.newest(), placement), placement);
    }
    return tally.report();
} catch (const std::exception& exception) {
    fmt::print(stderr, "compare_counts: {}\n", exception.what());
    return 2;
}
