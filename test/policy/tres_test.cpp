// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's TRES strings, in every release's spelling.
#include "policy/tres.hpp"

#include "catch.hpp"

using namespace accord;

TEST_CASE("every release's spelling of a TRES string counts alike", "[A04]") {
    struct Row {
        const char* text;
        GpuVector gpus;
    };
    const GpuVector two_untyped{{"", 2}}, four_typed{{"a100", 4}};
    for (const auto& [text, gpus] : {
             Row{"gres:gpu:2", two_untyped},
             Row{"gres/gpu:2", two_untyped},
             Row{"gres/gpu=2", two_untyped},
             Row{"gres:gpu=2", two_untyped},
             Row{"cpu=4,gres/gpu=2,license/x=1", two_untyped},
             Row{"gres:gpu:a100:4", four_typed},
             Row{"gres/gpu:a100:4", four_typed},
             Row{"gres/gpu:a100=4", four_typed},
             Row{"gres:gpu", {{"", 1}}},
             Row{"gres/gpu", {{"", 1}}},
             Row{"gres:gpu:a100", {{"a100", 1}}},
             Row{"gres:lustre:1", {}},
             Row{"gres:gpu_mem:100", {}},
             Row{"", {}},
             Row{",,", {}},
         }) {
        INFO(text);
        const auto found = parse_tres_gpus(text);
        CHECK(found.gpus == gpus);
        CHECK_FALSE(found.malformed);
        CHECK(found.shards.empty());
        CHECK_FALSE(found.mps);
    }
}

TEST_CASE("a second part that is a number is a count, never a type", "[A34]") {
    CHECK(parse_tres_gpus("gres:gpu:3090").gpus == GpuVector{{"", 3090}});
    CHECK(parse_tres_gpus("gres:gpu:3090:1").gpus == GpuVector{{"3090", 1}});
    CHECK(parse_tres_gpus("gres:gpu:2080ti").gpus == GpuVector{{"2080ti", 1}});
    CHECK(parse_tres_gpus("gres:gpu:1g.10gb:2").gpus == GpuVector{{"1g.10gb", 2}});
}

TEST_CASE("counts carry Slurm's multipliers and saturate", "[A34]") {
    struct Row {
        const char* text;
        Gpus count;
    };
    constexpr Gpus k = 1024;
    for (const auto& [text, count] : {
             Row{"0", 0}, Row{"7", 7}, Row{"1K", k}, Row{"1k", k}, Row{"2KiB", 2 * k}, Row{"1KB", 1000},
             Row{"1M", k * k}, Row{"1mb", 1000 * 1000}, Row{"1g", k * k * k}, Row{"1T", k * k * k * k},
             Row{"1P", k * k * k * k * k}, Row{"1PB", 1000000000000000}, Row{"1023P", 1023 * k * k * k * k * k},
             Row{"1024P", gpus_max}, Row{"999999P", gpus_max}, Row{"99999999999999999999999999", gpus_max},
             Row{"18446744073709551615", gpus_max},
         }) {
        INFO(text);
        CHECK(parse_tres_count(text) == count);
    }
    for (const auto* text : {"", "K", "-1", "+1", " 1", "1 ", "1.5", "0x2", "1Ki", "a"}) {
        INFO(text);
        CHECK_FALSE(parse_tres_count(text));
    }
}

TEST_CASE("the last of a repeated type holds, and a count of 0 is no request", "[A06]") {
    CHECK(parse_tres_gpus("gres:gpu:2,gres:gpu:4").gpus == GpuVector{{"", 4}});
    CHECK(parse_tres_gpus("gres:gpu:4,gres:gpu:2").gpus == GpuVector{{"", 2}});
    CHECK(parse_tres_gpus("gres:gpu:a100:4,gres:gpu:v100:2").gpus == GpuVector{{"a100", 4}, {"v100", 2}});
    CHECK(parse_tres_gpus("gres:gpu:4,gres:gpu:0").gpus == GpuVector{{"", 4}});
    CHECK(parse_tres_gpus("gres:gpu:0").gpus.empty());
    CHECK(parse_tres_gpus("gres:gpu:a100:0").gpus.empty());
}

TEST_CASE("what Slurm refuses to read is malformed") {
    for (const auto* text : {"gres:gpu:", "gres:gpu::1", "gres:gpu:a100:", "gres:gpu:a100:x", "gres/gpu=", "gres/gpu=x",
                             "gres/gpu:=2", "gres:gpu:a100:1:2"}) {
        INFO(text);
        CHECK(parse_tres_gpus(text).malformed);
    }
}

TEST_CASE("a token without its prefix asks for nothing and is pointed out", "[A08]") {
    const auto found = parse_tres_gpus("gpu:1");
    CHECK(found.gpus.empty());
    CHECK(found.without_prefix == "gpu:1");
    CHECK(parse_tres_gpus("cpu=4").without_prefix.empty());
}

TEST_CASE("the prefix is found wherever Slurm finds it") {
    CHECK(parse_tres_gpus("xgres:gpu:4").gpus == GpuVector{{"", 4}});
    CHECK(parse_tres_gpus("gpu:1,gres:gpu:2").gpus == GpuVector{{"", 2}});
}

TEST_CASE("shards and MPS are seen") {
    CHECK(parse_tres_gpus("gres:shard:4").shards == GpuVector{{"", 4}});
    CHECK(parse_tres_gpus("gres:shard:a100:4").shards == GpuVector{{"a100", 4}});
    CHECK(parse_tres_gpus("gres:mps:100").mps);
    CHECK(parse_tres_gpus("gres:gpu:1,gres/shard=1").shards == GpuVector{{"", 1}});
    CHECK(parse_tres_gpus("gres:shard:0").shards.empty());
}
