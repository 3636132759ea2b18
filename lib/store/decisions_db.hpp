// SPDX-License-Identifier: GPL-2.0-or-later
// decisions.db: the journal's decisions to query, with the job that each became. Written by accordd alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/error.hpp"
#include "policy/plan.hpp"
#include "store/journal.hpp"

namespace accord {

struct DecisionQuery {
    std::optional<std::string> account, partition, reason;
    std::optional<std::int64_t> since_s;
    std::optional<std::uint32_t> job_id;
    std::optional<DecisionId> id;
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
    /// One BEGIN IMMEDIATE transaction. A record that is there already is left alone.
    [[nodiscard]] Result<void> load(const std::vector<JournalRecord>& records);
    /// Notes which job a submission's decision became.
    [[nodiscard]] Result<void> link(const std::vector<std::pair<DecisionId, std::uint32_t>>& jobs);
    /// What the record knows of the job that carries `decision`: its own submission and the modifications since.
    [[nodiscard]] Result<std::optional<JobFacts>> facts(const DecisionId& decision) const;
    [[nodiscard]] Result<std::vector<JournalRecord>> query(const DecisionQuery& query) const;

private:
    struct State;
    explicit DecisionsDb(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace accord
