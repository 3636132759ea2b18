// SPDX-License-Identifier: GPL-2.0-or-later
// Seals against a real munged: who can open them, and when.
#include "seal/munge.hpp"

#include <munge.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "munged.hpp"
#include "root.hpp"

using accord::Munge;

namespace {

// Runs `body` as another user; true when it said so.
template <typename Body>
bool as_user(uid_t uid, Body body) {
    const pid_t child = fork();
    if (child == 0) _exit(setresuid(uid, uid, uid) == 0 && body() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("A seal tells its payload and its maker to root") {
    if (!is_root()) return;
    const TestMunged munged;
    const Munge munge(munged.socket());
    const auto sealed = munge.seal("what was agreed");
    REQUIRE(sealed.has_value());
    const auto opened = munge.unseal(*sealed);
    REQUIRE(opened.has_value());
    CHECK(opened->payload == "what was agreed");
    CHECK(opened->uid == 0);

    SECTION("again, though munge has seen it before") { CHECK(munge.unseal(*sealed).has_value()); }
    SECTION("but to nobody else") {
        CHECK(as_user(65534, [&] {
            const auto denied = munge.unseal(*sealed);
            return !denied && denied.error().code == "invalid";
        }));
    }
}

TEST_CASE("A seal made by another user names that user") {
    if (!is_root()) return;
    const TestMunged munged;
    const Munge munge(munged.socket());
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(as_user(65534, [&] {
        const auto sealed = munge.seal("forged");
        return sealed && write(ends[1], sealed->data(), sealed->size()) == static_cast<ssize_t>(sealed->size());
    }));
    char text[4096];
    const ssize_t size = read(ends[0], text, sizeof text);
    close(ends[0]);
    close(ends[1]);
    REQUIRE(size > 0);
    const auto opened = munge.unseal(std::string(text, static_cast<std::size_t>(size)));
    REQUIRE(opened.has_value());
    CHECK(opened->uid == 65534);
}

TEST_CASE("An expired seal still opens") {
    if (!is_root()) return;
    const TestMunged munged;
    munge_ctx_t context = munge_ctx_create();
    munge_ctx_set(context, MUNGE_OPT_SOCKET, munged.socket().c_str());
    munge_ctx_set(context, MUNGE_OPT_TTL, 1);
    char* sealed = nullptr;
    REQUIRE(munge_encode(&sealed, context, "old", 3) == EMUNGE_SUCCESS);
    munge_err_t code = EMUNGE_SUCCESS;
    for (int tries = 0; tries < 100 && code != EMUNGE_CRED_EXPIRED; ++tries) {
        usleep(100'000);
        code = munge_decode(sealed, context, nullptr, nullptr, nullptr, nullptr);
    }
    REQUIRE(code == EMUNGE_CRED_EXPIRED);
    const auto opened = Munge(munged.socket()).unseal(sealed);
    free(sealed);
    munge_ctx_destroy(context);
    REQUIRE(opened.has_value());
    CHECK(opened->payload == "old");
}

TEST_CASE("What is no seal of this cluster does not open") {
    if (!is_root()) return;
    const TestMunged munged, other;
    const Munge munge(munged.socket());
    for (const std::string& text : {std::string(), std::string("MUNGE:AwQ=:"), std::string("hello"),
                                    *Munge(other.socket()).seal("elsewhere"), std::string(40'000, 'x')}) {
        const auto opened = munge.unseal(text);
        REQUIRE_FALSE(opened.has_value());
        CHECK(opened.error().code == "invalid");
    }
}

TEST_CASE("A munged that is not there is told from a bad seal") {
    if (!is_root()) return;
    TestMunged munged;
    const Munge munge(munged.socket());
    const auto sealed = munge.seal("x");
    REQUIRE(sealed.has_value());
    munged.stop();
    const auto opened = munge.unseal(*sealed);
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().code == "unavailable");
    CHECK(munge.seal("x").error().code == "unavailable");
}

TEST_CASE("What is too long for a node's environment is not sealed") {
    if (!is_root()) return;
    const TestMunged munged;
    std::string noise;
    unsigned state = 1;
    for (int i = 0; i < 40'000; ++i) noise += static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
    const auto sealed = Munge(munged.socket()).seal(noise);
    REQUIRE_FALSE(sealed.has_value());
    CHECK(sealed.error().code == "too_large");
}
