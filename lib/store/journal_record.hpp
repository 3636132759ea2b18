// SPDX-License-Identifier: GPL-2.0-or-later
// One line of the journal: a decision with its place in the record. doc/journal-format.md describes the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/decision.hpp"
#include "policy/error.hpp"

namespace accord {

/// A decision with its place in the record. `hash` is the BLAKE2b-256, in hex, of the line without its "hash" member;
/// `prev_hash` the one of the record before (64 zeros for a controller's first). The decision's `rewrite` is not
/// recorded: it follows from the rest.
struct JournalRecord {
    DecisionId id;
    Decision decision;
    /// What the job carries in its admin_comment: the record's own id for a submission, else the decision's
    /// `job_decision`; 0-0 where the job carries none. Filled by encode and decode.
    DecisionId job_decision;
    std::string inputs;  ///< what was judged, as a JSON object: enough to decide again
    std::string prev_hash, hash;
};

/// One line, without its newline; sets `hash` from `prev_hash` and the rest.
[[nodiscard]] std::string encode(JournalRecord& record);
/// Reads what `encode` wrote and nothing else; checks the form, not the chain. Fails ("invalid") with the member that
/// is not as it should be.
[[nodiscard]] Result<JournalRecord> decode_record(std::string_view line);
/// The hash that the line should carry.
[[nodiscard]] std::string hash_of_line(std::string_view line);
/// The hash that the line does carry; empty when it has none.
[[nodiscard]] std::string_view hash_in_line(std::string_view line);
/// The id at the start of a line, without reading the rest.
[[nodiscard]] std::optional<DecisionId> id_of_line(std::string_view line);

}  // namespace accord
