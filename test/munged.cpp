// SPDX-License-Identifier: GPL-2.0-or-later
// Starts munged in the foreground and waits for its socket.
#include "munged.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

TestMunged::TestMunged() {
    char name[] = "/tmp/accord-munge-XXXXXX";
    if (mkdtemp(name) == nullptr) throw std::runtime_error("no folder for munged");
    dir_ = name;
    chmod(name, 0755);  // NOLINT: others connect to the socket
    const std::string key = dir_ + "/key";
    std::ofstream(key) << "0123456789abcdef0123456789abcdef" << dir_;
    chmod(key.c_str(), 0400);
    pid_ = fork();
    if (pid_ == 0) {
        const int quiet = open("/dev/null", O_RDWR);
        dup2(quiet, 1);
        dup2(quiet, 2);
        const std::string pid_file = dir_ + "/pid", seed = dir_ + "/seed", log = dir_ + "/log";
        execlp("munged", "munged", "--foreground", "--force", "--key-file", key.c_str(), "--socket", socket().c_str(),
               "--pid-file", pid_file.c_str(), "--seed-file", seed.c_str(), "--log-file", log.c_str(), nullptr);
        _exit(127);
    }
    for (int tries = 0; tries < 500 && access(socket().c_str(), F_OK) != 0; ++tries) {
        if (waitpid(pid_, nullptr, WNOHANG) != 0) throw std::runtime_error("munged did not start");
        usleep(20'000);
    }
}

void TestMunged::stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

TestMunged::~TestMunged() {
    stop();
    std::filesystem::remove_all(dir_);
}
