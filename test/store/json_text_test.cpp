// SPDX-License-Identifier: GPL-2.0-or-later
// What is written straight into a buffer is JSON, and reads back.
#include "store/json_text.hpp"

#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "catch.hpp"
#include "store/json_cursor.hpp"

namespace {

std::string as_json(std::string_view text) {
    fmt::memory_buffer buffer;
    accord::append_json_string(buffer, text);
    return fmt::to_string(buffer);
}

}  // namespace

TEST_CASE("a string is escaped as JSON asks") {
    CHECK(as_json("") == R"("")");
    CHECK(as_json("plain text") == R"("plain text")");
    CHECK(as_json("a\"b\\c\nd\te\x01" "f\x7f") == R"("a\"b\\c\nd\te\u0001f\u007f")");
    CHECK(as_json("m\xc3\xbcnchen \xe2\x82\xac \xf0\x9f\x98\x80") == "\"m\xc3\xbcnchen \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST_CASE("bytes that are not UTF-8 are replaced one by one") {
    const std::string bad = "\xEF\xBF\xBD";
    CHECK(as_json("a\xff" "b") == "\"a" + bad + "b\"");
    CHECK(as_json("\xc3") == "\"" + bad + "\"");
    CHECK(as_json("\xc0\xaf") == "\"" + bad + bad + "\"");          // overlong
    CHECK(as_json("\xed\xa0\x80") == "\"" + bad + bad + bad + "\"");  // surrogate
    CHECK(as_json("\xf5\x80\x80\x80") == "\"" + bad + bad + bad + bad + "\"");
}

TEST_CASE("any bytes become a JSON string that both readers read alike") {
    CHECK(rc::check([](const std::string& bytes) {
        const std::string text = as_json(bytes);
        const auto parsed = nlohmann::json::parse(text);
        std::string read;
        accord::JsonCursor cursor(text);
        cursor.read(read);
        RC_ASSERT(cursor.ok());
        RC_ASSERT(cursor.rest().empty());
        RC_ASSERT(read == parsed.get<std::string>());
    }));
}

TEST_CASE("a cursor refuses what is not as written and names the member") {
    const auto complaint = [](std::string_view text) {
        accord::JsonCursor cursor(text);
        int number = 0;
        bool flag = false;
        std::string word;
        cursor.begin_object();
        cursor.member("number", number);
        cursor.member("flag", flag);
        cursor.member("word", word);
        cursor.end_object();
        return std::string(cursor.complaint());
    };
    CHECK(complaint(R"({"number":1,"flag":true,"word":"x"})").empty());
    CHECK(complaint(R"({"number":1.5,"flag":true,"word":"x"})") == "flag");
    CHECK(complaint(R"({"number":"1","flag":true,"word":"x"})") == "number");
    CHECK(complaint(R"({"number":99999999999,"flag":true,"word":"x"})") == "number");
    CHECK(complaint(R"({"number":1,"flag":1,"word":"x"})") == "flag");
    CHECK(complaint(R"({"number":1,"flag":true,"word":"x})") == "word");
    CHECK(complaint(R"({"number":1,"flag":true,"word":"\x"})") == "word");
    CHECK(complaint(R"({"number":1,"flag":true,"word":"\u00"})") == "word");
    CHECK(complaint(R"({"number":1, "flag":true,"word":"x"})") == "flag");
    CHECK(complaint(R"({"flag":true,"number":1,"word":"x"})") == "number");
    CHECK(complaint("") == "v");
}
