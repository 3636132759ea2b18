// SPDX-License-Identifier: GPL-2.0-or-later
// The journal: every decision, one JSON object a line, append-only, numbered and hash-chained. Written by the
// job_submit plugin alone, in files of its own per day and per start; read by accordd and at the plugin's start.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "policy/error.hpp"
#include "store/journal_record.hpp"

namespace accord {

/// The numbers of one writer's block: more records than a controller writes while two processes of it live.
inline constexpr std::uint64_t journal_block_size = 1'000'000;

/// Appends decisions. Holds a lock in the folder for as long as it lives; a second writer (two slurmctld for a moment,
/// at a reconfigure of 23.11 and later) numbers from a block of its own, far above the first one's.
class JournalWriter {
public:
    /// Makes the folder if it is missing. Numbers and chain go on from the last whole record found there; where what
    /// follows that record is damaged, from a new block, so that no lost number is given again.
    static Result<JournalWriter> open(const std::string& dir, std::uint32_t controller);
    JournalWriter(JournalWriter&&) noexcept;
    JournalWriter& operator=(JournalWriter&&) noexcept;
    ~JournalWriter();

    /// Fills in the record's place and writes it: one write, durable against a crash of this process once it returns.
    /// On failure ("io") nothing of the record stays in the file, and the number is used again. Not synchronised.
    [[nodiscard]] Result<DecisionId> append(JournalRecord& record);
    [[nodiscard]] DecisionId next_id() const;
    [[nodiscard]] std::string head() const;  ///< hash of the last record

private:
    struct State;
    explicit JournalWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Follows one controller's journal: each call hands out the whole records that were added since the last one, by
/// number within each file, over day and start files. A torn last line is left for later.
class JournalReader {
public:
    explicit JournalReader(std::string dir, std::uint32_t controller = 0);
    /// Records with numbers above `after` only. Returns how many were handed out. A line in the middle that is not a
    /// record, or does not have the hash it names, is an error ("invalid", with file and line start); what is behind it
    /// is handed out by the next call.
    [[nodiscard]] Result<std::size_t> read_new(std::uint64_t after,
                                               const std::function<void(const JournalRecord&)>& use);

private:
    Result<std::size_t> read_file(const std::string& path, std::uint64_t after,
                                  const std::function<void(const JournalRecord&)>& use);

    std::string dir_;
    std::uint32_t controller_;
    std::map<std::string, std::uint64_t> offsets_;  ///< by path: where the next record begins
};

}  // namespace accord
