// SPDX-License-Identifier: GPL-2.0-or-later
#include "accordd_state.hpp"

#include <sys/stat.h>

#include "sys/file_lock.hpp"

namespace accord {

Result<AccorddState> accordd_state(const StorePaths& paths) {
    AccorddState state;
    const auto locked = is_locked(paths.accordd_lock);
    if (!locked) return tl::unexpected<Error>(locked.error());
    state.running = *locked;
    struct stat about {};
    if (::stat(paths.accordd_lock.c_str(), &about) == 0) state.last_pass_s = about.st_mtime;
    return state;
}

}  // namespace accord
