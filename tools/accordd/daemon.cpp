// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's pass: follow policy, journal and jobs; write the ledger; do what the plan says.
#include "daemon.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "slurm/controller.hpp"
#include "store/ledger_file.hpp"

namespace accord {
namespace {

constexpr auto settings_every = std::chrono::seconds(30);
constexpr auto shape_every = std::chrono::seconds(10);

/// Rounds of planning in one pass, and updates in one round, after which slurmctld gets its breath back.
constexpr int most_rounds = 3;
constexpr std::size_t most_actions = 200;

}  // namespace

Daemon::Daemon(PolicyWatch policy, Cluster& cluster, std::string host, Clocks clocks)
    : policy_(std::move(policy)), cluster_(&cluster), host_(std::move(host)), clocks_(std::move(clocks)) {}

std::string Daemon::path(const char* file) const { return policy_.config().store_dir + "/" + file; }

Result<void> Daemon::pass() {
    pass_began_ = clocks_.steady();
    std::optional<std::string> slurm_user;
    if (settings_) slurm_user = settings_->slurm_user;
    policy_.refresh(troubles_, slurm_user, clocks_.wall_s());
    if (auto checked = check_settings(); !checked) return checked;
    if (!settings_ || !open_books()) return {};
    // Act on the list of an earlier pass: by now the plugin counts with the snapshot that was made of it.
    bool recorded = read_journal();
    if (recorded && listing_ && !listing_->acted_on) {
        act();
        recorded = read_journal();
    }
    // After the list the journal again: it then has the decision of every job that the list shows.
    if (pace_.due(clocks_.steady()) && fetch() && read_journal()) take_stock();
    return {};
}

Result<void> Daemon::check_settings() {
    if (pass_began_ < settings_due_) return {};
    auto settings = cluster_->settings();
    if (!settings) {
        troubles_.begin("slurmctld", settings.error());
        return {};
    }
    if (settings->slurm_user_uid != ::geteuid())
        return fail("refused", fmt::format("accordd: cannot go on: it must run as SlurmUser ({}), and runs as uid {}",
                                           settings->slurm_user, ::geteuid()));
    if (settings->prolog_at_allocation) {
        troubles_.end("PrologFlags");
    } else {
        troubles_.begin("PrologFlags", "slurm.conf: PrologFlags is without Alloc: nothing is promoted or released");
    }
    controller_ = controller_index(settings->controllers, host_);
    settings_ = std::move(*settings);
    settings_due_ = pass_began_ + settings_every;
    return {};
}

bool Daemon::open_books() {
    if (books_) return true;
    auto base = read_ledger(path("ledger"));
    if (!base && std::filesystem::exists(path("ledger"))) log_line(LogLevel::warning, base.error().what);
    LedgerBase ledger = base ? std::move(*base) : LedgerBase{};
    auto feed = JournalFeed::open(policy_.config().store_dir, controller_, ledger.resolved_through);
    if (!feed) {
        troubles_.begin("decisions.db", feed.error());
        return false;
    }
    troubles_.end("decisions.db");
    auto usage = UsageDb::open(path("usage.db"), UsageDb::Open::read_write);
    auto open = usage ? usage->open_intervals() : tl::unexpected(usage.error());
    if (!open) {
        troubles_.begin("usage.db", open.error());
        return false;
    }
    troubles_.end("usage.db");
    books_ = std::make_unique<Books>(std::move(*feed), std::move(*usage), *open, ledger, clocks_.steady(), *cluster_);
    return true;
}

Books::Books(JournalFeed feed_, UsageDb usage_, const std::vector<UsageInterval>& open, const LedgerBase& before,
             Clock::time_point now, Cluster& cluster)
    : feed(std::move(feed_)),
      usage(std::move(usage_)),
      resolver(before.resolved_through, before.counted, now),
      meter(open, before.metered_s),
      budget_meter(before.budgets, before.metered_s),
      budgets(before.budgets),
      metered_s(before.metered_s),
      actor(cluster, usage) {}

bool Daemon::read_journal() {
    const bool first = std::exchange(books_->fresh, false);
    const auto now_s = clocks_.wall_s();
    return books_->feed.advance(troubles_, [&](const JournalRecord& record) {
        // What was there before accordd was has its age by its own time, a second less for the part that it leaves out.
        const auto age_s = first ? std::max<std::int64_t>(now_s - record.decision.time_s - 1, 0) : 0;
        note(record, clocks_.steady(), std::chrono::seconds(age_s));
    });
}

void Daemon::note(const JournalRecord& record, Clock::time_point read, Clock::duration age) {
    books_->resolver.add(record, read, read - age);
    const auto& decision = record.decision;
    if (decision.kind != DecisionKind::modification) return;
    books_->roster.forget_facts(record.job_decision);
    if (listing_) listing_->facts_changed = true;
    if (listing_ && decision.throttle) listing_->throttled.insert(record.job_decision);
    // An array's throttle is in force all the same, and slurmctld calls its list unchanged.
    if (decision.verdict == Verdict::rejected && decision.reason != Reason::stale) cluster_->expect_change();
    if (decision.verdict == Verdict::rejected && decision.job_id)
        books_->refusals[*decision.job_id] = decision.reason;
}

bool Daemon::fetch() {
    const auto began = clocks_.steady();
    if (began >= shape_due_ || !listing_) {
        auto shape = cluster_->shape();
        if (!shape) {
            troubles_.begin("slurmctld", shape.error());
            return false;
        }
        shape_ = std::move(*shape);
        shape_due_ = began + shape_every;
        compare_pools();
    }
    if (!listing_) listing_.emplace();
    listing_->governed.clear();
    listing_->throttled.clear();
    listing_->acted_on = true;
    const auto list_began = clocks_.steady();
    const auto taken_s = clocks_.wall_s();
    if (const auto listed = cluster_->jobs(listing_->jobs); !listed) {
        troubles_.begin("slurmctld", listed.error());
        return false;
    }
    troubles_.end("slurmctld");
    pace_.took(began, clocks_.steady(), std::chrono::milliseconds(policy_.config().interval_ms));
    listing_->began = list_began;
    listing_->taken_s = taken_s;
    return true;
}

/// What accord.toml says of a pool, against what slurmctld has.
void Daemon::compare_pools() {
    std::string wrong;
    for (const auto& pool : policy_.config().pools) {
        for (const auto& name : {pool.partition, pool.lend_partition}) {
            const auto* partition = shape_.partition(name);
            const auto has = partition ? partition->capacity() : GpuVector{};
            if (has == pool.gpus) continue;
            if (!wrong.empty()) wrong += "; ";
            wrong += fmt::format("accord.toml: pool {} has {}, slurmctld's partition {} has {}", pool.partition,
                                 describe(pool.gpus), name, partition ? describe(has) : "is not there");
        }
    }
    if (wrong.empty()) return troubles_.end("pools");
    troubles_.begin("pools", wrong);
}

/// What the record says, but for a release that slurmctld refused after the plugin had agreed to it.
Result<std::optional<JobFacts>> Daemon::facts_of(const JobView& job) {
    auto facts = books_->roster.facts_of(job, books_->feed.decisions());
    if (facts && *facts && job.hold == Hold::admin && (*facts)->cls != JobClass::queued &&
        books_->actor.release_failed(job.job_id))
        (*facts)->cls = JobClass::queued;
    if (!facts || !*facts || job.state != JobState::pending) return facts;
    if ((*facts)->released_s != 0) (*facts)->sent_back_s = books_->actor.sent_back_s(job.job_id);
    if (job.restarts != 0) {
        const auto preempted = books_->preemptions.of(job, books_->usage);
        if (!preempted) return tl::unexpected(preempted.error());
        (*facts)->preemptions = preempted->times;
        (*facts)->last_preempted_s = preempted->last_s;
    }
    return facts;
}

bool Daemon::govern() {
    std::optional<Error> failure;
    listing_->governed = governed_jobs(policy_.policy(), shape_, listing_->jobs, clocks_.wall_s(), [&](const JobView& job) {
        auto facts = facts_of(job);
        if (!facts && !failure) failure = facts.error();
        return facts ? *facts : std::nullopt;
    });
    if (failure) {
        troubles_.begin("decisions.db", *failure);
        return false;
    }
    listing_->facts_changed = false;
    // That a dependency is met is no change to slurmctld (test_job_dependency, 22.05).
    if (std::any_of(listing_->governed.begin(), listing_->governed.end(), [](const GovernedJob& one) {
            return one.cls == JobClass::queued && one.job->dependent;
        }))
        cluster_->expect_change();
    return true;
}

void Daemon::take_stock() {
    const auto settle = std::chrono::seconds(policy_.config().settle_s);
    books_->roster.take(listing_->jobs);
    if (!govern()) return;
    books_->resolver.settle(open_decisions_shown(listing_->jobs, books_->roster, books_->resolver, controller_),
                            listing_->began, settle);
    meter_use();
    write_snapshot();
    link_jobs();
    books_->actor.forget_unlisted(books_->roster);
    books_->preemptions.forget_unlisted(books_->roster);
    listing_->acted_on = false;
}

void Daemon::write_snapshot() {
    auto base = snapshot(listing_->governed, books_->roster, books_->resolver, shape_, controller_, listing_->taken_s);
    base.metered_s = books_->metered_s;
    base.budgets = books_->budgets;
    add_outstanding(base.budgets, listing_->governed, listing_->taken_s);
    if (books_->ledger && same_ledger(*books_->ledger, base) &&
        !budgets_are_due(policy_.policy(), *books_->ledger, base))
        return;
    const auto written = write_ledger(path("ledger"), base);
    if (!written) {
        books_->ledger.reset();
        return troubles_.begin("ledger", written.error());
    }
    troubles_.end("ledger");
    books_->ledger = std::make_shared<const LedgerBase>(std::move(base));
}

void Daemon::link_jobs() {
    if (const auto done = books_->feed.decisions().link(books_->roster.unlinked()); !done)
        return troubles_.begin("decisions.db", done.error());
    books_->roster.linked();
}

void Daemon::meter_use() {
    const auto on_record = [&](std::uint32_t job_id, std::uint32_t restart) {
        const auto known = books_->usage.intervals(job_id);
        return known && std::any_of(known->begin(), known->end(), [&](const UsageInterval& interval) {
            return interval.restart == restart && interval.end_s;
        });
    };
    auto changed = books_->meter.update(policy_.config(), shape_, listing_->jobs, listing_->taken_s, on_record);
    books_->budget_meter.add(changed);
    auto& unwritten = books_->unwritten;
    unwritten.insert(unwritten.end(), changed.begin(), changed.end());
    if (!unwritten.empty()) {
        if (const auto done = books_->usage.put_intervals(unwritten); !done)
            return troubles_.begin("usage.db", done.error());
        troubles_.end("usage.db");
        // Of a job that waits again, the list at hand was counted without it.
        if (books_->preemptions.note(unwritten)) listing_->facts_changed = true;
        unwritten.clear();
    }
    meter_budgets();
}

/// Only when usage.db has all stretches: what the ledger file says of budgets must be found in there after a restart.
void Daemon::meter_budgets() {
    auto& meter = books_->budget_meter;
    const auto followed = meter.follow(policy_.policy(), policy_.calendar(), books_->usage, listing_->taken_s);
    if (!followed) return troubles_.begin("budgets", followed.error());
    troubles_.end("budgets");
    books_->budgets = meter.uses(books_->meter);
    books_->metered_s = std::max(books_->metered_s, listing_->taken_s);
}

void Daemon::act() {
    listing_->acted_on = true;
    if (policy_.config().mode == Mode::observe) return;
    if (listing_->facts_changed && !govern()) return;
    std::set<std::uint32_t> tried;
    for (int round = 0; round < most_rounds; ++round)
        if (!act_once(tried, clocks_.wall_s())) return;
}

/// False when there is no more to do now. A plan that the plugin calls stale is made again if the journal shows what
/// has overtaken it, else after the next list.
bool Daemon::act_once(std::set<std::uint32_t>& tried, std::int64_t now_s) {
    const auto why_refused = [&](const Action& action) -> std::optional<Reason> {
        if (!read_journal()) return std::nullopt;
        // A task that has just been split off has a number of its own.
        const auto found = action.task && books_->refusals.size() == 1 ? books_->refusals.begin()
                                                                       : books_->refusals.find(action.job_id);
        return found == books_->refusals.end() ? std::nullopt : std::optional(found->second);
    };
    const auto actions = planned(tried, now_s);
    for (const auto& action : actions) {
        books_->refusals.clear();
        const auto open_before = books_->resolver.open().size();
        const auto outcome = books_->actor.perform(action, why_refused, now_s);
        cluster_->expect_change();
        if (!outcome) {
            troubles_.begin(outcome.error().code == "unavailable" ? "slurmctld" : "usage.db", outcome.error());
            return false;
        }
        if (*outcome == JobActor::Outcome::stale) return read_journal() && books_->resolver.open().size() > open_before;
        tried.insert(action.job_id);
    }
    return false;
}

/// Jobs on which an action failed, or was tried in this pass, are left alone; the components of a heterogeneous job all or
/// none.
void Daemon::mark_at_rest(const std::set<std::uint32_t>& tried, std::int64_t now_s) {
    std::set<std::uint32_t> het_at_rest;
    for (auto& one : listing_->governed) {
        const bool throttle_is_off = one.throttle_is_off();
        const bool shown_too_early = throttle_is_off && listing_->throttled.contains(one.facts->decision);
        const auto job_id = throttle_is_off ? one.job->array_job_id : one.job->job_id;
        one.at_rest = shown_too_early || tried.contains(job_id) || books_->actor.resting(one, now_s);
        if (one.at_rest && one.job->het_job_id != 0) het_at_rest.insert(one.job->het_job_id);
    }
    if (het_at_rest.empty()) return;
    for (auto& one : listing_->governed)
        if (het_at_rest.contains(one.job->het_job_id)) one.at_rest = true;
}

std::vector<Action> Daemon::planned(const std::set<std::uint32_t>& tried, std::int64_t now_s) {
    if (!books_->ledger) return {};
    mark_at_rest(tried, now_s);
    auto actions = plan(policy_.policy(), shape_, listing_->governed, all_claims(books_->ledger, books_->resolver),
                        books_->ledger->budgets, now_s);
    // Until the next snapshot the plugin counts a promoted job in both classes: a release to the excess that it frees
    // would be stale now.
    std::set<std::string> promoted;
    std::erase_if(actions, [&](const Action& action) {
        if (action.kind == ActionKind::promote) promoted.insert(action.contract);
        const bool gives = action.kind == ActionKind::promote || action.kind == ActionKind::release;
        return gives && (!settings_->prolog_at_allocation ||
                         (action.to == JobClass::borrowed && promoted.contains(action.contract)));
    });
    if (actions.size() > most_actions) actions.resize(most_actions);
    return actions;
}

std::string Daemon::status() const {
    if (const auto wrong = troubles_.summary(); !wrong.empty()) return wrong;
    if (!listing_ || !books_) return "waiting for slurmctld";
    return fmt::format("{} governed jobs, {} decisions open", listing_->governed.size(),
                       books_->resolver.open().size());
}

Clock::time_point Daemon::next_pass() const {
    const Clock::duration interval = std::chrono::milliseconds(policy_.config().interval_ms);
    const auto next = pass_began_ + interval;
    return pace_.next() > next && pace_.next() < next + interval ? pace_.next() : next;
}

}  // namespace accord
