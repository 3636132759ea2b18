// SPDX-License-Identifier: GPL-2.0-or-later
// doc/ledger.md's argument as laws: over any interleaving of hooks, jobs, lists and snapshots, the plugin's ledger counts
// every job that is there or may still come, and nothing else for longer than it must.
#include <rapidcheck.h>

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "catch.hpp"
#include "snapshot.hpp"

using namespace accord;
using std::chrono::seconds;

namespace {

constexpr int settle_s = 15;
const std::string contract = "vision-lab/gpu";

/// slurmctld with its plugin, and accordd, reduced to what the ledger turns on. Every job claims one GPU. A job is made
/// up to `settle_s` after its hook, or never. Time moves in whole seconds.
class World {
public:
    /// The hook: recorded and counted under one lock. `made_in_s` unset: slurmctld refuses the job afterwards.
    void submit(std::optional<int> made_in_s) {
        const auto number = record(DecisionKind::submission, JobClass::borrowed, {});
        coming_[number] = {now_s_, made_in_s};
    }

    /// Promotes a job that is there; slurmctld applies it under the hook's lock, or refuses it after the hook's yes.
    void promote(std::size_t pick, bool applied) {
        if (jobs_.empty()) return;
        auto job = std::next(jobs_.begin(), static_cast<std::ptrdiff_t>(pick % jobs_.size()));
        if (job->second != JobClass::borrowed) return;
        record(DecisionKind::modification, JobClass::guaranteed, DecisionId{0, job->first});
        if (applied) job->second = JobClass::guaranteed;
    }

    void end_job(std::size_t pick) {
        if (!jobs_.empty()) jobs_.erase(std::next(jobs_.begin(), static_cast<std::ptrdiff_t>(pick % jobs_.size())));
    }

    void tick() {
        ++now_s_;
        for (auto it = coming_.begin(); it != coming_.end();) {
            const auto& [at_s, made_in_s] = it->second;
            const bool due = made_in_s && now_s_ >= at_s + *made_in_s;
            if (due) jobs_[it->first] = JobClass::borrowed;
            it = due ? coming_.erase(it) : std::next(it);
        }
    }

    // accordd's steps, in its order; anything may happen between them.
    void read_journal() {
        for (; read_ < journal_.size(); ++read_) resolver_.add(journal_[read_], at(now_s_), at(now_s_));
    }
    void begin_list() {
        list_began_s_ = now_s_;
        list_.reset();
    }
    /// slurmctld makes the list at some moment after it was asked for it.
    void take_list() {
        if (list_began_s_) list_ = jobs_;
    }
    void write_snapshot() {
        if (!list_) return;
        std::vector<JobView> views;
        auto base = std::make_shared<LedgerBase>();
        for (const auto& [number, cls] : *list_) {
            JobView view;
            view.job_id = static_cast<std::uint32_t>(number);
            view.admin_comment = comment_of(DecisionId{0, number});
            views.push_back(view);
            add_claim(base->contracts[contract], {contract, 1, cls, {{"a100", 1}}});
        }
        Roster roster;
        roster.take(views);
        resolver_.settle(open_decisions_shown(views, roster, resolver_, 0), at(*list_began_s_), seconds(settle_s));
        base->resolved_through = resolver_.resolved_through();
        base->counted = resolver_.counted();
        file_ = base;
        list_.reset();
        list_began_s_.reset();
    }
    void restart_accordd() {
        resolver_ = Resolver(file_->resolved_through, file_->counted, at(now_s_));
        read_ = 0;
        list_.reset();
        list_began_s_.reset();
    }

    // slurmctld's side.
    void rebase() { plugin_.rebase(file_); }
    /// The new process has the ledger file and the journal, nothing else.
    void restart_slurmctld() {
        plugin_ = Ledger();
        plugin_.rebase(file_);
        for (const auto& made : journal_) apply_to_ledger(plugin_, made.id.number, made.decision);
    }

    [[nodiscard]] Gpus counted() const {
        const auto& claims = plugin_.of(contract);
        return amount_of(claims.guaranteed, "a100") + amount_of(claims.borrowed, "a100");
    }
    [[nodiscard]] Gpus counted_guaranteed() const { return amount_of(plugin_.of(contract).guaranteed, "a100"); }
    /// Jobs that are there, and those that slurmctld is about to make.
    [[nodiscard]] Gpus true_claims() const {
        Gpus sum = static_cast<Gpus>(jobs_.size());
        for (const auto& [number, job] : coming_) sum += job.made_in_s ? 1 : 0;
        return sum;
    }
    [[nodiscard]] Gpus true_guaranteed() const {
        Gpus sum = 0;
        for (const auto& [number, cls] : jobs_) sum += cls == JobClass::guaranteed ? 1 : 0;
        return sum;
    }

    void full_pass() {
        read_journal();
        tick();
        begin_list();
        take_list();
        read_journal();
        write_snapshot();
        rebase();
    }

private:
    struct Coming {
        int at_s;
        std::optional<int> made_in_s;
    };
    static Clock::time_point at(int second) { return Clock::time_point(seconds(second)); }

    std::uint64_t record(DecisionKind kind, JobClass cls, std::optional<DecisionId> job_decision) {
        JournalRecord made;
        made.id = {0, journal_.size() + 1};
        made.decision.kind = kind;
        made.decision.verdict = Verdict::admitted;
        made.decision.cls = cls;
        made.decision.contract = contract;
        made.decision.uid = 1;
        made.decision.claim = {{"a100", 1}};
        made.decision.job_decision = job_decision;
        apply_to_ledger(plugin_, made.id.number, made.decision);
        journal_.push_back(made);
        return made.id.number;
    }

    int now_s_ = 1000;
    std::vector<JournalRecord> journal_;
    std::map<std::uint64_t, Coming> coming_;   ///< hook done, job not made
    std::map<std::uint64_t, JobClass> jobs_;   ///< by decision
    Ledger plugin_;

    Resolver resolver_{0, {}, at(1000)};
    std::size_t read_ = 0;
    std::optional<int> list_began_s_;
    std::optional<std::map<std::uint64_t, JobClass>> list_;
    std::shared_ptr<const LedgerBase> file_ = std::make_shared<LedgerBase>();
};

enum class Kind {
    tick, submit, submit_refused, promote, end_job, read, begin_list, take_list, write, rebase, restart_accordd,
    restart_slurmctld, pass,
};
struct Happening {
    Kind kind = Kind::tick;
    int number = 0;
};

void happen(World& world, const Happening& what) {
    const auto pick = static_cast<std::size_t>(what.number);
    switch (what.kind) {
        case Kind::tick: world.tick(); break;
        case Kind::submit: world.submit(what.number % (settle_s + 1)); break;
        case Kind::submit_refused: world.submit(std::nullopt); break;
        case Kind::promote: world.promote(pick, what.number % 3 != 0); break;
        case Kind::end_job: world.end_job(pick); break;
        case Kind::read: world.read_journal(); break;
        case Kind::begin_list: world.begin_list(); break;
        case Kind::take_list: world.take_list(); break;
        case Kind::write: world.read_journal(); world.write_snapshot(); break;
        case Kind::rebase: world.rebase(); break;
        case Kind::restart_accordd: world.restart_accordd(); break;
        case Kind::restart_slurmctld: world.restart_slurmctld(); break;
        case Kind::pass: world.full_pass(); break;
    }
}

/// Long histories, in which each kind comes often enough to meet the others.
rc::Gen<std::vector<Happening>> histories() {
    const auto kind = rc::gen::weightedElement<Kind>(
        {{8, Kind::tick}, {4, Kind::submit}, {1, Kind::submit_refused}, {3, Kind::promote}, {2, Kind::end_job},
         {2, Kind::read}, {3, Kind::begin_list}, {3, Kind::take_list}, {3, Kind::write}, {3, Kind::rebase},
         {1, Kind::restart_accordd}, {1, Kind::restart_slurmctld}, {1, Kind::pass}});
    const auto happening = rc::gen::map(rc::gen::pair(kind, rc::gen::inRange(0, 1000)),
                                        [](const std::pair<Kind, int>& made) { return Happening{made.first, made.second}; });
    return rc::gen::resize(500, rc::gen::container<std::vector<Happening>>(happening));
}

std::ostream& operator<<(std::ostream& out, const Happening& what) {
    return out << static_cast<int>(what.kind) << ':' << what.number;
}

}  // namespace

TEST_CASE("No claim of a job that is there or may still come is ever missing from the plugin's ledger") {
    CHECK(rc::check([] {
        World world;
        for (const auto& what : *histories()) {
            happen(world, what);
            RC_ASSERT(world.counted() >= world.true_claims());
            RC_ASSERT(world.counted_guaranteed() >= world.true_guaranteed());
        }
    }));
}

TEST_CASE("Once all is quiet, one pass after settle the ledger is exactly the jobs that are there") {
    CHECK(rc::check([] {
        World world;
        for (const auto& what : *histories()) happen(world, what);
        world.read_journal();
        for (int second = 0; second < settle_s; ++second) world.tick();
        world.full_pass();
        RC_ASSERT(world.counted() == world.true_claims());
        RC_ASSERT(world.counted_guaranteed() == world.true_guaranteed());
    }));
}

TEST_CASE("Jobs that a list shows are counted once as soon as its pass is over") {
    CHECK(rc::check([] {
        World world;
        for (const auto& what : *histories())
            if (what.kind != Kind::submit_refused && what.kind != Kind::end_job) happen(world, what);
        for (int second = 0; second < settle_s; ++second) world.tick();  // every job is made by now
        world.full_pass();
        RC_ASSERT(world.counted() == world.true_claims());
    }));
}
