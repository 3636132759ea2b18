// SPDX-License-Identifier: GPL-2.0-or-later
// Journal records as the plugin would write them, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/hash.hpp"
#include "store/journal.hpp"

/// 2026-01-01T00:00:00Z.
inline constexpr std::int64_t new_year_s = 1767225600;

/// A submission by vision1 in vision/gpu, admitted as guaranteed with 2 a100.
inline accord::Decision a_submission(std::int64_t time_s = new_year_s) {
    accord::Decision decision;
    decision.time_s = time_s;
    decision.user = "vision1";
    decision.uid = 1001;
    decision.account = "vision";
    decision.partition = "gpu";
    decision.contract = "vision/gpu";
    decision.contract_version = 1;
    decision.verdict = accord::Verdict::admitted;
    decision.cls = accord::JobClass::guaranteed;
    decision.gpus = {{"a100", {2, 2}}};
    decision.claim = {{"a100", 2}};
    decision.message = "accord: guaranteed: 2 a100 of vision/gpu";
    return decision;
}

/// A modification of the job `job_id` that carries `job_decision`.
inline accord::Decision a_modification(accord::DecisionId job_decision, std::uint32_t job_id,
                                       std::int64_t time_s = new_year_s) {
    auto decision = a_submission(time_s);
    decision.kind = accord::DecisionKind::modification;
    decision.job_decision = job_decision;
    decision.job_id = job_id;
    return decision;
}

/// Gives decisions their places in one controller's journal.
class Chain {
public:
    explicit Chain(std::uint32_t controller = 0) : controller_(controller) {}

    accord::JournalRecord add(accord::Decision decision, std::uint64_t number = 0,
                              std::string inputs = R"({"account":"vision"})") {
        accord::JournalRecord record;
        number_ = number != 0 ? number : number_ + 1;
        record.id = {controller_, number_};
        record.decision = std::move(decision);
        record.inputs = std::move(inputs);
        record.prev_hash = head_;
        lines_.push_back(accord::encode(record));
        head_ = record.hash;
        return record;
    }
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
    [[nodiscard]] const std::string& head() const { return head_; }

private:
    std::uint32_t controller_;
    std::uint64_t number_ = 0;
    std::string head_{accord::no_hash};
    std::vector<std::string> lines_;
};
