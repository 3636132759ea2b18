// SPDX-License-Identifier: GPL-2.0-or-later
// The journal: every decision, one JSON object a line, append-only, numbered and hash-chained. Written by the
// job_submit plugin alone, in files of its own per day and per start; read by accordd and at the plugin's start.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "policy/decision.hpp"
#include "policy/error.hpp"

namespace accord {

/// A decision with its place in the record. `hash` is the BLAKE2b-256, in hex, of the line without its "hash" member;
/// `prev_hash` the one of the record before (64 zeros for a controller's first).
struct JournalRecord {
    DecisionId id;
    Decision decision;
    DecisionId job_decision;  ///< what the job carries in its admin_comment; for a submission the record's own id
    std::string inputs;       ///< what was judged, as a JSON object: enough to decide again
    std::string prev_hash, hash;
};

/// One line, without its newline; sets `hash` from `prev_hash` and the rest.
[[nodiscard]] std::string encode(JournalRecord& record);
/// Checks the form, not the chain. Fails ("invalid") with what is wrong.
[[nodiscard]] Result<JournalRecord> decode_record(const std::string& line);
/// The hash that the line should carry.
[[nodiscard]] std::string hash_of_line(const std::string& line);

/// Appends decisions. Holds a lock on the folder's writer file for as long as it lives; a second writer (two
/// slurmctld for a moment, at a reconfigure of 23.11 and later) numbers from a block of its own.
class JournalWriter {
public:
    /// Makes the folder if it is missing. Numbers and chain go on from the last whole record found there.
    static Result<JournalWriter> open(const std::string& dir, std::uint32_t controller, std::int64_t now_s);
    JournalWriter(JournalWriter&&) noexcept;
    JournalWriter& operator=(JournalWriter&&) noexcept;
    ~JournalWriter();

    /// Durable against a crash of this process once it returns: one write. On failure ("io") nothing of the record
    /// stays in the file, and the number is used again. Not synchronised.
    [[nodiscard]] Result<DecisionId> append(JournalRecord record);
    [[nodiscard]] DecisionId next_id() const;
    [[nodiscard]] std::string head() const;  ///< hash of the last record

private:
    struct State;
    explicit JournalWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Follows the journal: each call hands out the whole records that were added since the last one, in order, over
/// day and start files. A torn last line is left for later; a broken one in the middle is an error ("invalid", where).
class JournalReader {
public:
    explicit JournalReader(std::string dir);
    /// Records with numbers above `after` only. Returns how many were handed out.
    [[nodiscard]] Result<std::size_t> read_new(std::uint64_t after,
                                               const std::function<void(const JournalRecord&)>& use);

private:
    std::string dir_;
    std::string file_;
    std::uint64_t offset_ = 0;
};

}  // namespace accord
