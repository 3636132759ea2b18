// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin_state.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "store/journal_lines.hpp"
#include "store/served.hpp"
#include "sys/file_lock.hpp"

namespace accord {

bool plugin_holds_journal(const StorePaths& paths) {
    const auto controllers = journal_controllers(paths.journal);
    std::vector<std::uint32_t> writers{0};
    if (controllers) writers.insert(writers.end(), controllers->begin(), controllers->end());
    for (const auto writer : writers)
        if (is_locked(fmt::format("{}/{}.lock", paths.journal, writer)).value_or(false)) return true;
    return false;
}

bool wait_until_served(const StorePaths& paths, std::int64_t generation) {
    using namespace std::chrono_literals;
    const auto end = std::chrono::steady_clock::now() + 2s;
    while (plugin_holds_journal(paths)) {
        if (const auto served = read_served(paths.served); served && *served >= generation) return true;
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(20ms);
    }
    return true;
}

}  // namespace accord
