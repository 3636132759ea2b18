// SPDX-License-Identifier: GPL-2.0-or-later
// The words and marks by which decisions are recorded and found again.
#include "policy/decision.hpp"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "policy/names.hpp"

namespace accord {

namespace {

constexpr Named<Verdict> verdicts[] = {
    {Verdict::admitted, "admitted"}, {Verdict::queued, "queued"}, {Verdict::rejected, "rejected"}};

constexpr Named<JobClass> classes[] = {{JobClass::guaranteed, "guaranteed"},
                                       {JobClass::borrowed, "borrowed"},
                                       {JobClass::queued, "queued"},
                                       {JobClass::exempt, "exempt"}};

constexpr Named<DecisionKind> kinds[] = {{DecisionKind::submission, "submission"},
                                         {DecisionKind::modification, "modification"}};

constexpr Named<Reason> reasons[] = {
    {Reason::none, ""},
    {Reason::store_unavailable, "store_unavailable"},
    {Reason::lend_partition, "lend_partition"},
    {Reason::mixed_partitions, "mixed_partitions"},
    {Reason::ambiguous_account, "ambiguous_account"},
    {Reason::no_contract, "no_contract"},
    {Reason::not_active, "not_active"},
    {Reason::not_member, "not_member"},
    {Reason::workload_type, "workload_type"},
    {Reason::time_limit, "time_limit"},
    {Reason::gpu_type, "gpu_type"},
    {Reason::gpus_per_job, "gpus_per_job"},
    {Reason::gpus_per_user, "gpus_per_user"},
    {Reason::cpus_per_gpu, "cpus_per_gpu"},
    {Reason::login_env, "login_env"},
    {Reason::scope_path, "scope_path"},
    {Reason::env_too_large, "env_too_large"},
    {Reason::budget_exhausted, "budget_exhausted"},
    {Reason::impossible, "impossible"},
    {Reason::queued, "queued"},
    {Reason::stale, "stale"},
    {Reason::immutable, "immutable"},
    {Reason::headroom, "headroom"},
    {Reason::borrow_limit, "borrow_limit"},
    {Reason::lend_limit, "lend_limit"},
    {Reason::not_requeueable, "not_requeueable"},
    {Reason::not_eligible, "not_eligible"},
    {Reason::no_gpu, "no_gpu"},
    {Reason::exempt, "exempt"},
};

constexpr std::string_view decision_mark = "accord:v1 decision=";
constexpr std::string_view action_mark = "accord:v1 action=";

/// Takes a decimal number off the front of `text`; nothing when there is none or it does not fit.
template <typename T>
std::optional<T> take_number(std::string_view& text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take(std::string_view& text, std::string_view what) {
    if (!text.starts_with(what)) return false;
    text.remove_prefix(what.size());
    return true;
}

std::optional<DecisionId> read_decision_id(std::string_view text) {
    const auto controller = take_number<std::uint32_t>(text);
    if (!controller || !take(text, "-")) return std::nullopt;
    const auto number = take_number<std::uint64_t>(text);
    if (!number || !text.empty()) return std::nullopt;
    return DecisionId{*controller, *number};
}

}  // namespace

const char* to_string(Verdict verdict) { return name_of(verdicts, verdict); }
const char* to_string(JobClass cls) { return name_of(classes, cls); }
const char* to_string(DecisionKind kind) { return name_of(kinds, kind); }
const char* to_string(Reason reason) { return name_of(reasons, reason); }

std::optional<JobClass> job_class_from(const std::string& text) { return value_of(classes, text); }
std::optional<Verdict> verdict_from(const std::string& text) { return value_of(verdicts, text); }
std::optional<DecisionKind> decision_kind_from(const std::string& text) { return value_of(kinds, text); }
std::optional<Reason> reason_from(const std::string& text) { return value_of(reasons, text); }

std::string to_string(const DecisionId& id) {
    return std::string(fmt::format_int(id.controller).c_str()) + '-' + fmt::format_int(id.number).c_str();
}

std::optional<DecisionId> decision_id_from(const std::string& text) { return read_decision_id(text); }

std::string comment_of(const DecisionId& id) { return std::string(decision_mark) + to_string(id); }

std::optional<DecisionId> decision_in_comment(const std::string& admin_comment) {
    std::string_view rest = admin_comment;
    if (!take(rest, decision_mark)) return std::nullopt;
    return read_decision_id(rest);
}

std::string comment_of(const ActionMark& mark) {
    return fmt::format("{}{} to={}", action_mark, mark.number, to_string(mark.to));
}

std::optional<ActionMark> action_in_comment(const std::string& admin_comment) {
    std::string_view rest = admin_comment;
    if (!take(rest, action_mark)) return std::nullopt;
    const auto number = take_number<std::uint64_t>(rest);
    if (!number || !take(rest, " to=")) return std::nullopt;
    const auto to = value_of(classes, rest);
    if (!to || *to == JobClass::exempt) return std::nullopt;
    return ActionMark{*number, *to};
}

}  // namespace accord
