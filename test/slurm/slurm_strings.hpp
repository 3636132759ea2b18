// SPDX-License-Identifier: GPL-2.0-or-later
// Texts that Slurm's structures want as char *, kept for the length of a test.
#pragma once

#include <deque>
#include <string>

class SlurmStrings {
public:
    char* operator()(const std::string& text) { return kept_.emplace_back(text).data(); }

private:
    std::deque<std::string> kept_;
};
