// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "store/hash.hpp"
#include "store/journal_files.hpp"
#include "sys/fd.hpp"

namespace accord {
namespace {

/// Most writers at once.
constexpr int most_writers = 8;

/// Where a chain stands: its last whole record, and whether anything damaged follows it.
struct ChainEnd {
    std::uint64_t number = 0;
    std::string hash{no_hash};
    bool damaged = false;
};

tl::unexpected<Error> io_error(const std::string& path, const char* verb) {
    return fail("io", fmt::format("{}: cannot {}: {}", path, verb, std::strerror(errno)));
}

/// The last `size` bytes of the file, or all of it if it is shorter.
Result<std::string> read_tail(const Fd& fd, const std::string& path, std::size_t file_size, std::size_t size) {
    std::string text(std::min(size, file_size), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        const ssize_t got = ::pread(fd.get(), text.data() + have, text.size() - have,
                                    static_cast<off_t>(file_size - text.size() + have));
        if (got < 0) return io_error(path, "read");
        if (got == 0) return fail("io", fmt::format("{}: cannot read: it became shorter", path));
        have += static_cast<std::size_t>(got);
    }
    return text;
}

/// Looks back from the end of `text` for a whole record; `damaged` tells of whole lines that are none.
bool find_last_record(std::string_view text, bool from_start, ChainEnd& end) {
    auto line_end = text.rfind('\n');
    while (line_end != std::string_view::npos) {
        const auto before = line_end == 0 ? std::string_view::npos : text.rfind('\n', line_end - 1);
        if (before == std::string_view::npos && !from_start) return false;
        const auto start = before == std::string_view::npos ? 0 : before + 1;
        const std::string_view line = text.substr(start, line_end - start);
        const auto id = id_of_line(line);
        if (id && hash_of_line(line) == hash_in_line(line) && !hash_in_line(line).empty()) {
            end.number = id->number;
            end.hash = hash_in_line(line);
            return true;
        }
        end.damaged = true;
        line_end = before;
    }
    return false;
}

/// True when the file holds a whole record.
Result<bool> read_chain_end(const std::string& path, ChainEnd& end) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) return io_error(path, "open");
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return io_error(path, "stat");
    const auto file_size = static_cast<std::size_t>(status.st_size);
    for (std::size_t size = 1 << 16;; size *= 4) {
        const auto text = read_tail(fd, path, file_size, size);
        if (!text) return tl::unexpected(text.error());
        const bool whole_file = text->size() == file_size;
        if (find_last_record(*text, whole_file, end)) return true;
        if (whole_file) return false;
    }
}

/// Takes the first free of the folder's writer locks; the lock goes with the descriptor.
Result<std::pair<Fd, int>> lock_folder(const std::string& dir, std::uint32_t controller) {
    const std::string path = fmt::format("{}/{}.lock", dir, controller);
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (!fd) return io_error(path, "open");
    for (int writer = 0; writer < most_writers; ++writer) {
        struct flock range {};
        range.l_type = F_WRLCK;
        range.l_whence = SEEK_SET;
        range.l_start = writer;
        range.l_len = 1;
        if (::fcntl(fd.get(), F_OFD_SETLK, &range) == 0) return std::pair(std::move(fd), writer);
        if (errno != EAGAIN && errno != EACCES) return io_error(path, "lock");
    }
    return fail("unavailable", fmt::format("{}: cannot lock: {} writers are there already", path, most_writers));
}

}  // namespace

struct JournalWriter::State {
    std::string dir;
    std::uint32_t controller = 0;
    Fd lock;
    std::uint64_t next = 1;
    std::string head;

    Fd file;
    std::string path;
    std::int64_t day = 0;
    off_t size = 0;
    bool torn = false;  ///< part of a record that could not be written may still be behind `size`

    Result<void> open_file(std::int64_t time_s);
    Result<void> write(std::string_view line);
    bool cut_torn_part();
};

/// A file of this name can only be there when its first record was never whole.
Result<void> JournalWriter::State::open_file(std::int64_t time_s) {
    if (file && day_of(time_s) == day) return {};
    std::string name = dir + "/" + journal_file_name(controller, next, time_s);
    Fd opened(::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (!opened) return io_error(name, "open");
    file = std::move(opened);
    path = std::move(name);
    day = day_of(time_s);
    size = 0;
    torn = false;
    return {};
}

bool JournalWriter::State::cut_torn_part() {
    if (torn && ::ftruncate(file.get(), size) == 0) torn = false;
    return !torn;
}

Result<void> JournalWriter::State::write(std::string_view line) {
    if (!cut_torn_part()) return io_error(path, "cut off a torn record");
    ssize_t written = 0;
    do written = ::write(file.get(), line.data(), line.size());
    while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(line.size())) {
        size += written;
        return {};
    }
    if (written >= 0) errno = ENOSPC;
    const auto error = io_error(path, "write");
    torn = written > 0;
    cut_torn_part();
    return error;
}

JournalWriter::JournalWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
JournalWriter::JournalWriter(JournalWriter&&) noexcept = default;
JournalWriter& JournalWriter::operator=(JournalWriter&&) noexcept = default;
JournalWriter::~JournalWriter() = default;

Result<JournalWriter> JournalWriter::open(const std::string& dir, std::uint32_t controller) {
    if (::mkdir(dir.c_str(), 0750) != 0 && errno != EEXIST) return io_error(dir, "make the journal's folder");
    auto lock = lock_folder(dir, controller);
    if (!lock) return tl::unexpected(lock.error());
    const auto files = journal_files(dir, controller);
    if (!files) return tl::unexpected(files.error());

    ChainEnd end;
    for (auto file = files->rbegin(); file != files->rend(); ++file) {
        const auto found = read_chain_end(file->path, end);
        if (!found) return tl::unexpected(found.error());
        if (*found) break;
    }
    auto state = std::make_unique<State>();
    state->dir = dir;
    state->controller = controller;
    state->lock = std::move(lock->first);
    state->head = end.hash;
    const auto blocks_ahead = static_cast<std::uint64_t>(lock->second) + (end.damaged ? 1 : 0);
    const auto block = end.number / journal_block_size + 1 + blocks_ahead;
    state->next = blocks_ahead == 0 ? end.number + 1 : block * journal_block_size + 1;
    return JournalWriter(std::move(state));
}

Result<DecisionId> JournalWriter::append(JournalRecord& record) {
    if (auto opened = state_->open_file(record.decision.time_s); !opened) return tl::unexpected(opened.error());
    record.id = next_id();
    record.prev_hash = state_->head;
    std::string line = encode(record);
    line += '\n';
    if (auto written = state_->write(line); !written) return tl::unexpected(written.error());
    state_->head = record.hash;
    ++state_->next;
    return record.id;
}

DecisionId JournalWriter::next_id() const { return {state_->controller, state_->next}; }

std::string JournalWriter::head() const { return state_->head; }

}  // namespace accord
