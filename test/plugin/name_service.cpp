// SPDX-License-Identifier: GPL-2.0-or-later
#include "name_service.hpp"

#include <grp.h>
#include <netdb.h>
#include <pwd.h>

#include <atomic>

namespace {

std::atomic<int> calls{0};

template <typename T>
T asked(T answer) {
    ++calls;
    return answer;
}

}  // namespace

int name_service_calls() { return calls; }

extern "C" {

passwd* getpwnam(const char*) { return asked<passwd*>(nullptr); }
passwd* getpwuid(uid_t) { return asked<passwd*>(nullptr); }
group* getgrnam(const char*) { return asked<group*>(nullptr); }
group* getgrgid(gid_t) { return asked<group*>(nullptr); }
int getpwnam_r(const char*, passwd*, char*, size_t, passwd** result) { return *result = nullptr, asked(0); }
int getpwuid_r(uid_t, passwd*, char*, size_t, passwd** result) { return *result = nullptr, asked(0); }
int getgrnam_r(const char*, group*, char*, size_t, group** result) { return *result = nullptr, asked(0); }
int getgrgid_r(gid_t, group*, char*, size_t, group** result) { return *result = nullptr, asked(0); }
int getgrouplist(const char*, gid_t, gid_t*, int*) { return asked(-1); }
int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**) { return asked(EAI_FAIL); }
hostent* gethostbyname(const char*) { return asked<hostent*>(nullptr); }

}  // extern "C"
