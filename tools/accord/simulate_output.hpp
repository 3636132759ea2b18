// SPDX-License-Identifier: GPL-2.0-or-later
// What accord simulate prints: events line by line, totals, and two runs beside each other.
#pragma once

#include <cstdio>
#include <string>

#include "sim/event.hpp"

namespace accord {

/// Lines for people, in columns, or objects: an array of them, one on each line, the last of which holds the totals.
class SimulationOutput final : public sim::EventSink {
public:
    SimulationOutput(std::FILE* to, bool json);
    void take(const sim::Event& event) override;
    /// Nothing may come after it.
    void finish(const sim::Totals& totals);

private:
    void take_text(const sim::Event& event);
    void take_json(const sim::Event& event);
    void write();

    std::FILE* to_;
    bool json_;
    std::string buffer_;
};

/// For runs of which only the totals are wanted.
class NoOutput final : public sim::EventSink {
public:
    void take(const sim::Event&) override {}
};

/// Each figure of each contract in both runs, and for whom it got better or worse: shorter waits, fewer rejections and
/// preemptions, less lost, more started, more GPU time.
void print_comparison(const sim::Totals& first, const sim::Totals& second, bool json, std::FILE* to);

}  // namespace accord
