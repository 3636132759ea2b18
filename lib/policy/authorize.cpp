// SPDX-License-Identifier: GPL-2.0-or-later
// The ladder, rung by rung: each says what is wrong, the limit, what to change and whom to ask.
#include "policy/authorize.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/classify.hpp"
#include "policy/governed.hpp"
#include "policy/messages.hpp"
#include "policy/scope_path.hpp"
#include "policy/unusable.hpp"
#include "policy/utc.hpp"

namespace accord {

namespace {

/// What a rung says when it fails: the line without its prefix and code.
using Objection = std::optional<std::string>;

std::string owner_of(const Application& application) {
    return whom_to_ask(application.policy.config(),
                       application.contract == nullptr ? nullptr : &application.terms());
}

Objection ambiguous_account(const Application& application) {
    if (application.accounts_to_name.empty()) return {};
    return fmt::format("user {} has several contracts in partition {}: name one with --account={}",
                       application.policy.user_name(application.request.uid), application.pool.partition,
                       fmt::join(application.accounts_to_name, " or --account="));
}

/// What the user could name instead: "use --account=speech, or ask gpu-ops".
std::string other_accounts(const Application& application) {
    const auto& [policy, request, pool] = std::tie(application.policy, application.request, application.pool);
    std::vector<std::string_view> accounts;
    for (const auto* contract : policy.contracts_of(request.uid, pool.partition))
        if (contract->active_at(application.now_s)) accounts.push_back(contract->contract->account);
    if (accounts.empty()) return "ask " + owner_of(application);
    return fmt::format("use --account={}, or ask {}", fmt::join(accounts, " or --account="), owner_of(application));
}

/// Why the contract is none to submit under now, in words.
std::string standing(const PolicyContract& contract, std::int64_t now_s) {
    const auto& terms = *contract.contract;
    if (contract.state != ContractState::active) return fmt::format("contract {} is {}", terms.key(), to_string(contract.state));
    if (now_s < terms.valid_from_s)
        return fmt::format("contract {} is in force only from {} on", terms.key(), utc_text(terms.valid_from_s));
    return fmt::format("contract {} was in force until {}", terms.key(), utc_text(terms.valid_until_s));
}

Objection no_contract(const Application& application) {
    if (application.contract != nullptr) return {};
    const auto& [policy, request] = std::tie(application.policy, application.request);
    const auto& partition = application.pool.partition;
    if (application.account.empty()) {
        const auto theirs = policy.contracts_of(request.uid, partition);
        const auto* only = theirs.size() == 1 ? theirs.front() : nullptr;
        return fmt::format("user {} has no active contract in partition {}{}: ask {}{}", policy.user_name(request.uid), partition,
                           only == nullptr ? "" : fmt::format(" ({})", standing(*only, application.now_s)),
                           whom_to_ask(policy.config(), only == nullptr ? nullptr : only->contract.get()),
                           only == nullptr ? " for one" : "");
    }
    return fmt::format("account {} has no contract in partition {}: {}", printable(application.account), partition,
                       other_accounts(application));
}

Objection not_active(const Application& application) {
    const auto& contract = *application.contract;
    if (contract.active_at(application.now_s)) return {};
    const bool is_over = contract.state == ContractState::active && application.now_s > application.terms().valid_until_s;
    return fmt::format("{}: ask {}{}", standing(contract, application.now_s), owner_of(application), is_over ? " to renew it" : "");
}

Objection not_member(const Application& application) {
    if (application.contract->has_member(application.request.uid)) return {};
    return fmt::format("user {} is not a member of contract {}: {}",
                       application.policy.user_name(application.request.uid), application.terms().key(),
                       other_accounts(application));
}

Objection workload_type(const Application& application) {
    const auto& request = application.request;
    const auto& terms = application.terms();
    if (request.array_malformed) return "the indices or the limit of --array cannot be read: correct them";
    if (terms.workloads.allowed.contains(request.type)) return {};
    std::vector<const char*> allowed;
    for (const auto type : terms.workloads.allowed) allowed.push_back(to_string(type));
    return fmt::format("contract {} allows {} jobs, and this one is {}: submit it as one of these, or ask {}",
                       terms.key(), fmt::join(allowed, ", "), to_string(request.type), owner_of(application));
}

Objection time_limit(const Application& application) {
    const auto& terms = application.terms();
    const auto asked = application.request.time_limit_min, most = terms.workloads.max_walltime_min;
    if (!asked || !most || *asked <= *most) return {};
    return fmt::format(
        "contract {}: the time limit {} is over its max_walltime {}: ask for --time={} or less, or ask {}", terms.key(),
        time_limit_text(*asked), time_limit_text(*most), time_limit_text(*most), owner_of(application));
}

Objection gpu_type(const Application& application) {
    const auto& terms = application.terms();
    if (application.count.shards_unpriced)
        return fmt::format("partition {} has no shards of GPUs to give: ask for whole ones, as in --gres=gpu:1, or ask {}",
                           application.pool.partition, owner_of(application));
    std::vector<std::string> types;
    for (const auto& [type, capacity] : terms.capacity) types.push_back(type);
    for (const auto& [type, gpus] : application.count.gpus) {
        if (terms.capacity.contains(type) || gpus.max == 0) continue;
        if (type.empty())
            return fmt::format(
                "partition {} has several GPU types, and {} GPUs are asked for without one{}: name one "
                "of {}, as in {}",
                application.pool.partition, gpus.max, count_remark(application.count), fmt::join(types, ", "),
                typed_option(application.request.gpus, types.front()));
        return fmt::format("contract {} has no GPUs of type {}, of which {} are asked for{}: ask for {}, or ask {}",
                           terms.key(), printable(type), gpus.max, count_remark(application.count),
                           fmt::join(types, " or "), owner_of(application));
    }
    return {};
}

Objection gpus_per_job(const Application& application) {
    const auto& terms = application.terms();
    const auto most = terms.workloads.max_gpus_per_job;
    if (!most) return {};
    const auto asked = maxima(application.of_whole_job());
    if (total(asked) <= *most) return {};
    return fmt::format("contract {}: {}{} asked for{}, and its max_gpus_per_job is {}: ask for fewer, or ask {}",
                       terms.key(), describe(asked), application.request.array ? " a task" : "",
                       count_remark(application.count), *most, owner_of(application));
}

Objection gpus_per_user(const Application& application) {
    const auto& terms = application.terms();
    const auto& request = application.request;
    if (!terms.members.max_gpus_per_user) return {};
    const auto ask = times(maxima(application.of_whole_job()), request.array ? request.array->concurrent() : 1);
    if (!beyond_member_limit(terms, *application.claims, request.uid, ask)) return {};
    const auto claimed = claimed_by(*application.claims, request.uid);
    return fmt::format(
        "contract {}: {} asked for{}, {} of its GPUs are claimed by user {}'s other jobs{}, and its max_gpus_per_user is {}: "
        "wait for these or ask for fewer{}, or ask {}",
        terms.key(), describe(ask), count_remark(application.count), claimed,
        application.policy.user_name(request.uid), claimed == 0 ? "" : " (for some seconds after their end, too)",
        *terms.members.max_gpus_per_user,
        request.array ? ", such as by a %limit of the array" : "", owner_of(application));
}

Objection cpus_per_gpu(const Application& application) {
    const auto& terms = application.terms();
    const auto most = terms.workloads.max_cpus_per_gpu;
    Gpus fewest = 0;
    for (const auto& [type, gpus] : application.count.gpus) fewest = saturating_add(fewest, gpus.min);
    if (!most || fewest == 0) return {};
    const auto asked = cpus_for_each_gpu(application.request.gpus, fewest);
    if (asked <= *most) return {};
    return fmt::format("contract {}: {} CPUs are asked for with each GPU, and its max_cpus_per_gpu is {}: ask for fewer "
                       "CPUs or more GPUs, or ask {}",
                       terms.key(), asked, *most, owner_of(application));
}

Objection scope_path(const Application& application) {
    const auto& terms = application.terms();
    if (!terms.filesystem.restricts()) return {};
    const auto breach = scope_breach(terms.filesystem, paths_of(application.request));
    if (!breach) return {};
    const auto& [hidden, rw] = std::tie(terms.filesystem.hidden, terms.filesystem.rw);
    const auto& not_in = breach->access == PathAccess::job_private ? terms.filesystem.private_dirs : hidden;
    return fmt::format("contract {}: {}: use a path {} {}, or ask {}", terms.key(), breach->text(),
                       rw.empty() ? "outside" : "under", fmt::join(rw.empty() ? not_in : rw, " or "), owner_of(application));
}

/// The login files would run as the user outside the job's view. sbatch asks for that with --get-user-env, and with every
/// --export but ALL, a list of variables too.
Objection login_env(const Application& application) {
    const auto& files = application.terms().filesystem;
    if (!application.request.login_env || files.login_env || !files.restricts()) return {};
    return fmt::format("contract {} does not let jobs load the login environment, and sbatch does with --get-user-env "
                       "and any --export but ALL: set variables before sbatch and leave --export out, or ask {}",
                       application.terms().key(), owner_of(application));
}

Objection env_too_large(const Application& application) {
    constexpr std::int64_t most = 64 * 1024;
    if (application.request.spank_env_bytes <= most) return {};
    return fmt::format("the job's SPANK environment has {} bytes, and {} are the most: leave out the options of SPANK plugins "
                       "that fill it, or ask {}",
                       application.request.spank_env_bytes, most, whom_to_ask(application.policy.config(), nullptr));
}

/// R5. A job without GPUs uses none of it.
Objection budget_exhausted(const Application& application) {
    const auto& budget = application.budget;
    if (budget.limit != BudgetLimit::reject || maxima(application.count.gpus).empty()) return {};
    const auto& terms = application.terms();
    return fmt::format("contract {}: {}: submit it again then, or ask {}", terms.key(), budget_text(budget),
                       terms.owners.cost.empty() ? owner_of(application) : terms.owners.cost);
}

/// Slurm takes all nodes of the list, however few the request asks for otherwise.
Objection node_list(const Application& application) {
    if (!application.request.node_list_malformed) return {};
    return "the nodes of --nodelist cannot be read: correct them";
}

struct Rung {
    Reason reason;
    Objection (*objection)(const Application&);
};

constexpr Rung ladder[] = {
    {Reason::ambiguous_account, ambiguous_account},
    {Reason::no_contract, no_contract},
    {Reason::not_active, not_active},
    {Reason::not_member, not_member},
    {Reason::workload_type, workload_type},
    {Reason::time_limit, time_limit},
    {Reason::gpu_type, gpu_type},
    {Reason::gpus_per_job, gpus_per_job},
    {Reason::gpus_per_user, gpus_per_user},
    {Reason::cpus_per_gpu, cpus_per_gpu},
    {Reason::scope_path, scope_path},
    {Reason::login_env, login_env},
    {Reason::env_too_large, env_too_large},
    {Reason::budget_exhausted, budget_exhausted},
    {Reason::impossible, node_list},
};

bool is_about_gpus(Reason reason) {
    return reason == Reason::gpu_type || reason == Reason::gpus_per_job || reason == Reason::gpus_per_user;
}

/// R2.
void find_contract(Application& application) {
    const auto& [policy, request, pool] = std::tie(application.policy, application.request, application.pool);
    if (request.account && !request.account->empty()) {
        application.account = lower_case(*request.account);
        application.contract = policy.contract(application.account, pool.partition);
        return;
    }
    auto theirs = policy.contracts_of(request.uid, pool.partition);
    std::erase_if(theirs, [&](const auto* contract) { return !contract->active_at(application.now_s); });
    if (theirs.size() == 1) {
        application.contract = theirs.front();
        application.account = application.terms().account;
    } else {
        for (const auto* contract : theirs) application.accounts_to_name.push_back(contract->contract->account);
    }
}

/// R7.
void add_earlier_components(Application& application) {
    const auto& het = application.request.het;
    if (!het || application.contract == nullptr) return;
    const auto earlier = het->earlier.find(application.terms().key());
    if (earlier == het->earlier.end()) return;
    application.with_earlier = earlier->second;
    add(*application.with_earlier, application.count.gpus);
}

}  // namespace

std::string lower_case(std::string account) {
    std::transform(account.begin(), account.end(), account.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return account;
}

Application apply_for(const Policy& policy, const Ledger& ledger, const JobRequest& request, const PoolConfig& pool,
                      std::int64_t now_s) {
    const auto* shape = ledger.shape().partition(pool.partition);
    Application application{policy, request, pool, shape, now_s, {}, {}, nullptr, nullptr, {}, {}, {}};
    find_contract(application);
    if (application.contract != nullptr) {
        application.claims = &ledger.of(application.terms().key());
        application.budget = standing_of(application.terms(), ledger.base().budgets, now_s);
    }
    application.count = count_gpus(request.gpus, shape, pool, Explain::briefly);
    settle_types(application.count.gpus, pool);
    add_earlier_components(application);
    return application;
}

std::optional<Refusal> authorize(const Application& application) {
    for (const auto& [reason, objection] : ladder)
        if (auto body = objection(application)) {
            if (is_about_gpus(reason)) *body += type_hint(application.request.gpus, application.pool);
            return Refusal{reason, refusal(*body, reason)};
        }
    return std::nullopt;
}

std::optional<std::int64_t> imposed_time_limit(const Application& application) {
    const auto most = application.terms().workloads.max_walltime_min;
    if (!most || application.request.time_limit_min) return std::nullopt;
    const auto* shape = application.shape;
    const auto by_default = shape == nullptr ? std::nullopt : shape->default_time_min;
    if (by_default && *by_default <= *most) return std::nullopt;
    return shape != nullptr && shape->max_time_min ? std::min(*most, *shape->max_time_min) : *most;
}

std::optional<std::int64_t> time_limit_of(const Application& application) {
    if (application.request.time_limit_min) return application.request.time_limit_min;
    if (const auto imposed = imposed_time_limit(application)) return imposed;
    if (application.shape == nullptr) return std::nullopt;
    const auto& by_default = application.shape->default_time_min;
    return by_default ? by_default : application.shape->max_time_min;
}

}  // namespace accord
