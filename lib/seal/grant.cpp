// SPDX-License-Identifier: GPL-2.0-or-later
// Grants as canonical JSON: sorted keys, no white space, so that one grant has one text.
#include "seal/grant.hpp"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace accord {
namespace {

using Json = nlohmann::json;

constexpr const char* kind = "grant";
constexpr std::int64_t version = 1;

/// Takes typed members out of an object and keeps the first complaint.
class Reader {
public:
    explicit Reader(const Json& object) : object_(object) {}

    void read(const char* key, std::string& out) {
        if (const Json* value = member(key, &Json::is_string)) out = value->get_ref<const std::string&>();
    }
    void read(const char* key, bool& out) {
        if (const Json* value = member(key, &Json::is_boolean)) out = value->get<bool>();
    }
    void read(const char* key, std::int64_t& out) {
        if (const Json* value = member(key, &Json::is_number_integer)) out = value->get<std::int64_t>();
    }
    void read(const char* key, std::uint32_t& out) {
        std::int64_t wide = 0;
        read(key, wide);
        if (wide < 0 || wide > std::numeric_limits<std::uint32_t>::max()) complain(key, "is out of range");
        out = static_cast<std::uint32_t>(wide);
    }
    void read(const char* key, std::vector<std::string>& out) {
        const Json* value = member(key, &Json::is_array);
        if (value == nullptr) return;
        for (const Json& item : *value) {
            if (!item.is_string()) return complain(key, "holds something other than a string");
            out.push_back(item.get_ref<const std::string&>());
        }
    }
    [[nodiscard]] const Json* object(const char* key) { return member(key, &Json::is_object); }
    [[nodiscard]] const std::string& complaint() const { return complaint_; }

private:
    const Json* member(const char* key, bool (Json::*is_right)() const noexcept) {
        const auto found = object_.find(key);
        if (found == object_.end()) {
            complain(key, "is missing");
            return nullptr;
        }
        if (((*found).*is_right)()) return &*found;
        complain(key, "has the wrong type");
        return nullptr;
    }
    void complain(const char* key, const char* what) {
        if (complaint_.empty()) complaint_ = fmt::format("grant: {} {}", key, what);
    }

    const Json& object_;
    std::string complaint_;
};

std::string read_scope(const Json& object, FilesystemScope& scope) {
    Reader reader(object);
    reader.read("hidden", scope.hidden);
    reader.read("rw", scope.rw);
    reader.read("ro", scope.ro);
    reader.read("private", scope.private_dirs);
    return reader.complaint();
}

std::string read_grant(const Json& object, Grant& grant) {
    Reader reader(object);
    std::string found_kind;
    std::int64_t found_version = 0;
    reader.read("kind", found_kind);
    reader.read("version", found_version);
    if (!reader.complaint().empty()) return reader.complaint();
    if (found_kind != kind) return "grant: kind is not \"grant\"";
    if (found_version != version) return fmt::format("grant: version is {}, this program reads {}", found_version, version);

    reader.read("cluster", grant.cluster);
    reader.read("exempt", grant.exempt);
    reader.read("contract", grant.contract);
    reader.read("contract_version", grant.contract_version);
    reader.read("uid", grant.uid);
    reader.read("account", grant.account);
    reader.read("pool", grant.pool);
    reader.read("issued_s", grant.issued_s);
    reader.read("valid_until_s", grant.valid_until_s);
    if (const Json* scope = reader.object("filesystem")) {
        if (std::string wrong = read_scope(*scope, grant.scope); !wrong.empty()) return wrong;
    }
    return reader.complaint();
}

}  // namespace

std::string to_json(const Grant& grant) {
    const FilesystemScope& scope = grant.scope;
    const Json object = {
        {"kind", kind},
        {"version", version},
        {"cluster", grant.cluster},
        {"exempt", grant.exempt},
        {"contract", grant.contract},
        {"contract_version", grant.contract_version},
        {"uid", grant.uid},
        {"account", grant.account},
        {"pool", grant.pool},
        {"issued_s", grant.issued_s},
        {"valid_until_s", grant.valid_until_s},
        {"filesystem",
         {{"hidden", scope.hidden}, {"rw", scope.rw}, {"ro", scope.ro}, {"private", scope.private_dirs}}},
    };
    // "replace": an account that is not UTF-8 can be a user's, and must not throw in slurmctld
    return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Grant> grant_from_json(std::string_view text) {
    if (text.size() > max_grant_bytes)
        return fail("invalid", fmt::format("grant: {} bytes are more than {}", text.size(), max_grant_bytes));
    const Json object = Json::parse(text, nullptr, false);
    if (!object.is_object()) return fail("invalid", "grant: is not a JSON object");
    Grant grant;
    if (std::string wrong = read_grant(object, grant); !wrong.empty()) return fail("invalid", wrong);
    if (grant.exempt && (!grant.contract.empty() || grant.contract_version != 0 || grant.scope.restricts()))
        return fail("invalid", "grant: an exempt one has neither contract nor scope");
    if (!grant.exempt && grant.contract.empty()) return fail("invalid", "grant: names no contract");
    if (to_json(grant) != text) return fail("invalid", "grant: is not in its canonical form");
    return grant;
}

}  // namespace accord
