// SPDX-License-Identifier: GPL-2.0-or-later
// libmunge behind the two calls Accord makes.
#include "seal/munge.hpp"

#include <munge.h>

#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

namespace accord {
namespace {

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

bool is_unavailable(munge_err_t code) {
    return code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT || code == EMUNGE_NO_MEMORY;
}

tl::unexpected<Error> failure(munge_ctx_t context, munge_err_t code, const char* verb) {
    const char* detail = munge_ctx_strerror(context);
    const char* reason = detail != nullptr ? detail : munge_strerror(code);
    return fail(is_unavailable(code) ? "unavailable" : "invalid", fmt::format("munge: cannot {}: {}", verb, reason));
}

/// A seal from the future is a clock that is wrong, here or where it was made: say by how much.
tl::unexpected<Error> rewound(munge_ctx_t context) {
    time_t sealed = 0, opened = 0;
    munge_ctx_get(context, MUNGE_OPT_ENCODE_TIME, &sealed);
    munge_ctx_get(context, MUNGE_OPT_DECODE_TIME, &opened);
    return fail("invalid", fmt::format("munge: cannot unseal: sealed at {} but this host's clock says {} ({} s behind)",
                                       static_cast<std::int64_t>(sealed), static_cast<std::int64_t>(opened),
                                       static_cast<std::int64_t>(sealed - opened)));
}

}  // namespace

Munge::Munge(const std::string& socket) : socket_(socket) {}

void Munge::Destroy::operator()(munge_ctx* context) const { munge_ctx_destroy(context); }

Result<std::unique_ptr<munge_ctx, Munge::Destroy>> Munge::connect() const {
    std::unique_ptr<munge_ctx, Destroy> context(munge_ctx_create());
    if (!context) return fail("unavailable", "munge: cannot make a context: out of memory");
    if (!socket_.empty()) {
        const munge_err_t code = munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket_.c_str());
        if (code != EMUNGE_SUCCESS) return failure(context.get(), code, "use the socket");
    }
    return context;
}

Result<std::string> Munge::seal(std::string_view payload) const {
    auto context = connect();
    if (!context) return tl::unexpected(context.error());
    munge_err_t code = munge_ctx_set(context->get(), MUNGE_OPT_UID_RESTRICTION, uid_t{0});
    if (code != EMUNGE_SUCCESS) return failure(context->get(), code, "restrict a seal to root");

    char* text = nullptr;
    code = munge_encode(&text, context->get(), payload.data(), static_cast<int>(payload.size()));
    const std::unique_ptr<char, Free> owner(text);
    if (code != EMUNGE_SUCCESS) return failure(context->get(), code, "seal");
    std::string sealed(text);
    if (sealed.size() > max_sealed_bytes)
        return fail("too_large", fmt::format("munge: cannot seal: {} bytes are more than {}", sealed.size(), max_sealed_bytes));
    return sealed;
}

Result<Sealed> Munge::unseal(std::string_view sealed) const {
    if (sealed.size() > max_sealed_bytes)
        return fail("invalid", fmt::format("munge: cannot unseal: {} bytes are more than {}", sealed.size(), max_sealed_bytes));
    auto context = connect();
    if (!context) return tl::unexpected(context.error());

    void* payload = nullptr;
    int size = 0;
    Sealed result;
    const std::string text(sealed);
    const munge_err_t code = munge_decode(text.c_str(), context->get(), &payload, &size, &result.uid, &result.gid);
    const std::unique_ptr<void, Free> owner(payload);
    if (code == EMUNGE_CRED_REWOUND) return rewound(context->get());
    if (code != EMUNGE_SUCCESS && code != EMUNGE_CRED_EXPIRED && code != EMUNGE_CRED_REPLAYED)
        return failure(context->get(), code, "unseal");
    if (payload != nullptr) result.payload.assign(static_cast<const char*>(payload), static_cast<std::size_t>(size));
    return result;
}

}  // namespace accord
