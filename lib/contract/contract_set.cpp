// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/contract_set.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "contract/read_file.hpp"

namespace accord {

namespace {

JudgedContract unreadable(const std::string& path, const Error& error) {
    JudgedContract judged;
    judged.report.path = path;
    judged.report.errors.push_back(error);
    return judged;
}

JudgedContract judge_file(const std::string& path, const Config* config) {
    auto text = read_text_file(path, Links::refuse);
    return text ? judge_contract(std::move(*text), path, config) : unreadable(path, text.error());
}

std::string place_of(const JudgedContract& judged, const std::string& key) {
    return fmt::format("{}:{}", judged.report.path, judged.report.line_of(key));
}

void refuse_doubles(std::vector<JudgedContract>& files) {
    std::map<std::string, const JudgedContract*> first;
    for (auto& judged : files) {
        if (!judged.contract) continue;
        const auto [found, is_new] = first.emplace(judged.contract->key(), &judged);
        if (!is_new)
            judged.report.error(judged.report.line_of("account"), "account",
                                fmt::format("contract {} is already in {}: keep one of them", found->first,
                                            place_of(*found->second, "account")));
    }
}

PolicyContract active(const Contract& contract) {
    PolicyContract one;
    one.contract = std::make_shared<const Contract>(contract);
    one.state = ContractState::active;
    return one;
}

/// The contracts of one pool: those that stay, then those of the files, in their order.
struct PoolContracts {
    Config pool_alone;
    std::vector<PolicyContract> contracts;
    std::vector<JudgedContract*> files;  ///< of the last of `contracts`

    [[nodiscard]] std::vector<std::string> breaches(std::size_t with_files) const {
        const auto count = contracts.size() - files.size() + with_files;
        return guarantee_breaches(pool_alone,
                                  {contracts.begin(), contracts.begin() + static_cast<std::ptrdiff_t>(count)});
    }
};

PoolContracts contracts_in(const PoolConfig& pool, std::vector<JudgedContract>& files,
                           const std::vector<PolicyContract>& standing) {
    PoolContracts found;
    found.pool_alone.pools = {pool};
    std::set<std::string> replaced;
    for (auto& judged : files)
        if (judged.contract && judged.contract->partition == pool.partition &&
            replaced.insert(judged.contract->key()).second)
            found.files.push_back(&judged);
    for (const auto& one : standing)
        if (one.contract->partition == pool.partition && !replaced.contains(one.contract->key()))
            found.contracts.push_back(one);
    for (const auto* judged : found.files) found.contracts.push_back(active(*judged->contract));
    return found;
}

/// R10. The file to name is the first with which the sum is too much: guarantees only add up.
void refuse_overcommitment(const PoolContracts& pool) {
    const auto breaches = pool.breaches(pool.files.size());
    if (breaches.empty() || pool.files.empty()) return;
    std::size_t within = 0, beyond = pool.files.size();
    while (beyond - within > 1) {
        const auto middle = within + (beyond - within) / 2;
        (pool.breaches(middle).empty() ? within : beyond) = middle;
    }
    auto& report = pool.files[beyond - 1]->report;
    for (const auto& breach : breaches) report.error(report.line_of("capacity"), "capacity", breach);
}

template <typename Member>
std::vector<Error> all_of(const std::vector<JudgedContract>& files, Member member) {
    std::vector<Error> all;
    for (const auto& judged : files)
        all.insert(all.end(), (judged.report.*member).begin(), (judged.report.*member).end());
    return all;
}

}  // namespace

std::vector<JudgedContract> judge_files(const std::vector<std::string>& paths, const Config* config) {
    std::vector<JudgedContract> judged;
    for (const auto& path : paths) {
        const auto before = judged.size();
        const auto files = toml_files_of(path);
        if (!files) judged.push_back(unreadable(path, files.error()));
        for (const auto& file : files.value_or(std::vector<std::string>()))
            if (file == path || std::filesystem::path(file).filename() != "accord.toml")
                judged.push_back(judge_file(file, config));
        if (judged.size() == before)
            judged.push_back(unreadable(path, {"invalid", "there is no contract (*.toml) in this folder", path}));
    }
    return judged;
}

void judge_together(std::vector<JudgedContract>& files, const Config* config,
                    const std::vector<PolicyContract>& standing) {
    refuse_doubles(files);
    if (!config) return;
    for (const auto& pool : config->pools) refuse_overcommitment(contracts_in(pool, files, standing));
}

std::vector<Error> errors_of(const std::vector<JudgedContract>& files) { return all_of(files, &Report::errors); }

std::vector<Error> warnings_of(const std::vector<JudgedContract>& files) { return all_of(files, &Report::warnings); }

}  // namespace accord
