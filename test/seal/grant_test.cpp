// SPDX-License-Identifier: GPL-2.0-or-later
// What a grant's text is, and what is not taken for one.
#include "seal/grant.hpp"

#include <rapidcheck.h>

#include "catch.hpp"

using accord::Grant;
using accord::grant_from_json;
using accord::to_json;

namespace {

Grant vision_grant() {
    Grant grant;
    grant.cluster = "demo";
    grant.contract = "vision-lab/gpu";
    grant.contract_version = 3;
    grant.uid = 10001;
    grant.account = "vision-lab";
    grant.pool = "gpu";
    grant.issued_s = 1767225600;
    grant.valid_until_s = 1798761599;
    grant.scope.hidden = {"/proj"};
    grant.scope.rw = {"/proj/vision"};
    grant.scope.ro = {"/datasets/public"};
    grant.scope.private_dirs = {"/tmp", "/var/tmp"};
    return grant;
}

// As doc/grant-format.md prints it.
const std::string golden =
    R"({"account":"vision-lab","cluster":"demo","contract":"vision-lab/gpu","contract_version":3,"exempt":false,)"
    R"("filesystem":{"hidden":["/proj"],"private":["/tmp","/var/tmp"],"ro":["/datasets/public"],"rw":["/proj/vision"]},)"
    R"("issued_s":1767225600,"kind":"grant","pool":"gpu","uid":10001,"valid_until_s":1798761599,"version":1})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
    const auto grant = grant_from_json(text);
    REQUIRE_FALSE(grant.has_value());
    CHECK(grant.error().code == "invalid");
    return grant.error().what;
}

}  // namespace

TEST_CASE("A grant is written in its one documented form") { CHECK(to_json(vision_grant()) == golden); }

TEST_CASE("A grant is read back as it was written") {
    const auto grant = grant_from_json(golden);
    REQUIRE(grant.has_value());
    CHECK(*grant == vision_grant());
}

TEST_CASE("Any grant survives writing and reading") {
    CHECK(rc::check([](std::uint32_t uid, std::int64_t issued, std::uint32_t version) {
        Grant grant = vision_grant();
        grant.uid = uid;
        grant.issued_s = issued;
        grant.contract_version = version;
        grant.scope.rw = *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
        for (std::string& path : grant.scope.rw)
            for (char& c : path) c = static_cast<char>(c & 0x7f);
        const auto back = grant_from_json(to_json(grant));
        RC_ASSERT(back.has_value());
        RC_ASSERT(*back == grant);
    }));
}

TEST_CASE("An exempt grant has neither contract nor scope") {
    Grant grant;
    grant.cluster = "demo";
    grant.exempt = true;
    grant.pool = "gpu";
    const auto back = grant_from_json(to_json(grant));
    REQUIRE(back.has_value());
    CHECK(*back == grant);
    grant.scope.hidden = {"/proj"};
    CHECK(complaint(to_json(grant)) == "grant: an exempt one has neither contract nor scope");
}

TEST_CASE("A text that is not exactly a grant is refused by name") {
    CHECK(complaint("") == "grant: is not a JSON object");
    CHECK(complaint("[]") == "grant: is not a JSON object");
    CHECK(complaint(golden.substr(0, golden.size() - 1)) == "grant: is not a JSON object");
    CHECK(complaint(replaced(golden, "\"kind\":\"grant\"", "\"kind\":\"token\"")) == "grant: kind is not \"grant\"");
    CHECK(complaint(replaced(golden, "\"version\":1", "\"version\":2")) == "grant: version is 2, this program reads 1");
    CHECK(complaint(replaced(golden, "\"pool\":\"gpu\",", "")) == "grant: pool is missing");
    CHECK(complaint(replaced(golden, "\"uid\":10001", "\"uid\":\"10001\"")) == "grant: uid has the wrong type");
    CHECK(complaint(replaced(golden, "\"uid\":10001", "\"uid\":-1")) == "grant: uid is out of range");
    CHECK(complaint(replaced(golden, "\"uid\":10001", "\"uid\":4294967296")) == "grant: uid is out of range");
    CHECK(complaint(replaced(golden, "[\"/proj\"]", "[7]")) == "grant: hidden holds something other than a string");
    CHECK(complaint(replaced(golden, "\"vision-lab/gpu\"", "\"\"")) == "grant: names no contract");
}

TEST_CASE("Unknown, doubled and differently spelt members are refused") {
    const std::string not_canonical = "grant: is not in its canonical form";
    CHECK(complaint(replaced(golden, "\"version\":1", "\"version\":1,\"zone\":1")) == not_canonical);
    CHECK(complaint(replaced(golden, "\"uid\":10001", "\"uid\":0,\"uid\":10001")) == not_canonical);
    CHECK(complaint(golden + " ") == not_canonical);
    CHECK(complaint(replaced(golden, "\"hidden\":", "\"also\":[],\"hidden\":")) == not_canonical);
}

TEST_CASE("A text longer than any grant is refused unread") {
    CHECK(complaint(std::string(accord::max_grant_bytes + 1, '[')) == "grant: 24001 bytes are more than 24000");
    CHECK(complaint(std::string(accord::max_grant_bytes, '[')) == "grant: is not a JSON object");
}

TEST_CASE("Bytes that are no text do not stop a grant from being written") {
    Grant grant = vision_grant();
    grant.account = "\xff";
    CHECK(grant_from_json(to_json(grant)).has_value());
}
