// SPDX-License-Identifier: GPL-2.0-or-later
// The one line that a researcher reads about a decision.
#include "policy/messages.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "policy/tres.hpp"
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

/// "; in use: vision1 6, vision2 2, 3 others 4": who claims the contract's GPUs of the type, guaranteed or borrowed.
std::string holders(const Outcome& outcome, const std::string& type) {
    constexpr std::size_t named = 3;
    std::vector<std::pair<Gpus, std::uint32_t>> members;
    for (const auto& [uid, gpus] : outcome.claims.by_member)
        if (const auto amount = amount_of(gpus, type); amount != 0) members.emplace_back(-amount, uid);
    std::sort(members.begin(), members.end());
    std::string text;
    Gpus others = 0;
    for (std::size_t at = 0; at < members.size(); ++at) {
        const auto [amount, uid] = members[at];
        if (at < named)
            fmt::format_to(std::back_inserter(text), "{} {}", at == 0 ? "; in use: " + outcome.policy.user_name(uid)
                                                                      : ", " + outcome.policy.user_name(uid), -amount);
        else
            others -= amount;
    }
    if (others != 0) fmt::format_to(std::back_inserter(text), ", {} others {}", members.size() - named, others);
    return text;
}

/// Why not all of it is guaranteed.
std::string scarce_text(const Outcome& outcome) {
    if (outcome.budget.limit != BudgetLimit::none) return budget_text(outcome.budget);
    const auto& type = outcome.classification.type;
    const auto guaranteed = guaranteed_of(outcome.contract, type);
    if (guaranteed == 0) return fmt::format("no {} are guaranteed{}", type, holders(outcome, type));
    return fmt::format("{} of its {} guaranteed {} are free{}", headroom_of(outcome.contract, outcome.claims, type),
                       guaranteed, type, holders(outcome, type));
}

std::string guaranteed_line(const Outcome& outcome) {
    return fmt::format("accord: guaranteed: {} of {} ({})", describe(outcome.ask), outcome.decision.contract,
                       in_use(outcome));
}

/// What keeps the job from starting, as far as its user knows.
std::string waiting_for(const JobRequest& request) {
    if (request.held) return "its user's release";
    return request.dependent ? "its dependency" : "its begin time";
}

std::string borrowed_line(const Outcome& outcome) {
    const auto& request = outcome.request;
    const bool requeued = request.requeueable && request.type != WorkloadType::interactive;
    const auto* fate = requeued ? "requeued" : "cancelled";
    const auto reason = outcome.classification.reason;
    if (reason == Reason::no_gpu)
        return fmt::format("accord: borrowed: no GPU for {}; may be preempted and {}", outcome.decision.contract, fate);
    if (reason == Reason::not_eligible)
        return fmt::format("accord: borrowed: {} for {}, claimed only after {}, guaranteed then if they are free; may be "
                           "preempted and {}",
                           describe(outcome.ask), outcome.decision.contract, waiting_for(request), fate);
    return fmt::format("accord: borrowed: {} for {} ({}); may be preempted and {}", describe(outcome.ask),
                       outcome.decision.contract, scarce_text(outcome), fate);
}

/// Why the contract has no room to borrow.
std::string bound_text(const Outcome& outcome) {
    const auto& type = outcome.classification.type;
    if (outcome.classification.reason == Reason::lend_limit) return lending_text(*outcome.loans, type);
    return fmt::format("the borrow limit ({} of {} in use)", excess_of(outcome.contract, outcome.claims, type),
                       outcome.contract.capacity.at(type).borrow_limit.value_or(0));
}

std::string queued_line(const Outcome& outcome) {
    const auto reason = outcome.classification.reason;
    const auto what = fmt::format("accord: queued: {} for {}", describe(outcome.ask), outcome.decision.contract);
    if (reason == Reason::not_eligible && outcome.request.het)
        return what + "; starts together with the other components of its job, when enough GPUs are free for all";
    if (reason == Reason::not_eligible)
        return fmt::format("{}; waits for {}, then for room in its contract", what, waiting_for(outcome.request));
    const auto head = fmt::format("{} ({})", what, scarce_text(outcome));
    if (reason == Reason::not_requeueable)
        return head + "; waits for guaranteed GPUs, since it could not be requeued if it were preempted";
    return fmt::format("{}; waits for {} or for room within {}", head,
                       outcome.budget.limit == BudgetLimit::none ? "these" : "that", bound_text(outcome));
}

/// What jobs may still use does not stop them; it is only told.
std::string budget_warning(const Outcome& outcome) {
    const auto& [limit, budget_gpu_s, used_gpu_s, outstanding_gpu_s, period_end_s] = outcome.budget;
    if (budget_gpu_s == 0 || limit != BudgetLimit::none || outcome.may_use_gpu_s == 0) return "";
    const auto may_use_gpu_s = saturating_add(outstanding_gpu_s, outcome.may_use_gpu_s);
    if (saturating_add(used_gpu_s, may_use_gpu_s) <= budget_gpu_s) return "";
    return fmt::format("; may pass the budget: {} of {} GPU-hours used, and its jobs may use {} more",
                       gpu_hours_text(used_gpu_s), gpu_hours_text(budget_gpu_s), gpu_hours_text(may_use_gpu_s));
}

}  // namespace

std::string budget_text(const BudgetStanding& budget) {
    return fmt::format("{} of the {} GPU-hours of its budget are used, and the next period begins at {}",
                       gpu_hours_text(budget.used_gpu_s), gpu_hours_text(budget.budget_gpu_s),
                       utc_text(budget.period_end_s.value_or(0)));
}

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

std::string count_remark(const GpuCount& count) {
    const auto why = printable(count.more_than_asked);
    return !count.exact ? fmt::format(" (counted high: {})", why) : why.empty() ? "" : fmt::format(" ({})", why);
}

std::string typed_option(const GpuAsk& ask, const std::string& type) {
    struct Option {
        std::optional<std::string> GpuAsk::*field;
        const char* option;
    };
    constexpr Option options[] = {{&GpuAsk::tres_per_job, "--gpus="},
                                  {&GpuAsk::tres_per_node, "--gres=gpu:"},
                                  {&GpuAsk::tres_per_task, "--gpus-per-task="},
                                  {&GpuAsk::tres_per_socket, "--gpus-per-socket="}};
    for (const auto& [field, option] : options)
        if (const auto gpus = ask.*field ? amount_of(parse_tres_gpus(*(ask.*field)).gpus, "") : 0; gpus != 0)
            return fmt::format("{}{}:{}", option, type, gpus);
    return fmt::format("--gpus={}:1", type);
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
                       outcome.request.array->tasks);
    if (rewrite.time_limit_min)
        fmt::format_to(std::back_inserter(line), "; time limit {}", time_limit_text(*rewrite.time_limit_min));
    return line + budget_warning(outcome);
}

std::string refusal_of_cron(const Outcome& outcome) {
    const auto reason = outcome.classification.reason;
    return refusal(fmt::format("{} for {} ({}), and a scrontab job cannot wait until there is room{}: ask for fewer, or "
                               "submit it with sbatch; ask {}",
                               describe(outcome.ask), outcome.decision.contract, scarce_text(outcome),
                               reason == Reason::borrow_limit || reason == Reason::lend_limit ? " within " + bound_text(outcome) : "",
                               whom_to_ask(outcome.policy.config(), &outcome.contract)),
                   reason);
}

std::string impossibility(const Contract& contract, const PoolConfig& pool, const ContractClaims& claims,
                          const std::string& type, const GpuInterval& asked, bool may_borrow, const PoolLoans* loans) {
    const auto in_pool = amount_of(pool.gpus, type);
    if (asked.min > in_pool)
        return fmt::format("asks for {} {}, and partition {} has {}: ask for fewer", asked.min, type, pool.partition,
                           in_pool);
    const auto& limit = contract.capacity.at(type).borrow_limit;
    const auto borrowing = !may_borrow ? std::string("no borrowing, as it could not be requeued")
                           : limit     ? fmt::format("borrow limit {}", *limit)
                                       : std::string("no borrow limit");
    const auto most = most_ever(contract, pool, type, may_borrow, loans);
    const auto lent = may_borrow && loans != nullptr ? loans->most_excess(contract, type) : gpus_max;
    return fmt::format(
        "asks for {}{} {}, more than {} could ever hold (guaranteed {}, {}{}, {} in partition {}; {} in use): {}",
        asked.min == asked.max ? "" : "up to ", asked.max, type, contract.key(), guaranteed_of(contract, type), borrowing,
        lent == gpus_max ? "" : fmt::format(", at most {} lent", lent), in_pool, pool.partition,
        amount_of(claims.guaranteed, type) + amount_of(claims.borrowed, type),
        most == 0 ? "it has none to give" : fmt::format("ask for {} or fewer", most));
}

std::string lending_text(const PoolLoans& loans, const std::string& type) {
    const auto* sums = loans.of(type);
    if (sums == nullptr) return fmt::format("what partition {} lends", loans.partition());
    if (sums->short_of_guarantees())
        return fmt::format("what partition {} lends (nothing new while {} {} are available and {} are guaranteed)",
                           loans.partition(), sums->available, type, sums->terms.guaranteed);
    std::string text = fmt::format("what partition {} lends ({} of {} {} in use", loans.partition(), sums->excess,
                                   sums->lendable(), type);
    for (const auto& contract : loans.limited(type))
        text += fmt::format("; {} lends at most {}", contract->key(), *contract->capacity.at(type).lend_limit);
    return text + ")";
}

std::string type_hint(const GpuAsk& ask, const PoolConfig& pool) {
    constexpr Gpus least_model_number = 100;
    for (const auto* field : {&ask.tres_per_job, &ask.tres_per_node, &ask.tres_per_task, &ask.tres_per_socket}) {
        if (!*field) continue;
        const auto count = amount_of(parse_tres_gpus(**field).gpus, "");
        const auto digits = fmt::format("{}", count);
        if (count >= least_model_number && count > total(pool.gpus) && (*field)->find(digits) != std::string::npos)
            return fmt::format(" (did you mean gpu:{}:1?)", digits);
    }
    return {};
}

}  // namespace accord
