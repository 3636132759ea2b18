// SPDX-License-Identifier: GPL-2.0-or-later
// Decisions to put on record in tests.
#pragma once

#include "store/journal_record.hpp"

inline accord::JournalRecord example_record(std::int64_t time_s = 1'790'000'000) {
    accord::JournalRecord record;
    accord::Decision& decision = record.decision;
    decision.time_s = time_s;
    decision.user = "vision1";
    decision.uid = 1001;
    decision.account = "vision-lab";
    decision.partition = "gpu";
    decision.contract = "vision-lab/gpu";
    decision.contract_version = 3;
    decision.verdict = accord::Verdict::admitted;
    decision.cls = accord::JobClass::guaranteed;
    decision.gpus = {{"a100", {4, 8}}, {"v100", {0, 1}}};
    decision.claim = {{"a100", 8}, {"v100", 1}};
    decision.message = "accord: guaranteed: 8 a100 of vision-lab in gpu";
    record.inputs = R"({"partitions":["gpu"],"tres_per_job":"gres:gpu:8"})";
    return record;
}

inline accord::JournalRecord example_modification() {
    accord::JournalRecord record = example_record();
    accord::Decision& decision = record.decision;
    decision.kind = accord::DecisionKind::modification;
    decision.mode = accord::Mode::observe;
    decision.verdict = accord::Verdict::rejected;
    decision.cls.reset();
    decision.reason = accord::Reason::queued;
    decision.claim.clear();
    decision.gpus.clear();
    decision.job_id = 12;
    decision.job_decision = accord::DecisionId{0, 17};
    decision.user_hold = true;
    return record;
}
