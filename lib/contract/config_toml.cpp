// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/config_toml.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "contract/read_file.hpp"
#include "contract/units.hpp"
#include "contract/values.hpp"
#include "policy/path.hpp"

namespace accord {

namespace {

constexpr auto unbounded = std::numeric_limits<std::int64_t>::max();

std::string check_timezone(const std::string& text) {
    if (is_timezone(text)) return {};
    return fmt::format(
        "\"{}\" is not a time zone of this machine, expected a name such as \"Europe/Berlin\" or \"UTC\"", text);
}

std::string check_scope_root(const std::string& text) {
    const auto wrong = check_absolute_path(text);
    if (!wrong.empty()) return wrong;
    const auto tree = system_tree(text);
    return tree.empty() ? ""
                        : fmt::format("\"{}\" cannot be governed by contracts: {} is the system's own", text, tree);
}

std::string check_scrub(const std::string& text) {
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const auto star = text.find('*');
    const bool good = text.substr(0, star).find_first_not_of(plain) == std::string::npos &&
                      (star == std::string::npos || star + 1 == text.size());
    return good ? "" : fmt::format("found \"{}\", expected a variable's name, or its beginning and *", text);
}

std::string check_acknowledgement(const std::string& text) {
    if (text == "business" || text == "operations" || text == "cost") return {};
    return fmt::format("found \"{}\", expected \"business\", \"operations\" or \"cost\"", text);
}

std::string check_metrics(const std::string& text) {
    const auto colon = text.rfind(':');
    const auto port = colon == std::string::npos ? std::string() : text.substr(colon + 1);
    const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
    if (digits && colon > 0 && std::stoi(port) <= 65535) return {};
    return fmt::format("found \"{}\", expected an address and a port such as \"127.0.0.1:9911\", or \"\" for none",
                       text);
}

Value metrics_value(std::string& to) {
    auto value =
        text_value(at(to), "an address and a port such as \"127.0.0.1:9911\", or \"\" for none", check_metrics);
    value.set = [&to, set = value.set](const TomlNode& node, const std::string& name) {
        if (node.kind != TomlNode::Kind::string || !node.text.empty()) return set(node, name);
        to.clear();
        return std::string();
    };
    return value;
}

Value size_value(Place<std::optional<std::int64_t>> to) {
    const std::string expected = "a size such as \"64G\"";
    auto set = [to = std::move(to), expected](const TomlNode& node, const std::string&) {
        const auto size = node.kind == TomlNode::Kind::string ? parse_size_mb(node.text) : std::nullopt;
        if (!size || *size == 0) return mismatch(node, expected);
        to() = *size;
        return std::string();
    };
    return {expected, std::move(set)};
}

/// `gpus = { a100 = 16 }`: one whole number for each type.
Value pool_gpus_value(Place<GpuVector> to) {
    constexpr std::int64_t most = 1'000'000;
    const std::string expected = fmt::format("a whole number from 1 to {}", most);
    auto set = [to = std::move(to), expected](const TomlNode& node, const std::string& type) {
        auto wrong = check_name(type);
        auto count = integer_value([&](std::int64_t gpus) { to()[type] = gpus; }, 1, most);
        return wrong.empty() ? count.set(node, type) : wrong;
    };
    return {expected, std::move(set)};
}

void add_general_keys(Schema& schema, Config& config) {
    schema.add("cluster", text_value(at(config.cluster), "Slurm's ClusterName", check_name), Need::always);
    schema.add("timezone", text_value(at(config.timezone), "a time zone such as \"Europe/Berlin\"", check_timezone));
    schema.add("mode", word_value({"enforce", "observe"},
                                  [&](std::size_t word) { config.mode = word == 0 ? Mode::enforce : Mode::observe; }));
    schema.add("exempt_users", list_value(at(config.exempt_users), "a list of users", check_name));
    schema.add("admin_group", text_value(at(config.admin_group), "a group", check_name));
    schema.add("auditor_group", text_value(at(config.auditor_group), "a group", check_name), Need::optional,
               Force::recorded);
}

void add_service_keys(Schema& schema, Config& config) {
    schema.add("store.dir", text_value(at(config.store_dir), "an absolute path", check_absolute_path));
    schema.add("store.durability", word_value({"process", "power"}, [&](std::size_t word) {
                   config.durability = word == 0 ? "process" : "power";
               }));
    schema.add("store.on_unavailable", word_value({"reject", "admit"}, [&](std::size_t word) {
                   config.on_unavailable = word == 0 ? OnUnavailable::reject : OnUnavailable::admit;
               }));
    schema.add("munge.socket", text_value(at(config.munge_socket), "an absolute path", check_absolute_path));
    schema.add("accordd.interval", duration_value([&](std::int64_t ms) { config.interval_ms = ms; }, 100));
    schema.add("accordd.settle", duration_value([&](std::int64_t ms) { config.settle_s = ms / 1000; }, 1000));
    schema.add("accordd.socket", text_value(at(config.accordd_socket), "an absolute path", check_absolute_path),
               Need::optional, Force::recorded);
    schema.add("accordd.metrics", metrics_value(config.metrics), Need::optional, Force::recorded);
}

void add_node_keys(Schema& schema, Config& config) {
    auto& node = config.node;
    schema.add("node.scope_roots", list_value(at(node.scope_roots), "a list of absolute paths", check_scope_root));
    schema.add("node.ungranted", word_value({"log", "refuse"}, [&](std::size_t word) {
                   node.ungranted = word == 0 ? Ungranted::log : Ungranted::refuse;
               }));
    schema.add("node.scrub", list_value(at(node.scrub), "a list of variables' names", check_scrub), Need::optional,
               Force::recorded);
    schema.add("node.no_new_privs", bool_value(at(node.no_new_privs)));
}

void add_pool_keys(Schema& schema, Config& config) {
    schema.groups.push_back({"pool[]", [&](const std::string&) {
                                 config.pools.emplace_back();
                                 return std::string();
                             }});
    const auto in_pool = [&config](auto member) {
        using T = std::remove_reference_t<decltype(std::declval<PoolConfig&>().*member)>;
        return Place<T>([&config, member]() -> T& { return config.pools.back().*member; });
    };
    schema.add("pool[].partition", text_value(in_pool(&PoolConfig::partition), "a partition", check_name),
               Need::with_table);
    schema.add("pool[].lend_partition", text_value(in_pool(&PoolConfig::lend_partition), "a partition", check_name),
               Need::with_table);
    schema.add("pool[].reclaim", word_value({"auto", "live", "static"}, [&config](std::size_t word) {
                   config.pools.back().reclaim = word == 0 ? "auto" : word == 1 ? "live" : "static";
               }));
    schema.add("pool[].gpus.*", pool_gpus_value(in_pool(&PoolConfig::gpus)));
    schema.add("pool[].cpus_per_gpu", integer_value(in_pool(&PoolConfig::cpus_per_gpu), 1, 100'000));
    schema.add("pool[].mem_per_gpu", size_value(in_pool(&PoolConfig::mem_per_gpu_mb)));
    schema.add("pool[].shards_per_gpu", integer_value(in_pool(&PoolConfig::shards_per_gpu), 1, 1000));
}

void add_governance_keys(Schema& schema, Config& config) {
    schema.groups.push_back({"priority_class[]", [&](const std::string&) {
                                 config.priority_classes.emplace_back();
                                 return std::string();
                             }});
    schema.add(
        "priority_class[].name",
        text_value([&config]() -> std::string& { return config.priority_classes.back().name; }, "a name", check_name),
        Need::with_table);
    schema.add("priority_class[].site_factor",
               integer_value(Place<std::int64_t>(
                                 [&config]() -> std::int64_t& { return config.priority_classes.back().site_factor; }),
                             0, 99'999),
               Need::with_table);
    schema.add("governance.acknowledgements",
               list_value(at(config.governance.acknowledgements), "a list of \"business\", \"operations\", \"cost\"",
                          check_acknowledgement));
    schema.add("governance.four_eyes", bool_value(at(config.governance.four_eyes)));
    schema.add("governance.review_grace",
               duration_value([&](std::int64_t ms) { config.governance.review_grace_s = ms / 1000; }), Need::optional,
               Force::recorded);
}

Config defaults() {
    Config config;
    config.store_dir = ACCORD_STATEDIR;
    config.node.scope_roots = {"/home", "/proj", "/scratch", "/datasets", "/tmp", "/var/tmp", "/dev/shm"};
    config.node.scrub = {"AWS_*", "KRB5CCNAME", "SSH_AUTH_SOCK"};
    return config;
}

void check_pools(const Config& config, Report& report) {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < config.pools.size(); ++i) {
        const auto& pool = config.pools[i];
        const auto key = fmt::format("pool[{}]", i);
        if (pool.gpus.empty())
            report.error(report.line_of(key + ".gpus"), key + ".gpus",
                         "missing, expected the pool's GPUs by type: gpus = { a100 = 16 }");
        for (const auto& [name, partition] :
             {std::pair{".partition", pool.partition}, std::pair{".lend_partition", pool.lend_partition}})
            if (!partition.empty() && !taken.insert(partition).second)
                report.error(
                    report.line_of(key + name), key + name,
                    fmt::format("partition \"{}\" is named by another key of a pool; each belongs to one", partition));
    }
}

/// Words that are recorded only, of keys whose other words are in force.
void warn_of_words(const Config& config, Report& report) {
    if (config.durability == "power")
        report.warn(
            report.line_of("store.durability"), "store.durability",
            "\"power\" is recorded; in this version a decision survives a crash of slurmctld, not of the machine");
    for (std::size_t i = 0; i < config.pools.size(); ++i) {
        const auto key = fmt::format("pool[{}].reclaim", i);
        if (config.pools[i].reclaim == "live")
            report.warn(report.line_of(key), key,
                        "\"live\" is recorded; in this version Slurm picks the victims (R13)");
    }
}

void check_priority_classes(const Config& config, Report& report) {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < config.priority_classes.size(); ++i) {
        const auto& name = config.priority_classes[i].name;
        const auto key = fmt::format("priority_class[{}].name", i);
        if (!name.empty() && !taken.insert(name).second)
            report.error(report.line_of(key), key, fmt::format("\"{}\" is there twice", name));
    }
}

}  // namespace

std::string config_path() {
    const char* path = secure_getenv("ACCORD_CONF");
    return path && *path ? path : ACCORD_SYSCONFDIR "/accord.toml";
}

Schema config_schema(Config& config) {
    Schema schema;
    add_general_keys(schema, config);
    add_service_keys(schema, config);
    add_node_keys(schema, config);
    add_pool_keys(schema, config);
    add_governance_keys(schema, config);
    return schema;
}

JudgedConfig judge_config(const std::string& text, const std::string& path) {
    JudgedConfig judged;
    judged.report.path = path;
    const auto tree = parse_toml(text, path);
    if (!tree) {
        judged.report.errors.push_back(tree.error());
        return judged;
    }
    auto config = defaults();
    read_table(*tree, config_schema(config), judged.report);
    check_pools(config, judged.report);
    check_priority_classes(config, judged.report);
    warn_of_words(config, judged.report);
    if (judged.report.errors.empty()) judged.config = std::move(config);
    return judged;
}

Result<Config> load_config(const std::string& path) {
    const auto text = read_text_file(path, Links::follow);
    if (!text) return tl::unexpected<Error>(text.error());
    auto judged = judge_config(*text, path);
    if (judged.config) return std::move(*judged.config);
    return tl::unexpected<Error>(judged.report.errors.front());
}

}  // namespace accord
