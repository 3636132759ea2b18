// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's pass: follow policy, journal and jobs; write the ledger; do what the plan says.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actor.hpp"
#include "budget_meter.hpp"
#include "journal_feed.hpp"
#include "log.hpp"
#include "pace.hpp"
#include "policy_watch.hpp"
#include "preemptions.hpp"
#include "resolver.hpp"
#include "roster.hpp"
#include "slurm/cluster.hpp"
#include "snapshot.hpp"
#include "usage_meter.hpp"

namespace accord {

/// What accordd keeps of the record, from the moment it knows which controller it serves.
struct Books {
    /// `before` is the ledger file as another process left it.
    Books(JournalFeed feed, UsageDb usage, const std::vector<UsageInterval>& open, const LedgerBase& before,
          Clock::time_point now, Cluster& cluster);

    JournalFeed feed;
    UsageDb usage;
    Resolver resolver;
    UsageMeter meter;
    BudgetMeter budget_meter;
    BudgetUses budgets;          ///< as usage.db can tell them, too
    std::int64_t metered_s = 0;  ///< up to when
    Roster roster;
    JobActor actor;
    Preemptions preemptions;
    std::shared_ptr<const LedgerBase> ledger;  ///< as this process has written it
    bool fresh = true;                         ///< the journal was not read yet
    std::map<std::uint32_t, Reason> refusals;  ///< of modifications since the last action, by job
    std::vector<UsageInterval> unwritten;      ///< stretches that usage.db could not take yet
};

struct Listing {
    std::vector<JobView> jobs;
    Clock::time_point began;  ///< from before slurmctld was asked
    std::int64_t taken_s = 0;
    std::vector<GovernedJob> governed;  ///< points into jobs
    bool facts_changed = false;  ///< the record knows more of them than `governed`
    std::set<DecisionId> throttled;  ///< whose arrays' throttles have gone on record since: the list may show older ones
    bool acted_on = true;
};

/// Where the time comes from.
struct Clocks {
    std::function<Clock::time_point()> steady = Clock::now;
    std::function<std::int64_t()> wall_s = [] { return std::int64_t{std::time(nullptr)}; };
};

class Daemon {
public:
    /// `host` is this host's name; `cluster` must outlive the daemon.
    Daemon(PolicyWatch policy, Cluster& cluster, std::string host, Clocks clocks = {});

    /// One pass. Its steps are in the order that doc/ledger.md argues for. Whatever fails is logged, kept and tried again
    /// in a later pass; an error is returned only where accordd must not go on.
    [[nodiscard]] Result<void> pass();

    /// In one line, for the supervisor.
    [[nodiscard]] std::string status() const;
    /// When the next pass is due: an interval after the last one's beginning, or when a list is, if that is soon after.
    [[nodiscard]] Clock::time_point next_pass() const;

private:
    [[nodiscard]] Result<void> check_settings();
    bool open_books();
    bool read_journal();
    void note(const JournalRecord& record, Clock::time_point read, Clock::duration age);
    bool fetch();
    void compare_pools();
    bool govern();
    void take_stock();
    void write_snapshot();
    void link_jobs();
    void meter_use();
    void meter_budgets();
    void act();
    bool act_once(std::set<std::uint32_t>& tried, std::int64_t now_s);
    void mark_at_rest(const std::set<std::uint32_t>& tried, std::int64_t now_s);
    [[nodiscard]] std::vector<Action> planned(const std::set<std::uint32_t>& tried, std::int64_t now_s);
    [[nodiscard]] Result<std::optional<JobFacts>> facts_of(const JobView& job);
    [[nodiscard]] std::string path(const char* file) const;

    PolicyWatch policy_;
    Cluster* cluster_;
    std::string host_;
    Clocks clocks_;
    Troubles troubles_;
    std::optional<ClusterSettings> settings_;
    Clock::time_point settings_due_{};
    std::uint32_t controller_ = 0;
    std::unique_ptr<Books> books_;  ///< stays where it is: the actor knows its usage.db
    Pace pace_;
    ClusterShape shape_;
    Clock::time_point shape_due_{};
    Clock::time_point pass_began_{};
    std::optional<Listing> listing_;
};

}  // namespace accord
