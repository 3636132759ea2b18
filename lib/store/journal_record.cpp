// SPDX-License-Identifier: GPL-2.0-or-later
// The journal's lines have one spelling: members in a fixed order, no white space. So the writer needs no JSON library
// on the hot path, and reading 100,000 of them at a start is quick.
#include "store/journal_record.hpp"

#include "store/hash.hpp"
#include "store/json_cursor.hpp"
#include "store/json_text.hpp"

namespace accord {
namespace {

constexpr std::string_view opening = R"({"v":1,"id":")";
constexpr std::string_view hash_member = R"(,"hash":")";
constexpr std::string_view prev_member = R"(,"prev_hash":")";
constexpr std::size_t hash_size = no_hash.size();
/// `,"hash":"` 64 digits `"}` at the end of every line.
constexpr std::size_t hash_tail = hash_member.size() + hash_size + 2;
constexpr std::size_t prev_tail = prev_member.size() + hash_size + 1;

std::optional<Mode> mode_from(const std::string& text) {
    for (const Mode mode : {Mode::enforce, Mode::observe})
        if (text == to_string(mode)) return mode;
    return std::nullopt;
}

void append_intervals(fmt::memory_buffer& to, const GpuIntervals& gpus) {
    to.push_back('{');
    for (auto it = gpus.begin(); it != gpus.end(); ++it) {
        if (it != gpus.begin()) to.push_back(',');
        append_json_string(to, it->first);
        to.append(std::string_view(":["));
        append_integer(to, it->second.min);
        to.push_back(',');
        append_integer(to, it->second.max);
        to.push_back(']');
    }
    to.push_back('}');
}

void append_decision(JsonObject& object, fmt::memory_buffer& to, const Decision& decision) {
    object.string("kind", to_string(decision.kind));
    object.value("time_s", decision.time_s);
    object.string("mode", to_string(decision.mode));
    object.string("user", decision.user);
    object.value("uid", decision.uid);
    object.string("account", decision.account);
    object.string("partition", decision.partition);
    object.string("contract", decision.contract);
    object.value("contract_version", decision.contract_version);
    object.string("verdict", to_string(decision.verdict));
    object.string("class", decision.cls ? to_string(*decision.cls) : "");
    object.string("reason", to_string(decision.reason));
    object.name("gpus");
    append_intervals(to, decision.gpus);
    object.name("claim");
    append_gpus(to, decision.claim);
    if (decision.job_id) object.value("job_id", *decision.job_id);
    if (decision.job_decision) object.string("job_decision", to_string(*decision.job_decision));
    if (decision.user_hold) object.value("user_hold", *decision.user_hold);
    if (decision.throttle) object.value("throttle", *decision.throttle);
    object.string("message", decision.message);
}

void read_optional_members(JsonCursor& cursor, Decision& decision) {
    cursor.optional_member("job_id", decision.job_id);
    if (cursor.take_member("job_decision")) {
        std::string text;
        cursor.read(text);
        decision.job_decision = decision_id_from(text);
        cursor.require(decision.job_decision.has_value());
    }
    cursor.optional_member("user_hold", decision.user_hold);
    cursor.optional_member("throttle", decision.throttle);
}

void read_decision(JsonCursor& cursor, Decision& decision) {
    cursor.named_member("kind", decision_kind_from, decision.kind);
    cursor.member("time_s", decision.time_s);
    cursor.named_member("mode", mode_from, decision.mode);
    cursor.member("user", decision.user);
    cursor.member("uid", decision.uid);
    cursor.member("account", decision.account);
    cursor.member("partition", decision.partition);
    cursor.member("contract", decision.contract);
    cursor.member("contract_version", decision.contract_version);
    cursor.named_member("verdict", verdict_from, decision.verdict);
    std::string cls;
    cursor.member("class", cls);
    decision.cls = job_class_from(cls);
    cursor.require(cls.empty() || decision.cls.has_value());
    cursor.named_member("reason", reason_from, decision.reason);
    cursor.member("gpus");
    cursor.map([&](const std::string& type) {
        GpuInterval& interval = decision.gpus[type];
        cursor.require(cursor.take("["));
        cursor.read(interval.min);
        cursor.require(cursor.take(","));
        cursor.read(interval.max);
        cursor.require(cursor.take("]"));
    });
    cursor.member("claim", decision.claim);
    read_optional_members(cursor, decision);
    cursor.member("message", decision.message);
}

DecisionId carried_by_job(const JournalRecord& record) {
    if (record.decision.kind == DecisionKind::submission) return record.id;
    return record.decision.job_decision.value_or(DecisionId{});
}

bool is_hash(std::string_view text) {
    return text.size() == hash_size && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string encode(JournalRecord& record) {
    record.job_decision = carried_by_job(record);
    fmt::memory_buffer line;
    JsonObject object(line);
    object.value("v", 1);
    object.string("id", to_string(record.id));
    append_decision(object, line, record.decision);
    object.raw("inputs", record.inputs.empty() ? std::string_view("{}") : std::string_view(record.inputs));
    object.string("prev_hash", record.prev_hash);
    object.end();
    record.hash = blake2b_hex({line.data(), line.size()});
    std::string text;
    text.reserve(line.size() + hash_tail);
    text.append(line.data(), line.size() - 1).append(hash_member).append(record.hash).append("\"}");
    return text;
}

Result<JournalRecord> decode_record(std::string_view line) {
    JournalRecord record;
    const auto bad = [](std::string_view member) {
        return fail("invalid", fmt::format("journal: cannot read a record: its member \"{}\" is not as written", member));
    };
    record.hash = hash_in_line(line);
    if (record.hash.empty()) return bad("hash");
    line.remove_suffix(hash_tail);
    if (line.size() < prev_tail || !line.substr(line.size() - prev_tail).starts_with(prev_member)) return bad("prev_hash");
    record.prev_hash = line.substr(line.size() - hash_size - 1, hash_size);
    if (!is_hash(record.prev_hash) || line.back() != '"') return bad("prev_hash");
    line.remove_suffix(prev_tail);

    const auto id = id_of_line(line);
    if (!id) return bad("id");
    record.id = *id;
    JsonCursor cursor(line);
    int version = 0;
    std::string id_text;
    cursor.begin_object();
    cursor.member("v", version);
    cursor.member("id", id_text);
    cursor.require(id_text == to_string(record.id));
    read_decision(cursor, record.decision);
    cursor.member("inputs");
    const std::string_view inputs = cursor.rest();
    cursor.require(inputs.size() >= 2 && inputs.front() == '{' && inputs.back() == '}');
    if (!cursor.ok()) return bad(cursor.complaint());
    record.inputs = inputs;
    record.job_decision = carried_by_job(record);
    return record;
}

std::string hash_of_line(std::string_view line) {
    if (hash_in_line(line).empty()) return {};
    std::string text(line.substr(0, line.size() - hash_tail));
    text += '}';
    return blake2b_hex(text);
}

std::string_view hash_in_line(std::string_view line) {
    if (line.size() < hash_tail) return {};
    const std::string_view tail = line.substr(line.size() - hash_tail);
    const std::string_view hash = tail.substr(hash_member.size(), hash_size);
    return tail.starts_with(hash_member) && tail.ends_with("\"}") && is_hash(hash) ? hash : std::string_view{};
}

std::optional<DecisionId> id_of_line(std::string_view line) {
    if (!line.starts_with(opening)) return std::nullopt;
    line.remove_prefix(opening.size());
    const auto end = line.substr(0, 40).find('"');
    if (end == std::string_view::npos) return std::nullopt;
    return decision_id_from(std::string(line.substr(0, end)));
}

}  // namespace accord
