// SPDX-License-Identifier: GPL-2.0-or-later
// Where claims are given: policy, ledger and journal under one lock, so that check, record and claim are one step.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "grant_mint.hpp"
#include "policy/ledger.hpp"
#include "policy/modify.hpp"
#include "policy/request.hpp"
#include "policy_source.hpp"
#include "store/journal.hpp"

namespace accord {

/// The answer to one hook.
struct Ruling {
    Decision decision;
    std::optional<DecisionId> id;  ///< none: it is not on record
    std::string grant;             ///< sealed; empty: the job gets none
    /// Set: this must be sealed first. Nothing is recorded or claimed yet; ask again.
    std::optional<Grant> wanted;
    std::string trouble;  ///< what failed on the way, for the log
};

/// Hooks ask from any thread; the plugin's thread sets what they are judged by.
class Arbiter {
public:
    explicit Arbiter(GrantMint& mint) : mint_(mint) {}

    /// Judges, records and claims a submission. Empty when the job is none of Accord's business. `no_grant` says why
    /// the grant that was wanted could not be sealed.
    [[nodiscard]] std::optional<Ruling> submit(const JobRequest& request, std::int64_t now_s,
                                               const std::string& no_grant = {});
    /// Judges, records and claims a modification. Empty: it passes, without a record.
    [[nodiscard]] std::optional<Ruling> modify(Modification modification, std::int64_t now_s);

    /// Puts new rules in force and gives the old ones back, so that the caller ends them without the lock.
    [[nodiscard]] Rules exchange(Rules rules);
    void rebase(std::shared_ptr<const LedgerBase> base);
    /// Takes a journal to write to and the ledger that was rebuilt from it. `catch_up` adds to the ledger, under the
    /// lock, what was recorded since it was rebuilt.
    template <typename CatchUp>
    void adopt(std::optional<JournalWriter> journal, Ledger ledger, CatchUp&& catch_up) {
        const std::lock_guard lock(mutex_);
        catch_up(ledger);
        std::swap(ledger_, ledger);
        if (journal) journal_ = std::move(journal);
    }
    /// There is no journal to write to, and why.
    void close_journal(std::string why);

private:
    [[nodiscard]] std::optional<Decision> judge(const JobRequest& request, std::int64_t now_s) const;
    [[nodiscard]] Decision unavailable(const JobRequest& request, const std::string& why, std::int64_t now_s) const;
    [[nodiscard]] std::optional<Grant> grant_for(const Decision& decision) const;
    [[nodiscard]] bool equip(Ruling& ruling, std::int64_t now_s, const std::string& no_grant);
    [[nodiscard]] bool record(Ruling& ruling, std::string inputs);

    GrantMint& mint_;
    std::mutex mutex_;
    Rules rules_{nullptr, false, "the plugin has not read its settings yet"};
    Ledger ledger_;
    std::optional<JournalWriter> journal_;
    std::string journal_trouble_ = "the journal is not open yet";
};

}  // namespace accord
