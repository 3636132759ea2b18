// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/journal_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/format.h>

namespace accord {

Result<JournalLines> JournalLines::open(const std::string& dir, std::uint32_t controller) {
    auto files = journal_files(dir, controller);
    if (!files) return tl::unexpected(files.error());
    return JournalLines(std::move(*files));
}

Result<bool> JournalLines::next(JournalLine& line) {
    for (;;) {
        if (file_.is_open()) {
            if (std::getline(file_, line.text) && !file_.eof()) {
                line.place = fmt::format("{}:{}", name_, ++line_);
                return true;
            }
            if (file_.bad()) return fail("io", fmt::format("{}: cannot read: {}", name_, std::strerror(errno)));
            if (!line.text.empty()) torn_.push_back(name_);
            file_.close();
        }
        if (next_file_ == files_.size()) return false;
        const auto& path = files_[next_file_++].path;
        file_.clear();
        file_.open(path, std::ios::binary);
        if (!file_) return fail("io", fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
        name_ = std::filesystem::path(path).filename().string();
        line_ = 0;
    }
}

Result<JournalEnds> journal_ends(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    JournalEnds ends;
    if (!file) return fail("io", fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
    if (!std::getline(file, ends.first) || file.eof()) return JournalEnds{};
    file.seekg(0, std::ios::end);
    const auto size = static_cast<std::size_t>(file.tellg());
    for (std::size_t length = 1 << 16;; length *= 4) {
        std::string tail(std::min(length, size), '\0');
        file.seekg(static_cast<std::streamoff>(size - tail.size()));
        if (!file.read(tail.data(), static_cast<std::streamsize>(tail.size())))
            return fail("io", fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
        const auto end = tail.rfind('\n');
        const auto before = end == std::string::npos || end == 0 ? std::string::npos : tail.rfind('\n', end - 1);
        if (before == std::string::npos && tail.size() < size) continue;
        const auto start = before == std::string::npos ? 0 : before + 1;
        ends.last = tail.substr(start, end - start);
        return ends;
    }
}

Result<std::vector<std::uint32_t>> journal_controllers(const std::string& dir) {
    std::set<std::uint32_t> found;
    std::error_code error;
    std::filesystem::directory_iterator entry(dir, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const auto name = entry->path().filename().string();
        std::uint32_t controller = 0;
        const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), controller);
        if (bad == std::errc{} && *end == '-' && name.ends_with(".jsonl")) found.insert(controller);
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return fail("io", fmt::format("{}: cannot list the journal: {}", dir, error.message()));
    return std::vector(found.begin(), found.end());
}

}  // namespace accord
