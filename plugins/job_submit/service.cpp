// SPDX-License-Identifier: GPL-2.0-or-later
#include "service.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <ctime>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "contract/schema.hpp"
#include "rewrite.hpp"
#include "slurm/change.hpp"
#include "slurm/job_request.hpp"
#include "slurm/slurm_code.hpp"
#include "slurm/values.hpp"
#include "store/ledger_file.hpp"
#include "store/served.hpp"

namespace accord {
namespace {

/// How often settings, contracts and ledger are looked at.
constexpr int look_every_ms = 200;
/// A submission asks for a seal at most this often: for its own grant, and for an exempt one instead.
constexpr int most_seals = 2;

std::int64_t now_s() { return std::time(nullptr); }

/// slurmctld's own threads handle its signals.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

Answer answer_of(const Decision& decision) {
    if (decision.allows()) return {};
    return {slurm_code(decision.reason), decision.message};
}

}  // namespace

Service::Service(std::string config_path)
    : records_(JobRecordReader::find()),
      complaints_([](std::string_view line, bool is_error) { is_error ? log_error(line) : log_info(line); }),
      source_(std::move(config_path), complaints_),
      arbiter_(mint_),
      base_(std::make_shared<const LedgerBase>()) {
    if (!host_.doubt().empty()) log_error(host_.doubt());
    if (!records_) log_error(records_.error().what);
    try {
        look(true);
    } catch (const std::exception& exception) {
        complaints_.raise("the plugin's thread", exception.what());
    }
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
}

Service::~Service() {
    mint_.stop();
    if (thread_.joinable()) thread_.join();
    decision_log_.write();
}

/// What is thrown here must not end slurmctld: it is said, and tried again.
void Service::run() {
    auto next_look = Clock::now() + std::chrono::milliseconds(look_every_ms);
    while (!mint_.stopped()) {
        try {
            serve_until(next_look);
            next_look = Clock::now() + std::chrono::milliseconds(look_every_ms);
            look(false);
            decision_log_.write();
            complaints_.settle("the plugin's thread");
        } catch (const std::exception& exception) {
            complaints_.raise("the plugin's thread", exception.what());
        }
    }
}

/// Seals grants as they are asked for.
void Service::serve_until(Clock::time_point end) {
    for (auto now = Clock::now(); now < end && !mint_.stopped(); now = Clock::now()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - now).count();
        if (mint_.wait_for_work(static_cast<int>(left) + 1)) seal_grants();
    }
}

void Service::seal_grants() {
    if (munge_) mint_.work(*munge_, now_s());
}

void Service::look(bool wait) {
    if (auto rules = source_.poll(wait)) take(std::move(*rules));
    seal_grants();  // what came while contracts were read has waited for long enough
    if (!policy_) return;
    follow_store();
    tell_served();
}

/// For `accord apply`, which waits for it. Only who holds the journal may say it.
void Service::tell_served() {
    if (!journal_open_ || !generation_ || told_ == generation_) return;
    const std::string path = store_dir_ + "/served";
    const auto written = write_served(path, *generation_);
    if (!written) return complaints_.raise(path, one_line(written.error()));
    complaints_.settle(path);
    told_ = generation_;
}

void Service::take(Rules rules) {
    if (rules.policy) {
        const Config& config = rules.policy->config();
        const Config* const before = policy_ ? &policy_->config() : nullptr;
        if (before == nullptr || before->munge_socket != config.munge_socket) munge_.emplace(config.munge_socket);
        if (before != nullptr && before->cluster != config.cluster) mint_.clear();
        if (store_dir_ != config.store_dir) {
            store_dir_ = config.store_dir;
            journal_open_ = false;
            ledger_stamp_.reset();
            told_.reset();
        }
        if (rules.has_contracts)
            log_info(fmt::format("policy in force: {} contracts, mode {}", rules.policy->contracts().size(),
                                 to_string(config.mode)));
    }
    policy_ = rules.policy;
    generation_ = rules.has_contracts ? std::optional(rules.generation) : std::nullopt;
    const Rules old = arbiter_.exchange(std::move(rules));
}

/// Opens the journal where it is not open, and takes a newer ledger. Without a journal the ledger is followed as well: a
/// job that is let through unrecorded needs to know the default partition, too.
void Service::follow_store() {
    if (!journal_open_) open_store();
    const std::string path = store_dir_ + "/ledger";
    const auto stamp = stamp_of(path);
    if (!stamp || stamp == ledger_stamp_) return;
    ledger_stamp_ = stamp;
    auto read = read_ledger(path);
    if (!read) return complaints_.raise(path, one_line(read.error()));
    complaints_.settle(path);
    const bool older = read->resolved_through < base_->resolved_through;
    auto base = std::make_shared<const LedgerBase>(std::move(*read));
    base_.swap(base);
    if (older) return rebuild_ledger(std::nullopt);
    arbiter_.rebase(base_);
}

void Service::open_store() {
    const std::string dir = store_dir_ + "/journal";
    if (::geteuid() != host_.slurm_user()) {
        const std::string why = fmt::format("{}: not written to: this process is not SlurmUser's", dir);
        complaints_.raise(dir, why);
        return arbiter_.close_journal(why);
    }
    auto journal = JournalWriter::open(dir, host_.controller());
    if (!journal) {
        complaints_.raise(dir, one_line(journal.error()));
        return arbiter_.close_journal(one_line(journal.error()));
    }
    complaints_.settle(dir);
    const std::string ledger = store_dir_ + "/ledger";
    ledger_stamp_ = stamp_of(ledger);
    auto read = read_ledger(ledger);
    if (!read && ledger_stamp_) complaints_.raise(ledger, one_line(read.error()));
    base_ = std::make_shared<const LedgerBase>(read ? std::move(*read) : LedgerBase{});
    rebuild_ledger(std::move(*journal));
    journal_open_ = true;
}

/// The snapshot, and all that the journal has beyond it.
void Service::rebuild_ledger(std::optional<JournalWriter> journal) {
    Ledger ledger;
    ledger.rebase(base_);
    JournalReader reader(store_dir_ + "/journal", host_.controller());
    const auto read_on = [&](Ledger& to) {
        const auto use = [&](const JournalRecord& record) { apply_to_ledger(to, record.id.number, record.decision); };
        for (auto done = reader.read_new(base_->resolved_through, use); !done;
             done = reader.read_new(base_->resolved_through, use)) {
            log_error(one_line(done.error()));
            if (done.error().code != "invalid") return;
        }
    };
    read_on(ledger);
    arbiter_.adopt(std::move(journal), std::move(ledger), read_on);
}

Answer Service::submit(job_desc_msg_t& desc, std::uint32_t caller_uid) {
    const std::int64_t time_s = now_s();
    JobRequest request = job_request(desc, host_.requeue_default());
    if (!is_set(desc.user_id)) request.uid = caller_uid;
    if (request.het) het_parts_.recall(*request.het, request.uid);
    auto ruling = arbiter_.submit(request, time_s);
    for (int seals = 0; ruling && ruling->wanted; ++seals) {
        const auto sealed = seals < most_seals ? mint_.seal(*ruling->wanted)
                                               : fail("unavailable", "the contract changed while its grant was sealed");
        ruling = arbiter_.submit(request, time_s, sealed ? std::string() : sealed.error().what);
    }
    if (!ruling) {
        apply_marks(desc, {});
        return {};
    }
    const Decision& decision = ruling->decision;
    if (request.het && decision.allows()) het_parts_.note(*request.het, request.uid, decision);
    Answer answer = answer_of(decision);
    if (decision.allows() && decision.mode != Mode::observe) {
        apply_rewrite(desc, decision.rewrite);
        apply_marks(desc, {ruling->id ? comment_of(*ruling->id) : std::string(), ruling->grant,
                           ruling->id ? to_string(*ruling->id) : std::string()});
        answer.message = decision.message;
    }
    decision_log_.add(std::move(*ruling));
    return answer;
}

Answer Service::modify(job_desc_msg_t& desc, void* job_record, std::uint32_t caller_uid) {
    Modification modification;
    if (records_) {
        auto job = records_->read(job_record);
        if (job) modification.job = std::move(*job);
        else log_error(job.error().what);
    }
    if (desc.job_id_str != nullptr) modification.job_name = desc.job_id_str;
    else if (modification.job) modification.job_name = fmt::format("{}", modification.job->job_id);
    modification.caller_uid = caller_uid;
    modification.by_operator = host_.is_operator(caller_uid);
    modification.change = change_of(desc);
    auto ruling = arbiter_.modify(std::move(modification), now_s());
    if (!ruling) return {};
    const Decision& decision = ruling->decision;
    const Answer answer = answer_of(decision);
    if (decision.allows() && decision.mode != Mode::observe) apply_rewrite(desc, decision.rewrite);
    decision_log_.add(std::move(*ruling));
    return answer;
}

}  // namespace accord
