// SPDX-License-Identifier: GPL-2.0-or-later
// Walks along the decisions of one controller, from the journal's files or from decisions.db, and keeps the first fault.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "store/chain_fault.hpp"
#include "store/journal_record.hpp"

namespace accord {

/// Every record must have the hash that it names, follow the one before it by number, and name that one's hash. Numbers
/// may jump only to the start of a writer's block (JournalWriter::open), whose first record names any earlier one.
/// Where a chain starts later than with number 1 its earlier files were taken away; that is no fault.
class DecisionChain {
public:
    /// `holds` tells whether the chain holds a record of this hash anywhere; asked at the start of a block only.
    DecisionChain(std::uint32_t controller, std::function<bool(const std::string& hash)> holds);

    /// The next record as stored; `place` names it where its id cannot be read. The decoded record, unless it is bad.
    std::optional<JournalRecord> take(const std::string& line, const std::string& place);
    /// Notes a fault from elsewhere, if it is the first.
    void note(FaultKind kind, const std::string& record, const std::string& what);

    [[nodiscard]] const std::optional<ChainFault>& fault() const { return fault_; }
    [[nodiscard]] std::uint64_t records() const { return records_; }
    [[nodiscard]] std::uint64_t first() const { return first_; }  ///< numbers; 0 when there is no record
    [[nodiscard]] std::uint64_t last() const { return last_; }

private:
    std::optional<JournalRecord> read(const std::string& line, const std::string& place);
    void place_in_chain(const JournalRecord& record);
    [[nodiscard]] std::string id(std::uint64_t number) const { return to_string(DecisionId{controller_, number}); }

    std::uint32_t controller_;
    std::function<bool(const std::string&)> holds_;
    std::optional<ChainFault> fault_;
    std::uint64_t missing_from_ = 0, missing_to_ = 0;  ///< set while the fault is a gap that a later record may fill
    std::uint64_t records_ = 0, first_ = 0, last_ = 0;
    std::string last_hash_;
};

}  // namespace accord
