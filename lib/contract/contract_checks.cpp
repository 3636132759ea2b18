// SPDX-License-Identifier: GPL-2.0-or-later
// What a contract's keys must be to each other and to their pool.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "contract/contract_toml.hpp"
#include "policy/path.hpp"
#include "policy/utc.hpp"

namespace accord {

namespace {

/// The checks of one contract; each complains at the line of the key that it names.
class Checks {
public:
    Checks(const Contract& contract, const Config* config, Report& report)
        : contract_(contract),
          report_(report),
          config_(config),
          pool_(config ? config->pool_of(contract.partition) : nullptr) {}

    void run() {
        dates();
        members();
        capacity();
        paths();
        credentials();
        signals();
        if (!config_) return;
        site();
        if (pool_) pool();
    }

private:
    void error(const std::string& key, const std::string& what) { report_.error(report_.line_of(key), key, what); }
    void warn(const std::string& key, const std::string& what) { report_.warn(report_.line_of(key), key, what); }

    void dates() {
        if (contract_.valid_until_s < contract_.valid_from_s)
            error("valid_until", fmt::format("ends {}, before valid_from, which is {}",
                                             utc_text(contract_.valid_until_s), utc_text(contract_.valid_from_s)));
    }

    void members() {
        if (contract_.members.users.empty() && contract_.members.groups.empty())
            error("members", "names nobody, expected at least one of users and groups");
    }

    void capacity() {
        if (contract_.capacity.empty())
            error("capacity", "names no GPU type, expected a table such as [capacity.a100] with guaranteed");
        for (const auto& [type, capacity] : contract_.capacity)
            if (capacity.lend_limit && *capacity.lend_limit > capacity.guaranteed)
                error(fmt::format("capacity.{}.lend_limit", type),
                      fmt::format("found {}, expected at most what is guaranteed: {}", *capacity.lend_limit,
                                  capacity.guaranteed));
        for (const auto& type : contract_.fallback)
            if (!contract_.capacity.contains(type))
                error("capacity.fallback", fmt::format("\"{0}\" has no table [capacity.{0}]", type));
    }

    void paths() {
        const auto& files = contract_.filesystem;
        std::map<std::string, std::string> seen;
        for (const auto& [key, list] :
             {std::pair{"filesystem.hidden", &files.hidden}, std::pair{"filesystem.rw", &files.rw},
              std::pair{"filesystem.ro", &files.ro}, std::pair{"filesystem.private", &files.private_dirs}})
            for (const auto& path : *list) {
                const auto [before, is_new] = seen.emplace(path, key);
                if (!is_new)
                    error(key, fmt::format("\"{}\" is also in {}: it can be one of them", path, before->second));
                in_scope_roots(key, path);
            }
    }

    void in_scope_roots(const std::string& key, const std::string& path) {
        if (!config_) return;
        const auto& roots = config_->node.scope_roots;
        if (std::none_of(roots.begin(), roots.end(), [&](const auto& root) { return is_under(path, root); }))
            error(key, fmt::format("\"{}\" is not below [node] scope_roots of accord.toml: {}", path,
                                   fmt::join(roots, ", ")));
    }

    void credentials() {
        std::map<std::string, int> names, variables;
        const auto once = [&](const std::string& key, const std::string& name, const std::string& variable) {
            if (names[name]++) error(key, fmt::format("\"{}\" is named twice", name));
            if (variables[variable]++) error(key, fmt::format("two credentials set {}", variable));
        };
        for (const auto& file : contract_.credentials.files) once("credentials.files", file.name, file.env);
        for (const auto& helper : contract_.credentials.helpers) once("credentials.helpers", helper.name, helper.env);
    }

    void signals() {
        for (std::size_t i = 0; i < contract_.signals.size(); ++i)
            if (contract_.signals[i].above.empty() == contract_.signals[i].below.empty())
                error(fmt::format("signal[{}]", i), "expected one of above and below");
    }

    void site() {
        if (!pool_) {
            const auto* lending = config_->pool_lending_in(contract_.partition);
            error("partition", lending ? fmt::format("\"{}\" is a lend partition: write \"{}\", to which it belongs",
                                                     contract_.partition, lending->partition)
                                       : fmt::format("\"{}\" is not a pool of accord.toml, which has {}",
                                                     contract_.partition, pools()));
        }
        if (!contract_.priority_class.empty() && !config_->priority_class(contract_.priority_class))
            error("priority_class", fmt::format("\"{}\" is not a priority class of accord.toml, which has {}",
                                                contract_.priority_class, priority_classes()));
    }

    std::string pools() const {
        std::vector<std::string> names;
        for (const auto& pool : config_->pools) names.push_back(pool.partition);
        return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
    }

    std::string priority_classes() const {
        std::vector<std::string> names;
        for (const auto& one : config_->priority_classes) names.push_back(one.name);
        return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
    }

    void pool() {
        for (const auto& [type, capacity] : contract_.capacity) {
            const auto key = fmt::format("capacity.{}", type);
            const auto has = amount_of(pool_->gpus, type);
            if (has == 0)
                error(key,
                      fmt::format("pool {} has no \"{}\", it has {}", pool_->partition, type, describe(pool_->gpus)));
            else if (capacity.borrow_limit && *capacity.borrow_limit > has)
                error(key + ".borrow_limit", too_many(*capacity.borrow_limit, has, type));
            else if (capacity.guaranteed > has) error(key + ".guaranteed", too_many(capacity.guaranteed, has, type));
        }
        const auto all = total(pool_->gpus);
        for (const auto& [key, limit] : {std::pair{"workloads.max_gpus_per_job", contract_.workloads.max_gpus_per_job},
                                         std::pair{"members.max_gpus_per_user", contract_.members.max_gpus_per_user}})
            if (limit && *limit > all) error(key, too_many(*limit, all, "GPUs"));
    }

    std::string too_many(Gpus found, Gpus has, const std::string& what) const {
        return fmt::format("found {}, expected at most what pool {} has: {} {}", found, pool_->partition, has, what);
    }

    const Contract& contract_;
    Report& report_;
    const Config* config_;
    const PoolConfig* pool_;
};

}  // namespace

void check_contract(const Contract& contract, const Config* config, Report& report) {
    Checks(contract, config, report).run();
}

}  // namespace accord
