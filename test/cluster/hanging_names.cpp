// SPDX-License-Identifier: GPL-2.0-or-later
// Preloaded into a daemon, a name service that hangs: while the file $HANGING_NAMES is there, look-ups of people, groups
// and hosts do not return if an object whose name has $HANGING_FOR in it is among their callers. slurmctld looks up each
// submission's user itself, with Accord or without, and has to go on. $HANGING_NAMES.log tells of every look-up made
// meanwhile, hanging or not: who asked, and which function.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool among_callers(const char* object) {
    void* frames[128];
    const int count = backtrace(frames, 128);
    for (int i = 0; i < count; ++i) {
        Dl_info info;
        if (dladdr(frames[i], &info) != 0 && std::strstr(info.dli_fname, object) != nullptr) return true;
    }
    return false;
}

void note(const std::string& path, const std::string& line) {
    const int log = open((path + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0) return;
    [[maybe_unused]] const ssize_t written = write(log, line.data(), line.size());
    close(log);
}

void ask(const char* function) {
    const char* const path = std::getenv("HANGING_NAMES");
    const char* const object = std::getenv("HANGING_FOR");
    if (path == nullptr || object == nullptr || access(path, F_OK) != 0) return;
    const bool hangs = among_callers(object);
    note(path, std::string(hangs ? object : "other") + " " + function + "\n");
    while (hangs && access(path, F_OK) == 0) usleep(10'000);
}

/// libc's own function of that name, after what there is to wait for.
template <typename Function>
Function* real(const char* name, Function*) {
    ask(name);
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define REAL(function) real(#function, &function)

extern "C" {

passwd* getpwnam(const char* name) { return REAL(getpwnam)(name); }
passwd* getpwuid(uid_t uid) { return REAL(getpwuid)(uid); }
group* getgrnam(const char* name) { return REAL(getgrnam)(name); }
group* getgrgid(gid_t gid) { return REAL(getgrgid)(gid); }
int getpwnam_r(const char* name, passwd* entry, char* buffer, size_t size, passwd** result) {
    return REAL(getpwnam_r)(name, entry, buffer, size, result);
}
int getpwuid_r(uid_t uid, passwd* entry, char* buffer, size_t size, passwd** result) {
    return REAL(getpwuid_r)(uid, entry, buffer, size, result);
}
int getgrnam_r(const char* name, group* entry, char* buffer, size_t size, group** result) {
    return REAL(getgrnam_r)(name, entry, buffer, size, result);
}
int getgrgid_r(gid_t gid, group* entry, char* buffer, size_t size, group** result) {
    return REAL(getgrgid_r)(gid, entry, buffer, size, result);
}
int getgrouplist(const char* user, gid_t own, gid_t* groups, int* count) {
    return REAL(getgrouplist)(user, own, groups, count);
}
int initgroups(const char* user, gid_t own) { return REAL(initgroups)(user, own); }
hostent* gethostbyname(const char* name) { return REAL(gethostbyname)(name); }
int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** result) {
    return REAL(getaddrinfo)(node, service, hints, result);
}
int getnameinfo(const sockaddr* address, socklen_t length, char* host, socklen_t host_size, char* service,
                socklen_t service_size, int flags) {
    return REAL(getnameinfo)(address, length, host, host_size, service, service_size, flags);
}

}  // extern "C"
