// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/story.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "policy/classify.hpp"
#include "policy/messages.hpp"
#include "policy/utc.hpp"

namespace accord {
namespace {

/// The researcher's line without the prefix that it had on the terminal.
std::string bare(const std::string& message) {
    constexpr std::string_view prefix = "accord: ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

std::string mode_note(const DecisionRow& row) {
    return row.mode == "observe" ? " (observe mode: recorded, not enforced)" : "";
}

/// The line begins with the class where there is one; a queued job's verdict says no more than that.
std::string answer(const DecisionRow& row) {
    const auto line = bare(row.message);
    return row.verdict == row.cls ? line : row.verdict + ": " + line;
}

StoryEvent tell(const DecisionRow& row) {
    const bool submission = row.kind == "submission";
    const auto who = submission ? fmt::format("{} submitted it as account {} to partition {}", row.user,
                                              row.account.empty() ? "(none)" : row.account, row.partition)
                                : std::string("a change to it was judged");
    // Slurm may refuse a change after the plugin has let it pass
    const auto* proviso = submission || row.verdict == "rejected" ? "" : " (if Slurm made the change)";
    return {utc_from(row.time).value_or(0), submission ? "decision" : "modification",
            fmt::format("{}; decision {}: {}{}{}", who, row.id, answer(row), proviso, mode_note(row))};
}

StoryEvent tell(const ActionRecord& action) {
    const auto move = action.from_class && action.to_class && action.from_class != action.to_class
                          ? fmt::format(" from {} to {}", to_string(*action.from_class), to_string(*action.to_class))
                          : std::string();
    const auto what = action.action == to_string(ActionKind::throttle) ? "array throttle put back" : action.action;
    const auto reason = action.reason.empty() ? "" : fmt::format(" ({})", action.reason);
    const auto outcome = action.outcome.empty() ? "its outcome is not on record" : action.outcome;
    return {action.time_s, "action", fmt::format("accordd, action {}: {}{}{}: {}", action.id, what, move, reason, outcome)};
}

/// "it", or which task of its array.
std::string subject_of(const UsageInterval& interval, const StoryInput& input) {
    const auto task = input.tasks_of_jobs.find(interval.job_id);
    return task == input.tasks_of_jobs.end() ? "it" : fmt::format("task {}", task->second);
}

StoryEvent start_of(const UsageInterval& interval, const StoryInput& input) {
    const auto again = interval.restart == 0 ? "" : fmt::format(" again (restart {})", interval.restart);
    return {interval.start_s, "start", fmt::format("{} started{}, {}, with {}", subject_of(interval, input), again,
                                                   to_string(interval.cls), describe(interval.gpus))};
}

StoryEvent end_of(const UsageInterval& interval, const StoryInput& input) {
    StoryEvent event{*interval.end_s, "end", {}};
    const auto ran = span_text(*interval.end_s - interval.start_s);
    const auto subject = subject_of(interval, input);
    if (interval.ended != "preempted") {
        event.text = fmt::format("{} ended after {}: {}", subject, ran, interval.ended.empty() ? "how is not on record" : interval.ended);
        return event;
    }
    event.text = fmt::format("{} was preempted after {}", subject, ran);
    if (interval.beneficiary_job) {
        event.text += fmt::format(" for job {}", *interval.beneficiary_job);
        const auto contract = input.contracts_of_jobs.find(*interval.beneficiary_job);
        if (contract != input.contracts_of_jobs.end())
            event.text += fmt::format(", which took back GPUs of {}'s guarantee", contract->second);
    }
    return event;
}

/// "2 of its 8 guaranteed a100 are free" for each type that the job asks for.
std::string room_for(const Present& present) {
    std::string text;
    for (const auto& [type, count] : present.ask) {
        const auto found = present.contract->capacity.find(type);
        const Gpus guaranteed = found == present.contract->capacity.end() ? 0 : found->second.guaranteed;
        text += fmt::format("{}{} of its {} guaranteed {} are free", text.empty() ? "" : ", ",
                            headroom_of(*present.contract, present.claims, type), guaranteed, type);
        if (found != present.contract->capacity.end() && found->second.borrow_limit)
            text += fmt::format(" and {} of {} that it may borrow are in use",
                                excess_of(*present.contract, present.claims, type), *found->second.borrow_limit);
    }
    return text;
}

std::string queued_state(const Present& present) {
    if (!present.contract)
        return fmt::format("it is queued for {}, but there is no contract of {} in its pool any more",
                           describe(present.ask), present.job.account);
    const auto what = fmt::format("it is queued (held by accordd) for {} of {}", describe(present.ask), present.contract->key());
    const bool user_wants_hold = present.facts && present.facts->user_wants_hold;
    if (user_wants_hold && present.facts->not_eligible)
        return what + ", and its own user holds it: it is released when he has released it and there is room";
    if (present.job.het_job_id != 0)
        return what + ": the components of its job are released together, as soon as enough GPUs are free for all";
    const auto borrows = may_borrow(*present.contract, present.job.type, present.job.requeueable);
    const auto& budget = present.budget;
    if (budget.limit == BudgetLimit::reject || (budget.limit == BudgetLimit::borrow_only && !borrows))
        return fmt::format("{}: {}; it is released then, as soon as there is room", what, budget_text(budget));
    if (budget.limit == BudgetLimit::borrow_only)
        return fmt::format("{}: {}; it is released then, or as soon as there is room within the borrow limit", what,
                           budget_text(budget));
    const auto until = borrows ? "headroom or room within the borrow limit" : "headroom, since it could not be requeued";
    const auto user_hold = user_wants_hold ? "; its own user wants it held even then" : "";
    return fmt::format("{}: {}; it is released as soon as there is {}{}", what, room_for(present), until, user_hold);
}

std::string pending_state(const Present& present) {
    const auto& job = present.job;
    const auto* cls = to_string(present.cls);
    const auto begin_s = own_begin(job.begin_s);
    if (begin_s > present.now_s) return fmt::format("it is {} and may begin at {}", cls, utc_text(begin_s));
    if (job.dependent) return fmt::format("it is {} and waits for a dependency", cls);
    if (present.cls == JobClass::queued) return queued_state(present);
    if (job.hold == Hold::user) return fmt::format("it is {} and held by its user", cls);
    if (job.hold == Hold::admin) return fmt::format("it is {} and held by an administrator", cls);
    if (present.cls == JobClass::guaranteed || present.cls == JobClass::exempt)
        return fmt::format("it is {} and waits in Slurm's queue: it starts when nodes that fit are free, or as soon as Slurm "
                           "has preempted borrowed jobs on them", cls);
    return "it is borrowed and waits in Slurm's queue for GPUs that nobody needs";
}

}  // namespace

std::vector<StoryEvent> story_of(const StoryInput& input) {
    std::vector<StoryEvent> events;
    // an action comes before the modification by which it passed the plugin, also within a second
    for (const auto& action : input.actions) events.push_back(tell(action));
    for (const auto& row : input.decisions) events.push_back(tell(row));
    for (const auto& interval : input.intervals) {
        events.push_back(start_of(interval, input));
        if (interval.end_s) events.push_back(end_of(interval, input));
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const auto& left, const auto& right) { return left.time_s < right.time_s; });
    return events;
}

std::string present_state(const Present& present) {
    switch (present.job.state) {
        case JobState::pending: return pending_state(present);
        case JobState::running:
            return fmt::format("it is running, {}, with {}, since {}", to_string(present.cls),
                               describe(present.job.allocated), utc_text(present.job.start_s));
        case JobState::suspended: return fmt::format("it is suspended and holds {}", describe(present.job.allocated));
        case JobState::completing: return "it is completing and still holds its GPUs";
        case JobState::ended: break;
    }
    switch (present.job.ending) {
        case Ending::completed: return "it has completed";
        case Ending::failed: return "it has failed";
        case Ending::cancelled: return "it was cancelled";
        case Ending::preempted: return "it was preempted, and could not be requeued";
        case Ending::none: break;
    }
    return "it has ended";
}

}  // namespace accord
