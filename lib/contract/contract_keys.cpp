// SPDX-License-Identifier: GPL-2.0-or-later
// The keys of a contract.
#include <algorithm>
#include <cctype>
#include <memory>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "contract/contract_toml.hpp"
#include "contract/network_rule.hpp"
#include "contract/units.hpp"
#include "contract/values.hpp"
#include "policy/path.hpp"

namespace accord {

namespace {

using Kind = TomlNode::Kind;

constexpr std::int64_t most_gpus = 1'000'000;

/// Finds a member of the element that was begun last.
template <typename T, typename M>
Place<M> in_last(std::vector<T>& list, M T::*member) {
    return [&list, member]() -> M& { return list.back().*member; };
}

/// A list of tables: each of its elements begins a new one in `list`.
template <typename T>
void begin_list(Schema& schema, const std::string& path, std::vector<T>& list) {
    schema.groups.push_back({path, [&list](const std::string&) {
                                 list.emplace_back();
                                 return std::string();
                             }});
}

std::string check_group(const std::string& text) {
    auto plain = text;  // a directory's groups may have spaces
    std::replace(plain.begin(), plain.end(), ' ', '_');
    return text.front() == ' ' || text.back() == ' ' ? fmt::format("\"{}\" is not a name", text) : check_name(plain);
}

std::string check_variable(const std::string& text) {
    const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    if (!std::all_of(text.begin(), text.end(), plain) || std::isdigit(static_cast<unsigned char>(text.front())))
        return fmt::format("found \"{}\", expected a variable's name", text);
    for (const std::string taken : {"ACCORD_", "SLURM_", "SPANK_", "LD_"})
        if (text.starts_with(taken))
            return fmt::format("found \"{}\", and {}* is not a credential's to set", text, taken);
    return {};
}

std::string check_scope_path(const std::string& text) {
    const auto wrong = check_absolute_path(text);
    if (!wrong.empty()) return wrong;
    const auto tree = system_tree(text);
    return tree.empty() ? ""
                        : fmt::format("\"{}\" cannot be governed by a contract: {} is the system's own", text, tree);
}

Value account_value(std::string& to) {
    auto value = text_value(at(to), "a Slurm account", check_name);
    value.set = [&to, set = std::move(value.set)](const TomlNode& node, const std::string& name) {
        auto wrong = set(node, name);
        std::transform(to.begin(), to.end(), to.begin(), [](unsigned char c) { return std::tolower(c); });
        return wrong;
    };
    return value;
}

Value schema_value() {
    const std::string expected = "1, the version of this form";
    return {expected, [expected](const TomlNode& node, const std::string&) {
                return node.kind == Kind::integer && node.integer == 1 ? std::string() : mismatch(node, expected, "1");
            }};
}

/// A date, as its start or its end, or a time.
Value date_value(std::function<void(std::int64_t)> set, bool end_of_day, const DateRules& dates) {
    const std::string expected = "a date such as 2026-12-31, or a time such as 2026-12-31T23:59:59Z";
    auto take = [set = std::move(set), end_of_day, dates, expected](const TomlNode& node, const std::string&) {
        auto when = node.when;
        if (node.kind == Kind::date && end_of_day) ++when.day;
        if (node.kind == Kind::date) set(local_to_epoch_s(when, dates.timezone) - (end_of_day ? 1 : 0));
        else if (node.kind == Kind::offset_datetime) set(offset_to_epoch_s(when));
        else if (node.kind == Kind::local_datetime && dates.local_times) set(local_to_epoch_s(when, dates.timezone));
        else if (node.kind == Kind::local_datetime)
            return fmt::format("found {}, which has no zone, and accord.toml sets no timezone: write {}Z for UTC",
                               node.describe(), node.raw);
        else return mismatch(node, expected, node.kind == Kind::string ? node.text + " without quotes" : "");
        return std::string();
    };
    return {expected, std::move(take)};
}

Value slurm_time_value(std::function<void(std::int64_t min)> set) {
    const std::string expected = "a time limit as --time takes it, such as \"2-00:00:00\"";
    auto take = [set = std::move(set), expected](const TomlNode& node, const std::string&) {
        const auto minutes = node.kind == Kind::string ? parse_slurm_time_min(node.text) : std::nullopt;
        if (!minutes) return mismatch(node, expected);
        if (*minutes == 0) return mismatch(node, "at least a minute");
        set(*minutes);
        return std::string();
    };
    return {expected, std::move(take)};
}

Value workloads_value(std::set<WorkloadType>& to) {
    static constexpr std::pair<const char*, WorkloadType> types[] = {{"batch", WorkloadType::batch},
                                                                     {"array", WorkloadType::array},
                                                                     {"interactive", WorkloadType::interactive},
                                                                     {"het", WorkloadType::het},
                                                                     {"cron", WorkloadType::cron}};
    const std::string one = R"(one of "batch", "array", "interactive", "het", "cron")";
    const std::string expected = "a list, each " + one;
    auto take = [&to, one, expected](const TomlNode& node, const std::string&) {
        if (node.kind != Kind::array) return mismatch(node, expected);
        for (const auto& item : node.items) {
            const auto* type = std::find_if(std::begin(types), std::end(types), [&](const auto& row) {
                return item.kind == Kind::string && item.text == row.first;
            });
            if (type == std::end(types)) return mismatch(item, one);
            to.insert(type->second);
        }
        return to.empty() ? "found an empty list, expected " + expected : std::string();
    };
    return {expected, std::move(take)};
}

void add_head(Schema& schema, Contract& contract, const DateRules& dates) {
    schema.add("schema", schema_value(), Need::always);
    schema.add("account", account_value(contract.account), Need::always);
    schema.add("partition", text_value(at(contract.partition), "a governed partition", check_name), Need::always);
    schema.add("purpose", text_value(at(contract.purpose), "a sentence"), Need::always, Force::information);
    schema.add("environment",
               word_value({"production", "test"},
                          [&](std::size_t word) { contract.environment = word == 0 ? "production" : "test"; }),
               Need::optional, Force::information);
    schema.add("priority_class",
               text_value(at(contract.priority_class), "a [[priority_class]] of accord.toml", check_name));
    schema.add("valid_from", date_value([&](std::int64_t s) { contract.valid_from_s = s; }, false, dates),
               Need::always);
    schema.add("valid_until", date_value([&](std::int64_t s) { contract.valid_until_s = s; }, true, dates),
               Need::always);
}

void add_people(Schema& schema, Contract& contract) {
    auto& owners = contract.owners;
    schema.add("owners.business", text_value(at(owners.business), "a user", check_name), Need::always,
               Force::information);
    schema.add("owners.operations", text_value(at(owners.operations), "a user", check_name), Need::always,
               Force::information);
    schema.add("owners.cost", text_value(at(owners.cost), "a user", check_name), Need::always, Force::information);
    schema.add("owners.cost_center", text_value(at(owners.cost_center), "a cost centre"), Need::always,
               Force::information);
    auto& about = contract.organization;
    for (const auto& [key, to] :
         {std::pair{"domain_unit", &about.domain_unit}, std::pair{"project", &about.project},
          std::pair{"capacity_account", &about.capacity_account}, std::pair{"data_account", &about.data_account},
          std::pair{"region", &about.region}, std::pair{"network_path", &about.network_path},
          std::pair{"isolation", &about.isolation}})
        schema.add(fmt::format("organization.{}", key), text_value(at(*to)), Need::optional, Force::information);
    auto& members = contract.members;
    schema.add("members.users", list_value(at(members.users), "a list of users", check_name));
    schema.add("members.groups", list_value(at(members.groups), "a list of groups", check_group));
    schema.add("members.max_gpus_per_user",
               integer_value(Place<std::optional<Gpus>>(at(members.max_gpus_per_user)), 1, most_gpus));
}

void add_workloads(Schema& schema, Contract& contract) {
    auto& workloads = contract.workloads;
    schema.add("workloads.allowed", workloads_value(workloads.allowed), Need::always);
    schema.add("workloads.max_walltime", slurm_time_value([&](std::int64_t min) { workloads.max_walltime_min = min; }));
    schema.add("workloads.max_gpus_per_job", integer_value(at(workloads.max_gpus_per_job), 1, most_gpus));
    schema.add("workloads.max_cpus_per_gpu", integer_value(at(workloads.max_cpus_per_gpu), 1, 100'000));
}

void add_controls(Schema& schema, Contract& contract) {
    schema.add("data.classification", text_value(at(contract.classification), "a word of your own"), Need::optional,
               Force::information);
    auto& controls = contract.external_controls;
    begin_list(schema, "external_control[]", controls);
    schema.add("external_control[].name", text_value(in_last(controls, &ExternalControl::name)), Need::with_table,
               Force::information);
    schema.add("external_control[].owner", text_value(in_last(controls, &ExternalControl::owner), "a user", check_name),
               Need::with_table, Force::information);
    schema.add("external_control[].reviewed",
               date_value([&controls](std::int64_t s) { controls.back().reviewed_s = s; }, false, {}), Need::optional,
               Force::information);
}

void add_capacity(Schema& schema, Contract& contract) {
    schema.add("capacity.share", integer_value(at(contract.share), 1, 1000));
    schema.add("capacity.fallback", list_value(at(contract.fallback), "a list of GPU types", check_name));
    // the type whose table is being read
    const auto type = std::make_shared<std::string>();
    schema.groups.push_back({"capacity.*", [&contract, type](const std::string& name) {
                                 const auto wrong = check_name(name);
                                 if (wrong.empty()) contract.capacity[*type = name];
                                 return wrong;
                             }});
    const auto in_type = [&contract, type](auto member) {
        using T = std::remove_reference_t<decltype(std::declval<Capacity&>().*member)>;
        return Place<T>([&contract, type, member]() -> T& { return contract.capacity[*type].*member; });
    };
    schema.add("capacity.*.guaranteed", integer_value(in_type(&Capacity::guaranteed), 0, most_gpus), Need::with_table);
    schema.add("capacity.*.lend_limit", integer_value(in_type(&Capacity::lend_limit), 0, most_gpus));
    schema.add("capacity.*.borrow_limit", integer_value(in_type(&Capacity::borrow_limit), 0, most_gpus));
}

void add_endings(Schema& schema, Contract& contract) {
    schema.add("reclaim.max_preemptions", integer_value(at(contract.reclaim.max_preemptions), 0, 1'000'000));
    schema.add("reclaim.interactive_may_borrow", bool_value(at(contract.reclaim.interactive_may_borrow)));
    auto& revocation = contract.revocation;
    schema.add("revocation.running_jobs",
               word_value({"drain", "grace", "cancel"},
                          [&](std::size_t word) { revocation.running_jobs = static_cast<RunningJobs>(word); }),
               Need::optional, Force::recorded);
    schema.add("revocation.grace", duration_value([&](std::int64_t ms) { revocation.grace_s = ms / 1000; }, 1000),
               Need::optional, Force::recorded);
    schema.add("revocation.narrowed_jobs",
               word_value({"hold", "cancel", "run"},
                          [&](std::size_t word) { revocation.narrowed_jobs = static_cast<NarrowedJobs>(word); }),
               Need::optional, Force::recorded);
}

void add_budget(Schema& schema, Contract& contract) {
    const auto budget = [&contract]() -> Budget& {
        return contract.budget ? *contract.budget : contract.budget.emplace();
    };
    schema.add("budget.gpu_hours",
               integer_value([budget](std::int64_t hours) { budget().gpu_hours = hours; }, 1, 1'000'000'000),
               Need::with_table);
    schema.add("budget.period",
               word_value({"month", "quarter", "year"},
                          [budget](std::size_t word) {
                              budget().period = word == 0 ? "month" : word == 1 ? "quarter" : "year";
                          }));
    schema.add("budget.on_exhausted",
               word_value({"reject", "borrow_only"},
                          [budget](std::size_t word) { budget().on_exhausted = static_cast<OnExhausted>(word); }));
    schema.add("budget.overrun_percent",
               integer_value([budget](std::int64_t percent) { budget().overrun_percent = percent; }, 100, 1000));
}

void add_scope(Schema& schema, Contract& contract) {
    auto& files = contract.filesystem;
    const std::string paths = "a list of absolute paths";
    schema.add("filesystem.hidden", list_value(at(files.hidden), paths, check_scope_path));
    schema.add("filesystem.rw", list_value(at(files.rw), paths, check_scope_path));
    schema.add("filesystem.ro", list_value(at(files.ro), paths, check_scope_path));
    schema.add("filesystem.private", list_value(at(files.private_dirs), paths, check_scope_path));
    schema.add("filesystem.login_env", bool_value(at(files.login_env)));
    schema.add("filesystem.landlock", bool_value(at(files.landlock)), Need::optional, Force::recorded);
}

void add_credentials(Schema& schema, Contract& contract) {
    auto& credentials = contract.credentials;
    schema.add("credentials.job_token", bool_value(at(credentials.job_token)), Need::optional, Force::recorded);
    auto& files = credentials.files;
    begin_list(schema, "credentials.files[]", files);
    schema.add("credentials.files[].name",
               text_value(in_last(files, &CredentialFile::name), "a credential's name", check_name), Need::with_table,
               Force::recorded);
    schema.add("credentials.files[].env",
               text_value(in_last(files, &CredentialFile::env), "a variable's name", check_variable), Need::with_table,
               Force::recorded);
    auto& helpers = credentials.helpers;
    begin_list(schema, "credentials.helpers[]", helpers);
    schema.add("credentials.helpers[].name",
               text_value(in_last(helpers, &CredentialHelper::name), "a helper's name", check_name), Need::with_table,
               Force::recorded);
    schema.add("credentials.helpers[].env",
               text_value(in_last(helpers, &CredentialHelper::env), "a variable's name", check_variable),
               Need::with_table, Force::recorded);
    schema.add("credentials.helpers[].renew",
               duration_value([&helpers](std::int64_t ms) { helpers.back().renew_s = ms / 1000; }, 60'000),
               Need::optional, Force::recorded);
}

void add_network(Schema& schema, Contract& contract) {
    const auto rule = [&contract]() -> NetworkRule& {
        return contract.network ? *contract.network : contract.network.emplace(NetworkRule{"deny", {}, {}});
    };
    const std::string places = "a list of networks such as \"10.20.0.0/16:443\"";
    schema.add(
        "network.default",
        word_value({"deny", "allow"}, [rule](std::size_t word) { rule().fallback = word == 0 ? "deny" : "allow"; }),
        Need::optional, Force::recorded);
    schema.add("network.egress",
               list_value(
                   [rule]() -> auto& { return rule().egress; }, places, check_network),
               Need::optional, Force::recorded);
    schema.add("network.ingress",
               list_value(
                   [rule]() -> auto& { return rule().ingress; }, places, check_network),
               Need::optional, Force::recorded);
}

void add_review(Schema& schema, Contract& contract) {
    schema.add("review.every",
               duration_value([&](std::int64_t ms) { contract.review_every_s = ms / 1000; }, 86'400'000),
               Need::optional, Force::recorded);
    auto& signals = contract.signals;
    begin_list(schema, "signal[]", signals);
    schema.add("signal[].name", text_value(in_last(signals, &Signal::name), "a figure's name", check_name),
               Need::with_table, Force::recorded);
    schema.add("signal[].above", text_value(in_last(signals, &Signal::above), "a value such as \"4h\""), Need::optional,
               Force::recorded);
    schema.add("signal[].below", text_value(in_last(signals, &Signal::below), "a value such as \"4h\""), Need::optional,
               Force::recorded);
    schema.add("signal[].owner", text_value(in_last(signals, &Signal::owner), "a user", check_name), Need::with_table,
               Force::recorded);
    schema.add("signal[].response", text_value(in_last(signals, &Signal::response), "a sentence"), Need::with_table,
               Force::recorded);
}

}  // namespace

Schema contract_schema(Contract& contract, const DateRules& dates) {
    Schema schema;
    add_head(schema, contract, dates);
    add_people(schema, contract);
    add_workloads(schema, contract);
    add_controls(schema, contract);
    add_capacity(schema, contract);
    add_endings(schema, contract);
    add_budget(schema, contract);
    add_scope(schema, contract);
    add_credentials(schema, contract);
    add_network(schema, contract);
    add_review(schema, contract);
    return schema;
}

}  // namespace accord
