// SPDX-License-Identifier: GPL-2.0-or-later
// decisions.db: the journal's decisions to query, with the job that each became. Written by accordd alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/error.hpp"
#include "policy/plan.hpp"
#include "store/journal.hpp"

namespace accord {

/// A row of the view `decision`: its columns, by their names. Text that does not apply is empty.
struct DecisionRow {
    std::string id, kind, time, mode, user;
    std::int64_t uid = 0;
    std::string account, partition, contract;
    std::int64_t contract_version = 0;
    std::string verdict, cls, reason, gpu_type;
    std::int64_t gpus_min = 0, gpus_max = 0;
    std::optional<std::uint32_t> job_id;
    std::string message, prev_hash, hash;
};
/// How the view shows a record; `job_id` only where the record itself names one.
[[nodiscard]] DecisionRow row_of(const JournalRecord& record);

/// What must hold for a decision to be listed; what is unset does not matter.
struct DecisionQuery {
    std::optional<std::string> account, partition, reason;
    std::optional<std::int64_t> since_s;
    std::optional<std::uint32_t> job_id;
    std::optional<DecisionId> id;
    std::optional<DecisionId> about;  ///< the submission with this id and the modifications of the job it became
};

/// A decision as loaded: the journal's line and the row made of it.
struct LoadedDecision {
    DecisionId id;
    std::string line;
    std::optional<DecisionRow> row;  ///< none: the row is missing
};

class DecisionsDb {
public:
    enum class Open { read_only, read_write };
    /// read_write makes the file (WAL, 0640) and migrates it; refuses a network file system with the reason.
    static Result<DecisionsDb> open(const std::string& path, Open how);
    DecisionsDb(DecisionsDb&&) noexcept;
    DecisionsDb& operator=(DecisionsDb&&) noexcept;
    ~DecisionsDb();

    /// Highest number loaded from the controller's journal, 0 for none.
    [[nodiscard]] Result<std::uint64_t> last_number(std::uint32_t controller) const;
    /// One BEGIN IMMEDIATE transaction, all or nothing. A record that is there already is left alone.
    [[nodiscard]] Result<void> load(const std::vector<JournalRecord>& records);
    /// Notes which job a submission's decision became; of an array, the array's own id. The first note stands.
    [[nodiscard]] Result<void> link(const std::vector<std::pair<DecisionId, std::uint32_t>>& jobs);
    /// What the record knows of the job that carries `decision`: its own submission and the modifications since: with
    /// `job_id`, those of that record of an array (a task, or the pending rest), or where it has none those of the array
    /// as a whole; without it, all.
    [[nodiscard]] Result<std::optional<JobFacts>> facts(const DecisionId& decision,
                                                        std::optional<std::uint32_t> job_id = {}) const;
    /// In the order of their times and numbers.
    [[nodiscard]] Result<std::vector<DecisionRow>> query(const DecisionQuery& query) const;
    /// All that was loaded from the controller's journal, by number: for verification.
    [[nodiscard]] Result<void> each(std::uint32_t controller,
                                    const std::function<void(const LoadedDecision&)>& use) const;
    /// Ids of rows that no loaded record stands behind.
    [[nodiscard]] Result<std::vector<std::string>> rows_without_line(std::uint32_t controller) const;
    [[nodiscard]] Result<std::vector<std::uint32_t>> controllers() const;

private:
    struct State;
    explicit DecisionsDb(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace accord
