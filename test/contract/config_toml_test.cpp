// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/config_toml.hpp"

#include "catch.hpp"
#include "contract/read_file.hpp"

using namespace accord;

namespace {

constexpr auto whole = R"(cluster = "demo"
timezone = "UTC"
mode = "observe"
exempt_users = ["root", "backup"]
admin_group = "accord-admin"
auditor_group = "accord-audit"
[store]
dir = "/srv/accord"
durability = "power"
on_unavailable = "admit"
[munge]
socket = "/run/m.sock"
[accordd]
interval = "500ms"
settle = "20s"
socket = "/run/a.sock"
metrics = ""
[node]
scope_roots = ["/proj"]
ungranted = "refuse"
scrub = ["AWS_*"]
no_new_privs = false
[[pool]]
partition = "gpu"
lend_partition = "gpu-lend"
reclaim = "static"
gpus = { a100 = 16, v100 = 8 }
cpus_per_gpu = 16
mem_per_gpu = "64G"
shards_per_gpu = 8
[[priority_class]]
name = "high"
site_factor = 1000
[governance]
acknowledgements = []
four_eyes = false
review_grace = "7d"
)";

std::string first_error(const std::string& text) {
    const auto judged = judge_config(text, "accord.toml");
    return judged.report.errors.empty() ? "" : one_line(judged.report.errors.front());
}

std::string with_pool(const std::string& text) {
    return "cluster = \"demo\"\n[[pool]]\npartition = \"gpu\"\nlend_partition = \"gpu-lend\"\n" + text;
}

}  // namespace

TEST_CASE("every key of accord.toml reaches its setting") {
    const auto config = judge_config(whole, "accord.toml").config;
    REQUIRE(config);
    CHECK(config->cluster == "demo");
    CHECK(config->timezone == "UTC");
    CHECK(config->mode == Mode::observe);
    CHECK(config->exempt_users == std::vector<std::string>{"root", "backup"});
    CHECK(config->admin_group == "accord-admin");
    CHECK(config->auditor_group == "accord-audit");
    CHECK(config->store_dir == "/srv/accord");
    CHECK(config->durability == "power");
    CHECK(config->on_unavailable == OnUnavailable::admit);
    CHECK(config->munge_socket == "/run/m.sock");
    CHECK(config->interval_ms == 500);
    CHECK(config->settle_s == 20);
    CHECK(config->accordd_socket == "/run/a.sock");
    CHECK(config->metrics.empty());
    CHECK(config->node.scope_roots == std::vector<std::string>{"/proj"});
    CHECK(config->node.ungranted == Ungranted::refuse);
    CHECK(config->node.scrub == std::vector<std::string>{"AWS_*"});
    CHECK_FALSE(config->node.no_new_privs);
    CHECK(config->governance.acknowledgements.empty());
    CHECK_FALSE(config->governance.four_eyes);
    CHECK(config->governance.review_grace_s == 7 * 86400);
}

TEST_CASE("pools and priority classes are read in the order of the file") {
    const auto config = judge_config(whole, "accord.toml").config;
    REQUIRE(config);
    REQUIRE(config->pools.size() == 1);
    const auto& pool = config->pools.front();
    CHECK(pool.partition == "gpu");
    CHECK(pool.lend_partition == "gpu-lend");
    CHECK(pool.reclaim == "static");
    CHECK(pool.gpus == GpuVector{{"a100", 16}, {"v100", 8}});
    CHECK(pool.cpus_per_gpu == 16);
    CHECK(pool.mem_per_gpu_mb == 64 * 1024);
    CHECK(pool.shards_per_gpu == 8);
    REQUIRE(config->priority_classes.size() == 1);
    CHECK(config->priority_classes.front().name == "high");
    CHECK(config->priority_classes.front().site_factor == 1000);
}

TEST_CASE("what accord.toml leaves out has the documented default") {
    const auto config = judge_config("cluster = \"demo\"\n", "accord.toml").config;
    REQUIRE(config);
    CHECK(config->mode == Mode::enforce);
    CHECK(config->exempt_users == std::vector<std::string>{"root"});
    CHECK(config->store_dir == ACCORD_STATEDIR);
    CHECK(config->on_unavailable == OnUnavailable::reject);
    CHECK(config->settle_s == 15);
    CHECK(config->node.scope_roots.front() == "/home");
    CHECK(config->node.ungranted == Ungranted::log);
    CHECK(config->governance.four_eyes);
    CHECK(config->governance.acknowledgements.size() == 3);
}

TEST_CASE("a bad accord.toml is refused with file, line, key, what was found and what would be right") {
    CHECK(first_error("cluster = \"demo\"\nmoed = \"observe\"\n") ==
          "accord.toml:2: moed: unknown key; did you mean mode?");
    CHECK(first_error("mode = \"enforce\"\n") == "accord.toml:1: cluster: missing, expected Slurm's ClusterName");
    CHECK(first_error("cluster = \"demo\"\nmode = \"watch\"\n") ==
          "accord.toml:2: mode: found the string \"watch\", expected one of \"enforce\", \"observe\"");
    CHECK(first_error("cluster = \"demo\"\n[store]\ndir = \"state\"\n") ==
          "accord.toml:3: store.dir: found the relative path \"state\", expected an absolute one");
    CHECK(
        first_error("cluster = \"demo\"\n[store]\nadmin_group = \"ops\"\n") ==
        "accord.toml:3: store.admin_group: unknown key here; it belongs to the top level and was swallowed by [store]: "
        "write it above the first table");
    CHECK(first_error("cluster = \"demo\"\n[node]\nscope_roots = [\"/etc/ssl\"]\n") ==
          "accord.toml:3: node.scope_roots: \"/etc/ssl\" cannot be governed by contracts: /etc is the system's own");
    CHECK(
        first_error("cluster = \"demo\"\n[accordd]\ninterval = 1\n") ==
        "accord.toml:3: accordd.interval: found the integer 1, expected a span of time such as \"90s\", \"10m\", \"4h\" "
        "or \"14d\"");
    CHECK(first_error("cluster = \"demo\"\ntimezone = \"Europe/Nowhere\"\n") ==
          "accord.toml:2: timezone: \"Europe/Nowhere\" is not a time zone of this machine, expected a name such as "
          "\"Europe/Berlin\" or \"UTC\"");
    CHECK(
        first_error(with_pool("gpus = { a100 = \"16\" }\n")) ==
        "accord.toml:5: pool.gpus.a100: found the string \"16\", expected a whole number from 1 to 1000000: write 16");
    CHECK(first_error(with_pool("")) ==
          "accord.toml:2: pool.gpus: missing, expected the pool's GPUs by type: gpus = { a100 = 16 }");
    CHECK(
        first_error(with_pool("gpus = { a100 = 16 }\n[[pool]]\npartition = \"gpu-lend\"\nlend_partition = \"x\"\n"
                              "gpus = { a100 = 1 }\n")) ==
        "accord.toml:7: pool.partition: partition \"gpu-lend\" is named by another key of a pool; each belongs to one");
    CHECK(first_error("cluster = \n").starts_with("accord.toml:1: this is not TOML: "));
}

TEST_CASE("a file that is not there is an error that names it") {
    const auto config = load_config("/nonexistent/accord.toml");
    REQUIRE_FALSE(config);
    CHECK(one_line(config.error()) == "/nonexistent/accord.toml: cannot read: No such file or directory");
}

TEST_CASE("the example accord.toml sets every key, to its default where one serves") {
    const auto text = read_text_file(ACCORD_SRCDIR "/etc/accord.toml", Links::refuse);
    REQUIRE(text);
    const auto judged = judge_config(*text, "accord.toml");
    REQUIRE(judged.config);
    Config unused;
    for (const auto& key : config_schema(unused).keys) {
        auto path = key.path;
        if (const auto list = path.find("[]"); list != std::string::npos) path.insert(list + 1, "0");
        if (path.ends_with(".*")) path.replace(path.size() - 1, 1, "a100");
        INFO(path);
        CHECK(judged.report.lines.contains(path));
    }
    const auto plain = judge_config("cluster = \"demo\"\n", "accord.toml").config;
    REQUIRE(plain);
    CHECK(judged.config->exempt_users == plain->exempt_users);
    CHECK(judged.config->munge_socket == plain->munge_socket);
    CHECK(judged.config->interval_ms == plain->interval_ms);
    CHECK(judged.config->settle_s == plain->settle_s);
    CHECK(judged.config->accordd_socket == plain->accordd_socket);
    CHECK(judged.config->metrics == plain->metrics);
    CHECK(judged.config->node.scope_roots == plain->node.scope_roots);
    CHECK(judged.config->node.scrub == plain->node.scrub);
    CHECK(judged.config->governance.review_grace_s == plain->governance.review_grace_s);
}

TEST_CASE("with the example accord.toml a contract comes into force when it is applied") {
    const auto text = read_text_file(ACCORD_SRCDIR "/etc/accord.toml", Links::refuse);
    REQUIRE(text);
    const auto judged = judge_config(*text, "accord.toml");
    REQUIRE(judged.config);
    CHECK(judged.config->governance.acknowledgements.empty());
    CHECK_FALSE(judged.config->governance.four_eyes);
}

TEST_CASE("settings that are recorded only are named by a warning") {
    const auto judged = judge_config(whole, "accord.toml");
    std::string lines;
    for (const auto& warning : judged.report.warnings) lines += one_line(warning) + "\n";
    CHECK(lines ==
          "accord.toml:6: auditor_group: recorded, not enforced by this version\n"
          "accord.toml:16: accordd.socket: recorded, not enforced by this version\n"
          "accord.toml:17: accordd.metrics: recorded, not enforced by this version\n"
          "accord.toml:21: node.scrub: recorded, not enforced by this version\n"
          "accord.toml:37: governance.review_grace: recorded, not enforced by this version\n"
          "accord.toml:9: store.durability: \"power\" is recorded; in this version a decision survives a crash of "
          "slurmctld, not of the machine\n");
}
