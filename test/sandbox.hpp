// SPDX-License-Identifier: GPL-2.0-or-later
// A folder for a test that mounts: on a shared tmpfs of its own, in a mount namespace of the test program's own.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>

#include "sys/mount_namespace.hpp"

class Sandbox {
public:
    Sandbox() {
        static const bool is_apart = accord::enter_new_namespace().has_value();
        char name[] = "/tmp/accord-test-XXXXXX";
        if (!is_apart || mkdtemp(name) == nullptr) throw std::runtime_error("no sandbox");
        dir_ = name;
        // Shared, as a host's file systems are: what a view did outside itself would be seen.
        if (mount("test", name, "tmpfs", 0, "mode=755") != 0 || mount(nullptr, name, nullptr, MS_SHARED, nullptr) != 0)
            throw std::runtime_error("no tmpfs for the sandbox");
    }
    ~Sandbox() {
        while (umount2(dir_.c_str(), MNT_DETACH) == 0) {}
        rmdir(dir_.c_str());
    }
    Sandbox(const Sandbox&) = delete;
    Sandbox& operator=(const Sandbox&) = delete;

    [[nodiscard]] std::string path(const std::string& relative = {}) const {
        return relative.empty() ? dir_ : dir_ + "/" + relative;
    }
    void folder(const std::string& relative, uid_t owner = 0, mode_t mode = 0755) const {
        std::filesystem::create_directories(path(relative));
        chmod(path(relative).c_str(), mode);
        if (chown(path(relative).c_str(), owner, owner) != 0) throw std::runtime_error("no chown");
    }
    void file(const std::string& relative, const std::string& text) const { std::ofstream(path(relative)) << text; }
    void link(const std::string& target, const std::string& relative) const {
        if (symlink(target.c_str(), path(relative).c_str()) != 0) throw std::runtime_error("no link");
    }
    [[nodiscard]] bool exists(const std::string& relative) const {
        return std::filesystem::exists(std::filesystem::symlink_status(path(relative)));
    }

private:
    std::string dir_;
};

/// How many mounts the process sees at and below `path`.
inline int mounts_under(const std::string& path) {
    std::ifstream table("/proc/self/mountinfo");
    int count = 0;
    for (std::string line, skip, point; std::getline(table, line);) {
        std::istringstream fields(line);
        fields >> skip >> skip >> skip >> skip >> point;
        if (point == path || point.starts_with(path + "/")) ++count;
    }
    return count;
}

/// Runs `body` in a child process; true when it said so.
inline bool in_child(const std::function<bool()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        bool good = false;
        try {
            good = body();
        } catch (...) {}
        _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
