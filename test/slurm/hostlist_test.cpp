// SPDX-License-Identifier: GPL-2.0-or-later
// Host lists are counted without being written out.
#include "slurm/hostlist.hpp"

#include "catch.hpp"

using accord::count_hosts;

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
