// SPDX-License-Identifier: GPL-2.0-or-later
// The test programs' main, and a listener that reports each test case as one line of TAP where ACCORD_TAP is set.
#include "config.h"

#define CATCH_CONFIG_RUNNER
#include "catch.hpp"
#include "root.hpp"

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

#ifdef HAVE_CATCH2_V3
using ListenerBase = Catch::EventListenerBase;
const std::string& name_of(const Catch::TestCaseStats& stats) { return stats.testInfo->name; }
#else
using ListenerBase = Catch::TestEventListenerBase;
const std::string& name_of(const Catch::TestCaseStats& stats) { return stats.testInfo.name; }
#endif

class TapListener : public ListenerBase {
public:
    using ListenerBase::ListenerBase;

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        ++cases_;
        if (wanted_) {
            std::cout << (stats.totals.testCases.failed == 0 ? "ok " : "not ok ") << cases_ << " - " << name_of(stats)
                      << (skip_reason().empty() ? "" : " # SKIP " + skip_reason()) << std::endl;
        }
        skip_reason().clear();
    }

    void testRunEnded(const Catch::TestRunStats&) override {
        if (wanted_) { std::cout << "1.." << cases_ << std::endl; }
    }

private:
    const bool wanted_ = std::getenv("ACCORD_TAP") != nullptr;
    int cases_ = 0;
};

CATCH_REGISTER_LISTENER(TapListener)

}  // namespace

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
