// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/journal.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "store/journal_files.hpp"
#include "sys/fd.hpp"

namespace accord {
namespace {

constexpr std::size_t chunk_bytes = 1 << 20;

/// Hands out the record in `line` if its number is above `after`.
Result<bool> use_line(std::string_view line, std::uint64_t after, const std::function<void(const JournalRecord&)>& use) {
    const auto id = id_of_line(line);
    if (id && id->number <= after) return false;
    auto record = decode_record(line);
    if (!record) return tl::unexpected(record.error());
    if (hash_of_line(line) != record->hash)
        return fail("invalid", "journal: cannot trust a record: it does not have the hash that it names");
    use(*record);
    return true;
}

}  // namespace

JournalReader::JournalReader(std::string dir, std::uint32_t controller)
    : dir_(std::move(dir)), controller_(controller) {}

Result<std::size_t> JournalReader::read_new(std::uint64_t after, const std::function<void(const JournalRecord&)>& use) {
    const auto files = journal_files(dir_, controller_);
    if (!files) return tl::unexpected(files.error());
    std::size_t count = 0;
    for (std::size_t i = 0; i < files->size(); ++i) {
        const bool all_known = i + 1 < files->size() && (*files)[i + 1].first <= after + 1;
        if (all_known) continue;
        const auto found = read_file((*files)[i].path, after, use);
        if (!found) return found;
        count += *found;
    }
    return count;
}

Result<std::size_t> JournalReader::read_file(const std::string& path, std::uint64_t after,
                                             const std::function<void(const JournalRecord&)>& use) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) return fail("io", fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
    std::uint64_t& offset = offsets_[path];  // of the first byte of `pending`
    std::string pending;
    std::size_t count = 0;
    while (true) {
        const std::size_t held = pending.size();
        pending.resize(held + chunk_bytes);
        const ssize_t got = ::pread(fd.get(), pending.data() + held, chunk_bytes, static_cast<off_t>(offset + held));
        if (got < 0) return fail("io", fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
        pending.resize(held + static_cast<std::size_t>(got));
        if (got == 0) return count;
        std::size_t start = 0;
        for (std::size_t end; (end = pending.find('\n', std::max(start, held))) != std::string::npos; start = end + 1) {
            const auto line_at = std::exchange(offset, offset + (end + 1 - start));
            const auto used = use_line(std::string_view(pending).substr(start, end - start), after, use);
            if (!used) return fail(used.error().code, used.error().what, fmt::format("{}:byte {}", path, line_at));
            count += *used ? 1 : 0;
        }
        pending.erase(0, start);
    }
}

}  // namespace accord
