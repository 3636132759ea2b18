// SPDX-License-Identifier: GPL-2.0-or-later
// For LD_PRELOAD: while the file that LATE_CLOCK names is there, the process's clock is an hour late. Its steady clock goes
// on, as when an administrator sets the date. Waits until a time of day are meant by the late clock.
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace {

long late_s() {
    static const char* const file = std::getenv("LATE_CLOCK");
    return file != nullptr && syscall(SYS_access, file, F_OK) == 0 ? 3600 : 0;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) {
    const auto failed = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
    if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec -= late_s();
    return failed;
}

int gettimeofday(timeval* __restrict now, void* __restrict) {
    timespec fine{};
    clock_gettime(CLOCK_REALTIME, &fine);
    *now = {fine.tv_sec, fine.tv_nsec / 1000};
    return 0;
}

time_t time(time_t* to) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (to != nullptr) *to = now.tv_sec;
    return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t* __restrict condition, pthread_mutex_t* __restrict mutex,
                           const timespec* __restrict until) {
    const timespec really{until->tv_sec + late_s(), until->tv_nsec};
    return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, &really);
}

}  // extern "C"
