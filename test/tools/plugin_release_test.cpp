// SPDX-License-Identifier: GPL-2.0-or-later
#include <fstream>
#include <iterator>

#include "accord/doctor/plugin_release.hpp"
#include "catch.hpp"
#include "slurm/compat.hpp"

using namespace accord;

namespace {

constexpr const char* job_submit = ACCORD_PLUGINS "/job_submit/.libs/job_submit_accord.so";

std::string contents(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

TEST_CASE("a plugin's file tells the version of Slurm that it is built for", "[C08]") {
    CHECK(plugin_version_of(job_submit) == compat::build_version);
    CHECK(plugin_version_of(ACCORD_PLUGINS "/spank/.libs/spank_accord.so") == compat::build_version);
}

TEST_CASE("a file that is no plugin tells no version", "[C08]") {
    CHECK_FALSE(plugin_version_of("/nonexistent"));
    CHECK_FALSE(plugin_version_of("/etc/passwd"));
    CHECK_FALSE(plugin_version_of(ACCORD_PROGRAM));
    CHECK_FALSE(plugin_version_in(""));
}

TEST_CASE("a plugin's file that is cut off anywhere is read no further than its end", "[C08]") {
    const auto whole = contents(job_submit);
    REQUIRE(whole.size() > 1000);
    for (std::size_t size = 0; size < whole.size(); size += whole.size() / 97 + 1)
        CHECK_FALSE(plugin_version_in(std::string_view(whole).substr(0, size)));
}

TEST_CASE("releases are written as Slurm writes them", "[C08]") {
    CHECK(compat::release_name(0x160508) == "22.05.8");
    CHECK(compat::release_name(0x180b0a) == "24.11.10");
}
