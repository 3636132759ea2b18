// SPDX-License-Identifier: GPL-2.0-or-later
// A node's records: starts apart, leftovers gone, nothing left at the end.
#include "scope/job_state.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "root.hpp"
#include "sandbox.hpp"
#include "scope/view.hpp"

using namespace accord;

namespace {

Verdict good() {
    Verdict verdict;
    verdict.kind = Verdict::Kind::ok;
    return verdict;
}

NodePlace place_in(const Sandbox& box, const std::string& node = "n1") { return {box.path("run"), "demo", node}; }

/// A finished start: its folder with a verdict in it.
void start(NodeState& state, const JobStart& start, const Verdict& verdict) {
    const auto folder = state.make(start);
    REQUIRE(folder.has_value());
    REQUIRE(write_record(folder->get(), "verdict", to_text(verdict)).has_value());
}

std::string reason_of(const Result<JobRecord>& record) { return record ? "none" : record.error().what; }

}  // namespace

TEST_CASE("A task reads the verdict of its job's start") {
    if (!is_root()) return;
    const Sandbox box;
    auto state = NodeState::open(place_in(box));
    REQUIRE(state.has_value());
    Verdict verdict = good();
    verdict.context = {{"ACCORD_CLASS", "borrowed"}};
    start(*state, {42, 0}, verdict);
    const auto record = read_job_record(place_in(box), 42, getpid());
    REQUIRE(record.has_value());
    CHECK(record->verdict == verdict);
    CHECK_FALSE(record->view);
}

TEST_CASE("Without a verdict, or with half of one, there is none") {
    if (!is_root()) return;
    const Sandbox box;
    CHECK(reason_of(read_job_record(place_in(box), 42, getpid())) == "node n1 has no verdict for job 42");
    auto state = NodeState::open(place_in(box));
    REQUIRE(state.has_value());
    const auto folder = state->make({42, 0});
    REQUIRE(folder.has_value());
    CHECK_FALSE(read_job_record(place_in(box), 42, getpid()).has_value());
    REQUIRE(write_record(folder->get(), "verdict", "ok\n").has_value());
    CHECK_FALSE(read_job_record(place_in(box), 42, getpid()).has_value());
}

TEST_CASE("A verdict with a view counts only with the view") {
    if (!is_root()) return;
    const Sandbox box;
    auto state = NodeState::open(place_in(box));
    REQUIRE(state.has_value());
    const auto folder = state->make({42, 0});
    REQUIRE(folder.has_value());
    Verdict verdict = good();
    verdict.has_view = true;
    REQUIRE(make_pin(folder->get()).has_value());
    REQUIRE(write_record(folder->get(), "verdict", to_text(verdict)).has_value());
    CHECK_FALSE(read_job_record(place_in(box), 42, getpid()).has_value());
    const auto pin = make_pin(folder->get());
    REQUIRE(make_view({{}, {}, {}}, pin->get()).has_value());
    const auto record = read_job_record(place_in(box), 42, getpid());
    REQUIRE(record.has_value());
    CHECK(record->view);
}

TEST_CASE("An earlier start's verdict does not outlive the next start") {
    if (!is_root()) return;
    const Sandbox box;
    auto state = NodeState::open(place_in(box));
    REQUIRE(state.has_value());
    start(*state, {42, 0}, good());
    start(*state, {420, 0}, good());
    REQUIRE(state->make({42, 1}).has_value());
    CHECK_FALSE(state->has("42.0"));
    CHECK_FALSE(read_job_record(place_in(box), 42, getpid()).has_value());
    CHECK(read_job_record(place_in(box), 420, getpid()).has_value());
}

TEST_CASE("Two starts at once are one too many") {
    if (!is_root()) return;
    const Sandbox box;
    auto state = NodeState::open(place_in(box));
    REQUIRE(state.has_value());
    start(*state, {42, 0}, good());
    std::filesystem::copy(box.path("run/demo/n1/42.0"), box.path("run/demo/n1/42.1"), std::filesystem::copy_options::recursive);
    CHECK_FALSE(read_job_record(place_in(box), 42, getpid()).has_value());
}

TEST_CASE("Nodes of one host are apart") {
    if (!is_root()) return;
    const Sandbox box;
    auto n1 = NodeState::open(place_in(box, "n1")), n2 = NodeState::open(place_in(box, "n2"));
    REQUIRE((n1 && n2));
    start(*n1, {42, 0}, good());
    CHECK_FALSE(read_job_record(place_in(box, "n2"), 42, getpid()).has_value());
    CHECK(n2->remove(42).has_value());
    CHECK(n1->has("42.0"));
}

TEST_CASE("The last job takes every folder and mount with it") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("scratch", 0, 01777);
    const int before = mounts_under(box.path());
    auto state = NodeState::open(place_in(box));
    REQUIRE(state.has_value());
    {
        const auto folder = state->make({42, 0});
        REQUIRE(folder.has_value());
        REQUIRE(make_view({{}, {}, {}}, make_pin(folder->get())->get()).has_value());
    }
    CHECK(mounts_under(box.path()) == before + 2);
    CHECK(state->remove(42).has_value());
    state->close();
    CHECK(mounts_under(box.path()) == before);
    CHECK_FALSE(box.exists("run/demo"));
}

TEST_CASE("The mount stays while another job or another prolog needs it") {
    if (!is_root()) return;
    const Sandbox box;
    const int before = mounts_under(box.path());
    auto first = NodeState::open(place_in(box)), second = NodeState::open(place_in(box));
    REQUIRE((first && second));
    CHECK(mounts_under(box.path()) == before + 1);
    first->close();
    CHECK(mounts_under(box.path()) == before + 1);
    start(*second, {7, 0}, good());
    second->close();
    CHECK(mounts_under(box.path()) == before + 1);
    CHECK(box.exists("run/demo/n1/7.0/verdict"));
}

TEST_CASE("A job that begins while the last one ends gets its folder") {
    if (!is_root()) return;
    const Sandbox box;
    const auto many_jobs = [&](const std::string& node, std::uint32_t job) {
        for (int round = 0; round < 300; ++round) {
            auto state = NodeState::open(place_in(box, node));
            if (!state || !state->make({job, 0}) || !state->remove(job)) return false;
            state->close();
        }
        return true;
    };
    CHECK(in_child([&] {
        std::vector<std::thread> epilogs;
        std::atomic<int> good = 0;
        for (const auto& [node, job] : {std::pair("n1", 1u), std::pair("n1", 2u), std::pair("n2", 3u), std::pair("n3", 4u)})
            epilogs.emplace_back([&, node = node, job = job] { good += many_jobs(node, job) ? 1 : 0; });
        for (auto& one : epilogs) one.join();
        return good == 4;
    }));
    CHECK_FALSE(box.exists("run/demo"));
}

TEST_CASE("What a crash left is gone when the node's folder is mounted anew") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("run/demo/n1/42.0", 0, 0700);
    box.file("run/demo/n1/42.0/verdict", "ok\nend\n");
    chmod(box.path("run/demo").c_str(), 0700);
    chmod(box.path("run/demo/n1").c_str(), 0700);
    auto state = NodeState::open(place_in(box));
    REQUIRE(state.has_value());
    CHECK_FALSE(state->has("42.0"));
}

TEST_CASE("A folder that somebody else could have made is not used") {
    if (!is_root()) return;
    const Sandbox box;
    box.folder("run/demo", 12345, 0700);
    const auto state = NodeState::open(place_in(box));
    REQUIRE_FALSE(state.has_value());
    CHECK(state.error().what == "demo: cannot be used: the folder is not root's alone");
    CHECK_FALSE(NodeState::open({box.path("run"), "..", "n1"}).has_value());
    CHECK_FALSE(NodeState::open({box.path("run"), "a/b", "n1"}).has_value());
}
