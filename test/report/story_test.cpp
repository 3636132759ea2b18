// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/story.hpp"

#include "catch.hpp"
#include "policy/utc.hpp"
#include "store/records.hpp"

using namespace accord;

namespace {

DecisionRow row(const Decision& decision, std::uint64_t number = 1) {
    JournalRecord record;
    record.id = {0, number};
    record.decision = decision;
    return row_of(record);
}

std::string text_of(const std::vector<StoryEvent>& story) {
    std::string text;
    for (const auto& event : story) text += utc_text(event.time_s) + " " + event.event + ": " + event.text + "\n";
    return text;
}

/// A queued job of vision/gpu that asks for 4 a100, 2 of whose 8 guaranteed ones are free.
struct Waiting {
    Config config;
    JobView job;
    Contract contract;
    ContractClaims claims;
    std::optional<JobFacts> facts = JobFacts{};
    BudgetStanding budget;

    Waiting() {
        job.account = contract.account = "vision";
        contract.partition = "gpu";
        contract.capacity["a100"] = {8, {}, 4};
        claims.guaranteed = {{"a100", 6}};
        claims.borrowed = {{"a100", 6}};
        job.hold = Hold::admin;
    }
    [[nodiscard]] std::string state(JobClass cls) const {
        return present_state({config, job, &contract, claims, cls, {{"a100", 4}}, facts, new_year_s, budget});
    }
};

}  // namespace

TEST_CASE("a preempted job's story tells for whom, and what became of it afterwards") {
    StoryInput input;
    auto borrowed = a_submission();
    borrowed.cls = JobClass::borrowed;
    borrowed.reason = Reason::headroom;
    borrowed.message = "accord: borrowed: 2 a100 for vision/gpu (0 of its 8 guaranteed a100 are free); may be preempted";
    input.decisions.push_back(row(borrowed));
    UsageInterval first;
    first.job_id = 17;
    first.cls = JobClass::borrowed;
    first.gpus = {{"a100", 2}};
    first.start_s = new_year_s + 5;
    first.end_s = new_year_s + 65;
    first.ended = "preempted";
    first.beneficiary_job = 19;
    auto second = first;
    second.restart = 1, second.cls = JobClass::guaranteed, second.start_s = new_year_s + 100, second.end_s.reset();
    input.intervals = {first, second};
    input.contracts_of_jobs[19] = "speech/gpu";
    ActionRecord promotion;
    promotion.id = 3;
    promotion.time_s = new_year_s + 90;
    promotion.action = "promote";
    promotion.from_class = JobClass::borrowed;
    promotion.to_class = JobClass::guaranteed;
    promotion.reason = "headroom";
    promotion.outcome = "done";
    input.actions.push_back(promotion);

    CHECK(text_of(story_of(input)) ==
          "2026-01-01T00:00:00Z decision: vision1 submitted it as account vision to partition gpu; decision 0-1: admitted: "
          "borrowed: 2 a100 for vision/gpu (0 of its 8 guaranteed a100 are free); may be preempted\n"
          "2026-01-01T00:00:05Z start: it started, borrowed, with 2 a100\n"
          "2026-01-01T00:01:05Z end: it was preempted after 1 min for job 19, which took back GPUs of speech/gpu's "
          "guarantee\n"
          "2026-01-01T00:01:30Z action: accordd, action 3: promote from borrowed to guaranteed (headroom): done\n"
          "2026-01-01T00:01:40Z start: it started again (restart 1), guaranteed, with 2 a100\n");
}

TEST_CASE("a throttle that accordd put back is told as such") {
    StoryInput input;
    ActionRecord action;
    action.id = 4, action.time_s = new_year_s;
    action.action = "throttle", action.reason = "immutable", action.outcome = "done";
    action.from_class = action.to_class = JobClass::guaranteed;
    input.actions.push_back(action);
    CHECK(text_of(story_of(input)) ==
          "2026-01-01T00:00:00Z action: accordd, action 4: array throttle put back (immutable): done\n");
}

TEST_CASE("modifications and observe mode are told as such") {
    StoryInput input;
    auto change = a_modification({0, 1}, 17);
    change.verdict = Verdict::rejected, change.cls.reset(), change.reason = Reason::queued, change.mode = Mode::observe;
    change.message = "accord: job 17 is queued until there is room [queued]";
    input.decisions.push_back(row(change, 2));
    CHECK(text_of(story_of(input)) ==
          "2026-01-01T00:00:00Z modification: a change to it was judged; decision 0-2: rejected: job 17 is queued until "
          "there is room [queued] (observe mode: recorded, not enforced)\n");
}

TEST_CASE("a queued job is told when a budget holds it back") {
    Waiting waiting;
    waiting.budget = {BudgetLimit::reject, 36'000, 37'000, 0, new_year_s + 60};
    CHECK(waiting.state(JobClass::queued) ==
          "it is queued (held by accordd) for 4 a100 of vision/gpu: 10.2 of the 10 GPU-hours of its budget are used, and the "
          "next period begins at 2026-01-01T00:01:00Z; it is released then, as soon as there is room");
    waiting.budget.limit = BudgetLimit::borrow_only;
    CHECK(waiting.state(JobClass::queued).ends_with("or as soon as there is room within the borrow limit"));
    waiting.job.requeueable = false;
    CHECK(waiting.state(JobClass::queued).ends_with("it is released then, as soon as there is room"));
}

TEST_CASE("a queued job is told what it waits for") {
    Waiting waiting;
    CHECK(waiting.state(JobClass::queued) ==
          "it is queued (held by accordd) for 4 a100 of vision/gpu: 2 of its 8 guaranteed a100 are free and 4 of 4 that it "
          "may borrow are in use; it is released as soon as there is headroom or room within the borrow limit");
    waiting.job.hold = Hold::user;  // the plugin's, until accordd puts its own in its place
    CHECK(waiting.state(JobClass::queued).ends_with("within the borrow limit"));
    waiting.facts->user_wants_hold = true;
    CHECK(waiting.state(JobClass::queued).ends_with("within the borrow limit; its own user wants it held even then"));
    waiting.facts->user_wants_hold = false;
    waiting.job.requeueable = false;
    waiting.contract.capacity["a100"].borrow_limit.reset();
    CHECK(waiting.state(JobClass::queued) ==
          "it is queued (held by accordd) for 4 a100 of vision/gpu: 2 of its 8 guaranteed a100 are free; it is released as "
          "soon as there is headroom, since it could not be requeued");
}

TEST_CASE("other waits are told by their cause") {
    Waiting waiting;
    CHECK(waiting.state(JobClass::borrowed) == "it is borrowed and held by an administrator");
    waiting.job.hold = Hold::user;
    CHECK(waiting.state(JobClass::guaranteed) == "it is guaranteed and held by its user");
    waiting.job.hold = Hold::none;
    CHECK(waiting.state(JobClass::borrowed) == "it is borrowed and waits in Slurm's queue for GPUs that nobody needs");
    waiting.job.dependent = true;
    CHECK(waiting.state(JobClass::borrowed) == "it is borrowed and waits for a dependency");
    waiting.job.begin_s = new_year_s + 60;
    CHECK(waiting.state(JobClass::borrowed) == "it is borrowed and may begin at 2026-01-01T00:01:00Z");
}

TEST_CASE("a running and an ended job are told as such") {
    Waiting waiting;
    waiting.job.state = JobState::running;
    waiting.job.allocated = {{"a100", 2}};
    waiting.job.start_s = new_year_s;
    CHECK(waiting.state(JobClass::guaranteed) == "it is running, guaranteed, with 2 a100, since 2026-01-01T00:00:00Z");
    waiting.job.state = JobState::ended;
    waiting.job.ending = Ending::cancelled;
    CHECK(waiting.state(JobClass::guaranteed) == "it was cancelled");
}
