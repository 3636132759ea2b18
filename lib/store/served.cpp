// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/served.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include <fmt/format.h>

#include "sys/fd.hpp"
#include "sys/system_error.hpp"

namespace accord {

Result<void> write_served(const std::string& path, std::int64_t generation) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (!fd) return fail_errno(path + ": cannot open");
    const auto text = fmt::format("{}\n", generation);
    if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return fail_errno(path + ": cannot write");
    return {};
}

std::optional<std::int64_t> read_served(const std::string& path) {
    std::ifstream file(path);
    std::int64_t generation = 0;
    // the end of the line says that the number is whole
    if (!(file >> generation) || file.get() != '\n') return std::nullopt;
    return generation;
}

}  // namespace accord
