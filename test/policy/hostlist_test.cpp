// SPDX-License-Identifier: GPL-2.0-or-later
// Host lists are counted without being written out.
#include "policy/hostlist.hpp"

#include "catch.hpp"

using accord::count_hosts;
using accord::names_host;

TEST_CASE("hosts are counted through ranges and brackets") {
    CHECK(count_hosts("n1") == 1);
    CHECK(count_hosts("n1,n2") == 2);
    CHECK(count_hosts("n[1-4]") == 4);
    CHECK(count_hosts("n[1-4,07,10-12],login1") == 9);
    CHECK(count_hosts("r[1-2]n[1-3]") == 6);
    CHECK(count_hosts("n[1-3]-ib,m") == 4);
    CHECK(count_hosts(",n1,") == 1);
}

TEST_CASE("blanks part hosts as commas do") {
    CHECK(count_hosts("n1 n2 n3") == 3);
    CHECK(count_hosts("n1\tn[2-3]\nn4, n5") == 5);
    CHECK(count_hosts(" n1 ") == 1);
    CHECK_FALSE(count_hosts(" \t"));
}

TEST_CASE("what is no host list has no count") {
    for (const char* text : {"", ",", "n[1-", "n1-4]", "n[]", "n[a]", "n[4-1]", "n[1-]", "n[-4]", "n[1-99999999999]",
                             "r[1-1000]n[1-1000]x[1-1000]", "./hosts"}) {
        INFO(text);
        CHECK_FALSE(count_hosts(text));
    }
}

TEST_CASE("a list names the hosts within its ranges, as wide as they are written") {
    CHECK(names_host("n1", "n1"));
    CHECK(names_host("n[1-4,07,10-12],login1", "n07"));
    CHECK(names_host("n[1-4,07,10-12],login1", "login1"));
    CHECK(names_host("n[8-12]", "n10"));
    CHECK(names_host("n[08-12]", "n08"));
    CHECK(names_host("r[1-2]n[1-3]-ib", "r2n3-ib"));
    CHECK(names_host("m1 n[1-3]", "n2"));
    for (const auto& [list, host] : {std::pair("n1", "n10"), std::pair("n10", "n1"), std::pair("n[1-4]", "n5"),
                                     std::pair("n[01-04]", "n1"), std::pair("n[1-4]", "n01"), std::pair("n[1-4]", "n"),
                                     std::pair("n[1-4]", "n1-ib"), std::pair("r[1-2]n[1-3]", "r3n1"), std::pair("", "n1"),
                                     std::pair("n[1-", "n1"), std::pair("n[a]", "n1")}) {
        CAPTURE(list, host);
        CHECK_FALSE(names_host(list, host));
    }
}
