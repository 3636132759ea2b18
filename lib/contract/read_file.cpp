// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/read_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace accord {

namespace {

class Fd {
public:
    explicit Fd(int fd) : fd_(fd) {}
    ~Fd() {
        if (fd_ >= 0) ::close(fd_);
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

tl::unexpected<Error> cannot_read(const std::string& path, const std::string& reason) {
    return fail("io", "cannot read: " + reason, path);
}

std::string reason_for(int error, Links links) {
    if (error == ELOOP && links == Links::refuse) return "it is a symbolic link, and links are not followed";
    return std::strerror(error);
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, Links links, std::size_t most_bytes) {
    const int no_links = links == Links::refuse ? O_NOFOLLOW : 0;
    // O_NONBLOCK: a named pipe must not hold up the open
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | no_links));
    if (fd.get() < 0) return cannot_read(path, reason_for(errno, links));
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return cannot_read(path, std::strerror(errno));
    if (!S_ISREG(about.st_mode)) return cannot_read(path, "it is not a regular file");
    std::string text;
    char piece[65536];
    for (;;) {
        const auto got = ::read(fd.get(), piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path, std::strerror(errno));
        if (got == 0) return text;
        text.append(piece, static_cast<std::size_t>(got));
        if (text.size() > most_bytes) return cannot_read(path, fmt::format("it is larger than {} bytes", most_bytes));
    }
}

Result<std::vector<std::string>> toml_files_of(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
    std::vector<std::string> files;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().extension() == ".toml" && !entry->path().filename().string().starts_with("."))
            files.push_back((fs::path(path) / entry->path().filename()).string());
    if (error) return cannot_read(path, error.message());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace accord
