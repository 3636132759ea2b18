// SPDX-License-Identifier: GPL-2.0-or-later
#include "arbiter.hpp"

#include <utility>

#include <fmt/format.h>

#include "inputs.hpp"
#include "policy/decide.hpp"
#include "policy/messages.hpp"

namespace accord {
namespace {

/// What there is to judge modifications by before accord.toml was ever read.
const Policy& no_policy() {
    static const Policy* const none = new Policy({}, {}, {}, {});  // outlives the threads of an ending slurmctld
    return *none;
}

/// The change cannot be judged, or its record cannot be kept.
void refuse_unkept(Ruling& ruling, const Modification& modification, const std::string& why) {
    ruling.decision.verdict = Verdict::rejected;
    ruling.decision.reason = Reason::store_unavailable;
    ruling.decision.message = refusal(fmt::format("job {}: no decision can be made and kept now ({}): try again later",
                                                  printable(modification.job_name), why),
                                      Reason::store_unavailable);
}

}  // namespace

std::optional<Decision> Arbiter::judge(const JobRequest& request, std::int64_t now_s) const {
    if (!rules_.policy) return unavailable(request, rules_.why, now_s);
    const Policy& policy = *rules_.policy;
    if (rules_.has_contracts || policy.exempt(request.uid)) return decide(policy, ledger_, request, now_s);
    if (!concerns(policy.config(), ledger_.shape(), request)) return std::nullopt;
    return unavailable(request, rules_.why, now_s);
}

Decision Arbiter::unavailable(const JobRequest& request, const std::string& why, std::int64_t now_s) const {
    const Config* config = rules_.policy ? &rules_.policy->config() : nullptr;
    Decision decision =
        decide_unavailable(config == nullptr ? OnUnavailable::reject : config->on_unavailable, request, why, now_s);
    if (config != nullptr) decision.mode = config->mode;
    const auto& default_partition = ledger_.shape().default_partition;
    if (decision.partition.empty() && default_partition) decision.partition = *default_partition;
    return decision;
}

std::optional<Grant> Arbiter::grant_for(const Decision& decision) const {
    if (!rules_.policy || !decision.cls || decision.verdict == Verdict::rejected || decision.mode == Mode::observe)
        return std::nullopt;
    const Policy& policy = *rules_.policy;
    const auto& config = policy.config();
    const auto* pool = config.pool_of(decision.partition);
    if (pool == nullptr) pool = config.pool_lending_in(decision.partition);  // only exempt people come there themselves
    if (pool == nullptr) return std::nullopt;
    Grant grant;
    grant.cluster = config.cluster;
    grant.uid = decision.uid;
    grant.account = decision.account;
    grant.pool = pool->partition;
    grant.exempt = *decision.cls == JobClass::exempt;
    if (grant.exempt) return grant;
    const PolicyContract* contract = policy.contract(decision.contract);
    if (contract == nullptr) return std::nullopt;
    grant.contract = decision.contract;
    grant.contract_version = contract->version;
    grant.valid_until_s = contract->contract->valid_until_s;
    grant.scope = contract->contract->filesystem;
    grant.scope.login_env = false;
    grant.scope.landlock = false;
    return grant;
}

/// Gives the ruling its grant, or asks for one. False where it can have none.
bool Arbiter::equip(Ruling& ruling, std::int64_t now_s, const std::string& no_grant) {
    auto grant = grant_for(ruling.decision);
    if (!grant) return true;
    if (auto sealed = mint_.find(*grant, now_s)) {
        ruling.grant = std::move(*sealed);
        return true;
    }
    if (!no_grant.empty()) return false;
    ruling.wanted = std::move(grant);
    return true;
}

/// Puts the decision on record and its claim into the ledger. False, with `trouble`, where the record cannot be kept.
bool Arbiter::record(Ruling& ruling, std::string inputs) {
    if (!journal_) {
        ruling.trouble = journal_trouble_;
        return false;
    }
    JournalRecord record;
    record.inputs = std::move(inputs);
    record.decision = std::move(ruling.decision);
    const auto id = journal_->append(record);
    ruling.decision = std::move(record.decision);
    if (!id) {
        ruling.trouble = id.error().what;
        return false;
    }
    ruling.id = *id;
    apply_to_ledger(ledger_, id->number, ruling.decision);
    return true;
}

std::optional<Ruling> Arbiter::submit(const JobRequest& request, std::int64_t now_s, const std::string& no_grant) {
    const std::lock_guard lock(mutex_);
    auto decision = judge(request, now_s);
    if (!decision) return std::nullopt;
    Ruling ruling;
    ruling.decision = std::move(*decision);
    bool done = equip(ruling, now_s, no_grant);
    if (ruling.wanted) return ruling;
    if (!done) ruling.trouble = no_grant;
    if (done) {
        const auto besides = ledger_besides_replaced(ledger_, request, now_s);
        done = record(ruling, inputs_of(request, besides ? *besides : ledger_, ruling.decision.contract));
    }
    const bool lets_through = ruling.decision.mode == Mode::observe && rules_.policy;
    if (done || lets_through || ruling.decision.verdict == Verdict::rejected) return ruling;

    const std::string trouble = std::move(ruling.trouble);
    Ruling instead;
    instead.decision = unavailable(request, trouble, now_s);
    [[maybe_unused]] const bool equipped = equip(instead, now_s, no_grant);  // without a grant its nodes decide
    instead.trouble = trouble;
    return instead;
}

std::optional<Ruling> Arbiter::modify(Modification modification, std::int64_t now_s) {
    const std::lock_guard lock(mutex_);
    if (!rules_.policy) modification.job.reset();  // what is governed is not known: only what matters nowhere passes
    const Policy& policy = rules_.policy ? *rules_.policy : no_policy();
    auto decision = decide_modification(policy, ledger_, modification, now_s);
    if (!decision) return std::nullopt;
    Ruling ruling;
    ruling.decision = std::move(*decision);
    const bool on_record = record(ruling, inputs_of(modification, ledger_, ruling.decision.contract));
    if (!rules_.policy && !ruling.decision.allows()) refuse_unkept(ruling, modification, rules_.why);
    if (on_record) return ruling;
    const bool action = modification.change.admin_comment && action_in_comment(*modification.change.admin_comment);
    const bool judged = !modification.by_operator || action;
    if (judged && ruling.decision.mode != Mode::observe && ruling.decision.allows())
        refuse_unkept(ruling, modification, ruling.trouble);
    return ruling;
}

Rules Arbiter::exchange(Rules rules) {
    const std::lock_guard lock(mutex_);
    return std::exchange(rules_, std::move(rules));
}

void Arbiter::rebase(std::shared_ptr<const LedgerBase> base) {
    const std::lock_guard lock(mutex_);
    ledger_.rebase(std::move(base));
}

void Arbiter::close_journal(std::string why) {
    const std::lock_guard lock(mutex_);
    journal_.reset();
    journal_trouble_ = std::move(why);
}

}  // namespace accord
