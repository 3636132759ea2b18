// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out what the plan says: on record first, then in slurmctld, then how it came out.
#include "actor.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "log.hpp"

namespace accord {
namespace {

constexpr std::int64_t first_rest_s = 60;
constexpr std::int64_t longest_rest_s = 3600;

HoldChange hold_of(const Action& action) {
    if (action.to == JobClass::queued) return action.parks() ? HoldChange::release : HoldChange::admin;
    return action.user_hold ? HoldChange::user : HoldChange::release;
}

/// A released job that had not started gave way to another (R14).
bool is_sent_back(std::string_view action, std::string_view reason) {
    return action == to_string(ActionKind::demote) &&
           (reason == to_string(Reason::borrow_limit) || reason == to_string(Reason::lend_limit));
}

/// An array's throttle rests apart from its jobs.
std::pair<std::uint32_t, bool> rest_key(std::uint32_t job_id, ActionKind kind) {
    return {job_id, kind == ActionKind::throttle};
}

}  // namespace

JobUpdate update_of(const Action& action, std::uint64_t number) {
    JobUpdate update;
    update.job_id = action.job_id;
    update.array_task = action.task;
    update.admin_comment = comment_of(ActionMark{number, action.to});
    if (action.kind == ActionKind::throttle) {
        update.array_limit = action.throttle;
        return update;
    }
    // What is lowered to borrowed keeps a hold of its user's.
    if (action.kind != ActionKind::demote || action.to == JobClass::queued) update.hold = hold_of(action);
    update.begin_s = action.begin_s;
    if (action.from == JobClass::queued && action.to == JobClass::queued) return update;
    update.partition = action.partition;
    update.site_factor = action.site_factor;
    return update;
}

Result<JobActor::Outcome> JobActor::perform(const Action& action, const WhyRefused& why_refused, std::int64_t now_s) {
    const auto number = usage_->begin_action(action, now_s);
    if (!number) return tl::unexpected(number.error());
    const auto updated = action.kind == ActionKind::cancel ? cluster_->cancel(action.job_id)
                                                           : cluster_->update(update_of(action, *number));
    std::string outcome = "done";
    bool stale = false;
    if (!updated) {
        const auto reason = why_refused(action);
        stale = reason == Reason::stale;
        outcome = reason ? to_string(*reason) : updated.error().what;
    }
    log_line(updated || stale ? LogLevel::info : LogLevel::warning,
             fmt::format("action={} job={} {} contract={} from={} to={} gpus={} outcome={}", *number, action.job_id,
                         to_string(action.kind), action.contract, to_string(action.from), to_string(action.to),
                         total(action.gpus), outcome));
    if (action.kind != ActionKind::throttle && !action.task)
        release_failed_[action.job_id] = action.kind == ActionKind::release && !updated;
    const auto written = usage_->set_outcome(*number, outcome);
    if (!updated && updated.error().code == "unavailable") return tl::unexpected(updated.error());
    if (!written) return tl::unexpected(written.error());
    if (stale) return Outcome::stale;
    if (!updated) {
        rest(action, now_s);
        return Outcome::refused;
    }
    resting_.erase(rest_key(action.job_id, action.kind));
    if (is_sent_back(to_string(action.kind), to_string(action.reason))) sent_back_s_[action.job_id] = now_s;
    return Outcome::done;
}

void JobActor::rest(const Action& action, std::int64_t now_s) {
    auto& rest = resting_[rest_key(action.job_id, action.kind)];
    rest.span_s = std::clamp(rest.span_s * 2, first_rest_s, longest_rest_s);
    rest.until_s = now_s + rest.span_s;
}

bool JobActor::resting(const GovernedJob& governed, std::int64_t now_s) const {
    const auto& job = *governed.job;
    const auto found = governed.throttle_is_off() ? resting_.find(rest_key(job.array_job_id, ActionKind::throttle))
                                                  : resting_.find(rest_key(job.job_id, ActionKind::promote));
    // A clock that went back must not make the rest longer.
    return found != resting_.end() && now_s < found->second.until_s &&
           now_s >= found->second.until_s - found->second.span_s;
}

bool JobActor::release_failed(std::uint32_t job_id) {
    const auto known = release_failed_.find(job_id);
    if (known != release_failed_.end()) return known->second;
    const auto actions = usage_->actions(job_id);
    if (!actions) return false;
    const auto latest = std::find_if(actions->rbegin(), actions->rend(), [](const ActionRecord& action) {
        return action.action != to_string(ActionKind::throttle);
    });
    const bool failed = latest != actions->rend() && latest->action == to_string(ActionKind::release) &&
                        latest->outcome != "done";
    release_failed_.emplace(job_id, failed);
    return failed;
}

std::int64_t JobActor::sent_back_s(std::uint32_t job_id) {
    const auto [known, is_new] = sent_back_s_.try_emplace(job_id, 0);
    if (!is_new) return known->second;
    if (const auto actions = usage_->actions(job_id))
        for (const auto& action : *actions)
            if (action.outcome == "done" && is_sent_back(action.action, action.reason)) known->second = action.time_s;
    return known->second;
}

void JobActor::forget_unlisted(const Roster& roster) {
    std::erase_if(resting_, [&](const auto& entry) { return !roster.lists(entry.first.first); });
    std::erase_if(sent_back_s_, [&](const auto& entry) { return !roster.lists(entry.first); });
    std::erase_if(release_failed_, [&](const auto& entry) { return !roster.lists(entry.first); });
}

}  // namespace accord
