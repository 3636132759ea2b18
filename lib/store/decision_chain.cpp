// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/decision_chain.hpp"

#include <utility>

#include <fmt/format.h>

#include "store/hash.hpp"
#include "store/journal.hpp"

namespace accord {

const char* to_string(FaultKind kind) {
    switch (kind) {
        case FaultKind::altered: return "altered";
        case FaultKind::missing: return "missing";
        case FaultKind::inserted: return "inserted";
        case FaultKind::reordered: return "reordered";
        case FaultKind::truncated: return "truncated";
    }
    return "";
}

DecisionChain::DecisionChain(std::uint32_t controller, std::function<bool(const std::string&)> holds)
    : controller_(controller), holds_(std::move(holds)) {}

void DecisionChain::note(FaultKind kind, const std::string& record, const std::string& what) {
    if (!fault_) fault_ = ChainFault{kind, record, what};
}

std::optional<JournalRecord> DecisionChain::read(const std::string& line, const std::string& place) {
    auto record = decode_record(line);
    const auto known = id_of_line(line);
    const auto name = known ? to_string(*known) : place;
    if (!record) {
        note(FaultKind::altered, name, fmt::format("{} is not a record: {}", place, record.error().what));
        return {};
    }
    if (record->id.controller != controller_) {
        note(FaultKind::inserted, name, fmt::format("{} at {} is another controller's", name, place));
        return {};
    }
    if (hash_of_line(line) != record->hash) {
        note(FaultKind::altered, name, fmt::format("{} at {} does not have the hash that it names", name, place));
        return {};
    }
    return std::move(*record);
}

std::optional<JournalRecord> DecisionChain::take(const std::string& line, const std::string& place) {
    ++records_;
    auto record = read(line, place);
    if (!record) return {};
    if (!fault_) {
        place_in_chain(*record);
    } else if (record->id.number >= missing_from_ && record->id.number <= missing_to_) {
        fault_ = ChainFault{FaultKind::reordered, to_string(record->id),
                            fmt::format("{} comes after records with higher numbers", to_string(record->id))};
        missing_from_ = missing_to_ = 0;
    }
    return record;
}

void DecisionChain::place_in_chain(const JournalRecord& record) {
    const auto number = record.id.number;
    const auto name = to_string(record.id);
    const bool starts_block = number % journal_block_size == 1;
    if (last_ == 0) {
        first_ = number;
        if (number == 1 && record.prev_hash != no_hash)
            note(FaultKind::altered, name, fmt::format("{} names a record before it", name));
    } else if (number <= last_) {
        note(FaultKind::inserted, name, fmt::format("{} is there twice, or was put in", name));
    } else if (number == last_ + 1) {
        if (record.prev_hash != last_hash_)
            note(FaultKind::altered, name,
                 fmt::format("{} does not follow {}: one of the two was rewritten", name, id(last_)));
    } else if (!starts_block) {
        missing_from_ = last_ + 1;
        missing_to_ = number - 1;
        note(FaultKind::missing, id(missing_from_),
             missing_from_ == missing_to_ ? fmt::format("{} is not there", id(missing_from_))
                                          : fmt::format("{} to {} are not there", id(missing_from_), id(missing_to_)));
    } else if (record.prev_hash != no_hash && !holds_(record.prev_hash)) {
        note(FaultKind::missing, name, fmt::format("the record that {} follows is not there", name));
    }
    last_ = number;
    last_hash_ = record.hash;
}

}  // namespace accord
