// SPDX-License-Identifier: GPL-2.0-or-later
// accordd: starts, runs a pass whenever one is due, ends on SIGTERM and SIGINT; tells systemd how it is.
#include "config.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "contract/config_toml.hpp"
#include "daemon.hpp"
#include "sys/fd.hpp"

namespace accord {
namespace {

struct EventFree {
    void operator()(sd_event* event) const { sd_event_unref(event); }
};
using Event = std::unique_ptr<sd_event, EventFree>;

/// What the event loop's callbacks work on.
struct Loop {
    sd_event* event;
    Daemon* daemon;
    int lock;  ///< the store's lock file
    bool ready = false;
    std::optional<Error> failure;
};

std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

/// One accordd for each store: two would overwrite each other's ledger. Held until the process ends.
Result<Fd> lock_store(const std::string& dir) {
    const auto path = dir + "/accordd.lock";
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (!fd) return fail("io", fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
    if (errno == EWOULDBLOCK) return fail("unavailable", path + ": another accordd works on this store");
    return fail("io", fmt::format("{}: cannot lock: {}", path, std::strerror(errno)));
}

int run_pass(sd_event_source* timer, uint64_t, void* data) {
    auto& loop = *static_cast<Loop*>(data);
    if (auto done = loop.daemon->pass(); !done) {
        loop.failure = done.error();
        return sd_event_exit(loop.event, 1);
    }
    ::futimens(loop.lock, nullptr);  // by the file's time others see that passes go on
    sd_notifyf(0, "%sSTATUS=%s", loop.ready ? "" : "READY=1\n", loop.daemon->status().c_str());
    loop.ready = true;
    // CLOCK_MONOTONIC is the steady clock's.
    const auto next = std::chrono::duration_cast<std::chrono::microseconds>(loop.daemon->next_pass().time_since_epoch());
    sd_event_source_set_time(timer, static_cast<uint64_t>(next.count()));
    return sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

Result<void> run_loop(Daemon& daemon, const Fd& lock) {
    const auto check = [](int code, const char* what) -> Result<void> {
        if (code >= 0) return {};
        return fail("io", fmt::format("accordd: cannot {}: {}", what, std::strerror(-code)));
    };
    sd_event* raw = nullptr;
    if (auto made = check(sd_event_new(&raw), "make an event loop"); !made) return made;
    const Event event(raw);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    Loop loop{event.get(), &daemon, lock.get()};
    for (const int signal : {SIGTERM, SIGINT})
        if (auto added = check(sd_event_add_signal(event.get(), nullptr, signal, nullptr, nullptr), "wait for signals");
            !added)
            return added;
    if (auto set = check(sd_event_set_watchdog(event.get(), 1), "keep the watchdog"); !set) return set;
    if (auto added = check(sd_event_add_time(event.get(), nullptr, CLOCK_MONOTONIC, 0, 0, run_pass, &loop), "set a timer");
        !added)
        return added;
    const int code = sd_event_loop(event.get());
    sd_notify(0, "STOPPING=1");
    if (loop.failure) return tl::unexpected(*loop.failure);
    return check(code, "run its event loop");
}

Result<void> run_daemon() {
    auto policy = PolicyWatch::open(config_path());
    if (!policy) return tl::unexpected(policy.error());
    const auto lock = lock_store(policy->config().store_dir);
    if (!lock) return tl::unexpected(lock.error());
    const auto cluster = connect_slurm();
    log_line(LogLevel::info, fmt::format("accordd {} on {}", PACKAGE_VERSION, policy->config().store_dir));
    Daemon daemon(std::move(*policy), *cluster, host_name());
    return run_loop(daemon, *lock);
}

}  // namespace
}  // namespace accord

int main(int argc, char** argv) {
    CLI::App app("Follows the jobs and decisions of an Accord cluster, and promotes and releases pending jobs.\n"
                 "Runs in the foreground, as SlurmUser. ACCORD_CONF and SLURM_CONF name the configuration.",
                 "accordd");
    app.set_version_flag("--version", "accordd " PACKAGE_VERSION);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    ::umask(0027);
    const auto done = accord::run_daemon();
    if (done) return 0;
    const auto& error = done.error();
    accord::log_line(accord::LogLevel::error, error.where.empty() ? error.what : error.where + ": " + error.what);
    return 1;
}
