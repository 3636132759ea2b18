// SPDX-License-Identifier: GPL-2.0-or-later
// {"v":1,"checksum":"…","ledger":{…}}: the checksum is over the ledger's text. One spelling, so that equal ledgers are
// equal files.
#include "store/ledger_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "store/hash.hpp"
#include "store/json_cursor.hpp"
#include "store/json_text.hpp"
#include "sys/fd.hpp"
#include "sys/filesystem.hpp"

namespace accord {
namespace {

constexpr std::string_view opening = R"({"v":1,"checksum":")";
constexpr std::string_view ledger_member = R"(","ledger":)";

template <typename Numbers>
void append_numbers(fmt::memory_buffer& to, const Numbers& numbers) {
    to.push_back('[');
    for (auto it = numbers.begin(); it != numbers.end(); ++it)
        fmt::format_to(std::back_inserter(to), "{}{}", it == numbers.begin() ? "" : ",", *it);
    to.push_back(']');
}

void append_by_decision(fmt::memory_buffer& to, JsonObject& object, std::string_view name,
                        const std::map<std::uint64_t, std::int64_t>& numbers) {
    object.name(name);
    JsonObject inner(to);
    for (const auto& [decision, number] : numbers) inner.value(fmt::format_int(decision).c_str(), number);
    inner.end();
}

void append_claims(fmt::memory_buffer& to, const ContractClaims& claims) {
    JsonObject object(to);
    object.name("guaranteed");
    append_gpus(to, claims.guaranteed);
    object.name("borrowed");
    append_gpus(to, claims.borrowed);
    object.name("by_member");
    JsonObject members(to);
    for (const auto& [uid, gpus] : claims.by_member) {
        members.name(fmt::format_int(uid).c_str());
        append_gpus(to, gpus);
    }
    members.end();
    object.value("queued_jobs", claims.queued_jobs);
    object.end();
}

void append_crons(fmt::memory_buffer& to, const std::vector<CronClaim>& crons) {
    to.push_back('[');
    for (const auto& [claim, begin_s] : crons) {
        if (&claim != &crons.front().claim) to.push_back(',');
        JsonObject object(to);
        object.string("contract", claim.contract);
        object.value("uid", claim.uid);
        object.string("class", to_string(claim.cls));
        object.name("gpus");
        append_gpus(to, claim.gpus);
        object.value("begin_s", begin_s);
        object.end();
    }
    to.push_back(']');
}

void append_budget(fmt::memory_buffer& to, const BudgetUse& use) {
    JsonObject object(to);
    object.value("period_start_s", use.period.start_s);
    object.value("period_end_s", use.period.end_s);
    object.value("gpu_s", use.gpu_s);
    object.value("outstanding_gpu_s", use.outstanding_gpu_s);
    object.end();
}

void append_node(fmt::memory_buffer& to, const NodeShape& node) {
    JsonObject object(to);
    object.string("name", node.name);
    object.name("gpus");
    append_gpus(to, node.gpus);
    object.value("cpus", node.cpus);
    object.value("memory_mb", node.memory_mb);
    object.value("available", node.available);
    object.end();
}

void append_partition(fmt::memory_buffer& to, const PartitionShape& partition) {
    JsonObject object(to);
    object.string("name", partition.name);
    object.value("min_nodes", partition.min_nodes);
    if (partition.max_nodes) object.value("max_nodes", *partition.max_nodes);
    object.value("exclusive", partition.exclusive);
    if (partition.default_time_min) object.value("default_time_min", *partition.default_time_min);
    if (partition.max_time_min) object.value("max_time_min", *partition.max_time_min);
    object.value("priority_tier", partition.priority_tier);
    object.name("nodes");
    to.push_back('[');
    for (std::size_t i = 0; i < partition.nodes.size(); ++i) {
        if (i != 0) to.push_back(',');
        append_node(to, partition.nodes[i]);
    }
    to.push_back(']');
    object.end();
}

void append_shape(fmt::memory_buffer& to, const ClusterShape& shape) {
    JsonObject object(to);
    if (shape.default_partition) object.string("default_partition", *shape.default_partition);
    object.name("partitions");
    JsonObject partitions(to);
    for (const auto& [name, partition] : shape.partitions) {
        partitions.name(name);
        append_partition(to, partition);
    }
    partitions.end();
    object.end();
}

std::string to_text(const LedgerBase& base) {
    fmt::memory_buffer text;
    JsonObject object(text);
    object.value("taken_s", base.taken_s);
    object.value("resolved_through", base.resolved_through);
    object.name("counted");
    append_numbers(text, base.counted);
    object.name("queued");
    append_numbers(text, base.queued);
    object.name("released");
    JsonObject released(text);
    for (const auto& [decision, jobs] : base.released) {
        released.name(fmt::format_int(decision).c_str());
        append_numbers(text, jobs);
    }
    released.end();
    append_by_decision(text, object, "node_limits", base.node_limits);
    append_by_decision(text, object, "throttles", base.throttles);
    object.name("contracts");
    JsonObject contracts(text);
    std::map<std::string_view, const ContractClaims*> sorted;
    for (const auto& [key, claims] : base.contracts) sorted.emplace(key, &claims);
    for (const auto& [key, claims] : sorted) {
        contracts.name(key);
        append_claims(text, *claims);
    }
    contracts.end();
    object.name("crons");
    append_crons(text, base.crons);
    object.value("metered_s", base.metered_s);
    object.name("budgets");
    JsonObject budgets(text);
    for (const auto& [key, use] : base.budgets) {
        budgets.name(key);
        append_budget(text, use);
    }
    budgets.end();
    object.name("shape");
    append_shape(text, base.shape);
    object.end();
    return fmt::to_string(text);
}

template <typename Numbers>
void read_list(JsonCursor& cursor, Numbers& numbers) {
    cursor.array([&] {
        typename Numbers::value_type number = 0;
        cursor.read(number);
        numbers.insert(numbers.end(), number);
    });
}

template <typename Numbers>
void read_numbers(JsonCursor& cursor, std::string_view key, Numbers& numbers) {
    cursor.member(key);
    read_list(cursor, numbers);
}

/// A member's name that is a number.
template <typename Number>
Number read_key(JsonCursor& cursor, const std::string& text) {
    Number number = 0;
    JsonCursor digits(text);
    digits.read(number);
    cursor.require(digits.ok() && digits.rest().empty());
    return number;
}

void read_by_decision(JsonCursor& cursor, std::string_view key, std::map<std::uint64_t, std::int64_t>& numbers) {
    cursor.member(key);
    cursor.map([&](const std::string& text) { cursor.read(numbers[read_key<std::uint64_t>(cursor, text)]); });
}

void read_claims(JsonCursor& cursor, ContractClaims& claims) {
    cursor.begin_object();
    cursor.member("guaranteed", claims.guaranteed);
    cursor.member("borrowed", claims.borrowed);
    cursor.member("by_member");
    cursor.map([&](const std::string& uid_text) {
        cursor.read(claims.by_member[read_key<std::uint32_t>(cursor, uid_text)]);
    });
    cursor.member("queued_jobs", claims.queued_jobs);
    cursor.end_object();
}

void read_cron(JsonCursor& cursor, CronClaim& cron) {
    cursor.begin_object();
    cursor.member("contract", cron.claim.contract);
    cursor.member("uid", cron.claim.uid);
    cursor.named_member("class", job_class_from, cron.claim.cls);
    cursor.member("gpus", cron.claim.gpus);
    cursor.member("begin_s", cron.begin_s);
    cursor.end_object();
}

void read_budget(JsonCursor& cursor, BudgetUse& use) {
    cursor.begin_object();
    cursor.member("period_start_s", use.period.start_s);
    cursor.member("period_end_s", use.period.end_s);
    cursor.member("gpu_s", use.gpu_s);
    cursor.member("outstanding_gpu_s", use.outstanding_gpu_s);
    cursor.end_object();
}

void read_node(JsonCursor& cursor, NodeShape& node) {
    cursor.begin_object();
    cursor.member("name", node.name);
    cursor.member("gpus", node.gpus);
    cursor.member("cpus", node.cpus);
    cursor.member("memory_mb", node.memory_mb);
    cursor.member("available", node.available);
    cursor.end_object();
}

void read_partition(JsonCursor& cursor, PartitionShape& partition) {
    cursor.begin_object();
    cursor.member("name", partition.name);
    cursor.member("min_nodes", partition.min_nodes);
    cursor.optional_member("max_nodes", partition.max_nodes);
    cursor.member("exclusive", partition.exclusive);
    cursor.optional_member("default_time_min", partition.default_time_min);
    cursor.optional_member("max_time_min", partition.max_time_min);
    cursor.member("priority_tier", partition.priority_tier);
    cursor.member("nodes");
    cursor.array([&] { read_node(cursor, partition.nodes.emplace_back()); });
    cursor.end_object();
}

void read_base(JsonCursor& cursor, LedgerBase& base) {
    cursor.begin_object();
    cursor.member("taken_s", base.taken_s);
    cursor.member("resolved_through", base.resolved_through);
    read_numbers(cursor, "counted", base.counted);
    read_numbers(cursor, "queued", base.queued);
    cursor.member("released");
    cursor.map([&](const std::string& text) { read_list(cursor, base.released[read_key<std::uint64_t>(cursor, text)]); });
    read_by_decision(cursor, "node_limits", base.node_limits);
    read_by_decision(cursor, "throttles", base.throttles);
    cursor.member("contracts");
    cursor.map([&](const std::string& key) { read_claims(cursor, base.contracts[key]); });
    cursor.member("crons");
    cursor.array([&] { read_cron(cursor, base.crons.emplace_back()); });
    cursor.member("metered_s", base.metered_s);
    cursor.member("budgets");
    cursor.map([&](const std::string& key) { read_budget(cursor, base.budgets[key]); });
    cursor.member("shape");
    cursor.begin_object();
    cursor.optional_member("default_partition", base.shape.default_partition);
    cursor.member("partitions");
    cursor.map([&](const std::string& name) { read_partition(cursor, base.shape.partitions[name]); });
    cursor.end_object();
    cursor.end_object();
    cursor.require(cursor.rest().empty());
}

/// A ledger of a hundred thousand claims has some megabytes.
constexpr off_t largest_file = off_t{1} << 30;

tl::unexpected<Error> io_error(const std::string& path, const char* verb) {
    return fail("io", fmt::format("{}: cannot {}: {}", path, verb, std::strerror(errno)));
}

Result<std::string> read_file(const std::string& path) {
    if (const auto regular = require_regular_or_absent(path); !regular) return tl::unexpected(regular.error());
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return io_error(path, "open");
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return io_error(path, "stat");
    if (status.st_size > largest_file)
        return fail("invalid", fmt::format("{}: cannot read: {} bytes are no ledger's size", path, status.st_size));
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        const ssize_t got = ::read(fd.get(), text.data() + have, text.size() - have);
        if (got < 0) return io_error(path, "read");
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return text;
}

Result<void> write_file(const std::string& path, std::string_view text) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (!fd) return io_error(path, "open");
    while (!text.empty()) {
        const ssize_t put = ::write(fd.get(), text.data(), text.size());
        if (put < 0) return io_error(path, "write");
        text.remove_prefix(static_cast<std::size_t>(put));
    }
    if (::fsync(fd.get()) != 0) return io_error(path, "sync");
    return {};
}

}  // namespace

Result<LedgerBase> read_ledger(const std::string& path) {
    const auto text = read_file(path);
    if (!text) return tl::unexpected(text.error());
    const auto bad = [&](std::string_view why) {
        return fail("invalid", fmt::format("ledger: cannot read: {}", why), path);
    };
    std::string_view rest = *text;
    if (!rest.starts_with(opening)) return bad("it is not a ledger of this version");
    rest.remove_prefix(opening.size());
    const std::string_view checksum = rest.substr(0, no_hash.size());
    rest.remove_prefix(checksum.size());
    if (!rest.starts_with(ledger_member) || !rest.ends_with("}\n")) return bad("it is cut off");
    rest = rest.substr(ledger_member.size(), rest.size() - ledger_member.size() - 2);
    if (blake2b_hex(rest) != checksum) return bad("its checksum does not match");
    LedgerBase base;
    JsonCursor cursor(rest);
    read_base(cursor, base);
    if (!cursor.ok()) return bad(fmt::format("its member \"{}\" is not as written", cursor.complaint()));
    return base;
}

Result<void> write_ledger(const std::string& path, const LedgerBase& base) {
    const std::string ledger = to_text(base);
    const std::string text = fmt::format("{}{}{}{}}}\n", opening, blake2b_hex(ledger), ledger_member, ledger);
    const std::string fresh = path + ".new";
    if (auto written = write_file(fresh, text); !written) return written;
    if (std::rename(fresh.c_str(), path.c_str()) != 0) return io_error(path, "replace");
    const Fd folder(::open(std::filesystem::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder) ::fsync(folder.get());
    return {};
}

}  // namespace accord
