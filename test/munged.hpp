// SPDX-License-Identifier: GPL-2.0-or-later
// A munged of a test's own, with a key of its own, in a folder that goes with it.
#pragma once

#include <sys/types.h>

#include <string>

class TestMunged {
public:
    TestMunged();
    ~TestMunged();
    TestMunged(const TestMunged&) = delete;
    TestMunged& operator=(const TestMunged&) = delete;
    [[nodiscard]] std::string socket() const { return dir_ + "/socket"; }
    void stop();

private:
    std::string dir_;
    pid_t pid_ = -1;
};
