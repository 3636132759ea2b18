// SPDX-License-Identifier: GPL-2.0-or-later
// The one line that a researcher reads about a decision.
#include "policy/messages.hpp"

#include <fmt/format.h>

#include "policy/utc.hpp"

namespace accord {

namespace {

Gpus guaranteed_of(const Contract& contract, const std::string& type) {
    const auto capacity = contract.capacity.find(type);
    return capacity == contract.capacity.end() ? 0 : capacity->second.guaranteed;
}

/// "8 of 8 a100 in use", over the types asked for, this job's claim included.
std::string in_use(const Outcome& outcome) {
    std::string text;
    for (const auto& [type, gpus] : outcome.ask) {
        const auto used = amount_of(outcome.claims.guaranteed, type) + gpus;
        fmt::format_to(std::back_inserter(text), "{}{} of {}", text.empty() ? "" : ", ", used,
                       guaranteed_of(outcome.contract, type));
        if (outcome.ask.size() > 1) text.append(" ").append(type);
    }
    return text + " in use";
}

std::string free_text(const Outcome& outcome) {
    const auto& type = outcome.classification.type;
    return fmt::format("{} of its {} guaranteed {} are free", headroom_of(outcome.contract, outcome.claims, type),
                       guaranteed_of(outcome.contract, type), type);
}

std::string guaranteed_line(const Outcome& outcome) {
    return fmt::format("accord: guaranteed: {} of {} ({})", describe(outcome.ask), outcome.decision.contract,
                       in_use(outcome));
}

std::string borrowed_line(const Outcome& outcome) {
    const auto* fate = outcome.preemptible_by_requeue ? "requeued" : "cancelled";
    if (outcome.classification.reason == Reason::no_gpu)
        return fmt::format("accord: borrowed: no GPU for {}; may be preempted and {}", outcome.decision.contract, fate);
    return fmt::format("accord: borrowed: {} for {} ({}); may be preempted and {}", describe(outcome.ask),
                       outcome.decision.contract, free_text(outcome), fate);
}

std::string queued_line(const Outcome& outcome) {
    const auto& type = outcome.classification.type;
    const auto head = fmt::format("accord: queued: {} for {} ({})", describe(outcome.ask), outcome.decision.contract,
                                  free_text(outcome));
    if (outcome.classification.reason == Reason::not_requeueable)
        return head + "; waits for guaranteed GPUs, since it could not be requeued if it were preempted";
    const auto limit = outcome.contract.capacity.at(type).borrow_limit.value_or(0);
    return head + fmt::format("; waits for these or for room within the borrow limit ({} of {} in use)",
                              excess_of(outcome.contract, outcome.claims, type), limit);
}

}  // namespace

std::string refusal(std::string_view body, Reason code) {
    return fmt::format("accord: {} [{}]", body, to_string(code));
}

std::string whom_to_ask(const Config& config, const Contract* contract) {
    if (contract != nullptr && !contract->owners.operations.empty()) return contract->owners.operations;
    return config.admin_group.empty() ? "the cluster's administrators" : "group " + config.admin_group;
}

std::string printable(std::string_view text) {
    constexpr std::size_t longest = 200;
    std::string clean(text.substr(0, longest));
    for (auto& byte : clean)
        if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) byte = '?';
    return text.size() > longest ? clean + "..." : clean;
}

std::string admission(const Outcome& outcome) {
    std::string line;
    switch (outcome.classification.cls) {
        case JobClass::guaranteed: line = guaranteed_line(outcome); break;
        case JobClass::borrowed: line = borrowed_line(outcome); break;
        default: line = queued_line(outcome);
    }
    const auto& rewrite = outcome.decision.rewrite;
    if (rewrite.array_limit)
        fmt::format_to(std::back_inserter(line), "; at most {} of its {} tasks run at once", *rewrite.array_limit,
                       outcome.array_tasks);
    if (rewrite.time_limit_min)
        fmt::format_to(std::back_inserter(line), "; time limit {}", time_limit_text(*rewrite.time_limit_min));
    return line;
}

std::string impossibility(const Contract& contract, const PoolConfig& pool, const ContractClaims& claims,
                          const std::string& type, const GpuInterval& asked, bool may_borrow) {
    const auto in_pool = amount_of(pool.gpus, type);
    if (asked.min > in_pool)
        return fmt::format("asks for {} {}, and partition {} has {}: ask for fewer", asked.min, type, pool.partition,
                           in_pool);
    const auto& limit = contract.capacity.at(type).borrow_limit;
    const auto borrowing = !may_borrow ? std::string("no borrowing, as it could not be requeued")
                           : limit     ? fmt::format("borrow limit {}", *limit)
                                       : std::string("no borrow limit");
    return fmt::format(
        "asks for up to {} {}, more than {} could ever hold (guaranteed {}, {}, {} in partition {}; {} in use): "
        "ask for {} or fewer",
        asked.max, type, contract.key(), guaranteed_of(contract, type), borrowing, in_pool, pool.partition,
        amount_of(claims.guaranteed, type) + amount_of(claims.borrowed, type),
        std::min(guaranteed_of(contract, type) + (may_borrow ? limit.value_or(in_pool) : 0), in_pool));
}

}  // namespace accord
