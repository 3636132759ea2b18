// SPDX-License-Identifier: GPL-2.0-or-later
// The record as readers want it: the databases, and of the journal what accordd has not loaded yet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/error.hpp"
#include "policy/ledger.hpp"
#include "store/decisions_db.hpp"
#include "store/journal.hpp"
#include "store/store_paths.hpp"
#include "store/usage_db.hpp"

namespace accord {

/// A store at one moment. Databases that do not exist yet hold nothing. A bad line of the journal is left out, with a
/// warning.
class Record {
public:
    /// Fails ("unavailable", "invalid", "io") when a part cannot be read.
    static Result<Record> open(const StorePaths& paths);

    /// In the order of their times and numbers.
    [[nodiscard]] Result<std::vector<DecisionRow>> decisions(const DecisionQuery& query) const;
    [[nodiscard]] Result<std::vector<ActionRecord>> actions(std::optional<std::uint32_t> job_id = {}) const;
    [[nodiscard]] Result<std::vector<UsageInterval>> intervals(std::optional<std::uint32_t> job_id) const;
    [[nodiscard]] Result<std::vector<UsageInterval>> open_intervals() const;
    /// As DecisionsDb::facts, with what is not loaded yet.
    [[nodiscard]] Result<std::optional<JobFacts>> facts(const DecisionId& decision,
                                                        std::optional<std::uint32_t> job_id = {}) const;
    /// Decisions that are in the journal only, by controller and number.
    [[nodiscard]] const std::vector<JournalRecord>& not_loaded() const { return not_loaded_; }
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
    Record() = default;
    Result<void> read_tail(const std::string& journal, std::uint32_t controller);

    std::optional<DecisionsDb> decisions_;
    std::optional<UsageDb> usage_;
    std::vector<JournalRecord> not_loaded_;
    std::vector<std::string> warnings_;
};

/// Whether a record is what a query asks for. Of a submission the job is not known from its record.
[[nodiscard]] bool matches(const JournalRecord& record, const DecisionQuery& query);

/// The ledger as the plugin counts it at this moment: the snapshot, and the controller's decisions that it does not
/// account for.
struct LedgerNow {
    Ledger ledger;
    std::vector<std::string> contracts;  ///< keys of all that claim anything, sorted
    std::vector<std::string> warnings;
};
[[nodiscard]] Result<LedgerNow> ledger_now(const StorePaths& paths, std::uint32_t controller);

}  // namespace accord
