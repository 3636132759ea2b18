// SPDX-License-Identifier: GPL-2.0-or-later
#include "request.hpp"

#include <slurm/slurm_version.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

namespace accord::test {

namespace {

/// Lists of node counts are newer than 22.05.
constexpr bool has_node_lists = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0);

Request parse(const std::string& line, Request::Client client) {
    Request request{client, {}};
    std::istringstream words(line);
    for (std::string word; words >> word;) request.options.push_back(word);
    return request;
}

// The forms by themselves. The cluster has three nodes of four a100 and three of four v100, of sixteen CPUs each.

const char* const of_one_type[] = {
    "--gpus=4 --nodes=1", "--gpus=4", "--gpus=8 --nodes=2-3", "--gpus=12", "--gpus=13", "--gpus=a100", "--gpus=a100:5",
    "--gpus=2 --nodes=3", "--gpus=3 --nodes=3", "--gpus=8 --nodes=2-16", "--gpus=4 --gpus-per-node=2", "--gpus=5 --gpus-per-node=2",
    "--gpus=8 --gpus-per-node=2", "--gpus=4 --gpus-per-node=2 --nodes=2", "--gpus=4 --gpus-per-task=1",
    "--gpus=4 --gpus-per-task=2 --ntasks=2", "--gpus=4 --gpus-per-task=1 --ntasks=2", "--gpus=6 --ntasks=3 --nodes=3",
    "--gres=gpu", "--gres=gpu:a100", "--gres=gpu:4", "--gres=gpu:5", "--gres=gpu:a100:2", "--gres=gpu:v100:1", "--gres=gpu:0",
    "--gres=none", "--gres=gpu:1K", "--gres=gpu:3090", "--gres=gpu:3090:1", "--gres=gpu:1,gpu:3", "--gres=gpu:3,gpu:1",
    "--gres=gpu:a100:1,gpu:a100:3", "--gres=gpu:a100:3,gpu:a100:1", "--gres=gpu:2,gpu:a100:1", "--gres=gpu:a100:1,gpu:2",
    "--gpus-per-node=1 --gres=gpu:3", "--gpus-per-node=3 --gres=gpu:1", "--gres=gpu:2 --nodes=2-3", "--gres=gpu:1 --nodes=4",
    "--gres=gpu:2 --nodes=2-9", "--gres=gpu:1 --ntasks=3", "--gres=gpu:1 --ntasks=3 --ntasks-per-node=1",
    "--gres=gpu:1 --ntasks=6 --ntasks-per-node=2", "--gres=gpu:1 --ntasks-per-node=2 --nodes=2", "--gres=gpu:1 --ntasks=40",
    "--gres=gpu:1 --ntasks=17", "--gres=gpu:1 --ntasks=5 --cpus-per-task=4", "--gres=gpu:1 --ntasks=2 --nodes=1-3",
    "--gpus-per-task=1 --ntasks=4 --nodes=1", "--gpus-per-task=2 --ntasks=3", "--gpus-per-task=1 --nodes=2",
    "--gpus-per-task=1 --nodes=2 --cpus-per-task=4", "--gpus-per-task=1", "--gpus-per-task=1 --nodes=2-3",
    "--gpus-per-task=1 --nodes=2 --ntasks-per-node=2", "--gpus-per-task=1 --ntasks=13", "--gpus-per-task=a100:2 --ntasks=2",
    "--gpus-per-task=5 --ntasks=1", "--gpus-per-task=1 --gpus-per-node=2 --ntasks=4", "--gpus-per-task=1 --gpus-per-node=2 --ntasks=3",
    "--gpus-per-socket=1 --sockets-per-node=2 --nodes=2", "--gpus-per-socket=1 --nodes=2", "--gpus-per-socket=2 --sockets-per-node=1",
    "--gpus-per-socket=2 --sockets-per-node=2 --nodes=1-3", "--gpus-per-socket=1 --sockets-per-node=2 --gpus-per-node=2",
    "--gpus-per-socket=a100:1 --sockets-per-node=2 --nodes=1", "--gpus-per-socket=3 --sockets-per-node=2 --nodes=1",
    "--gpus-per-socket=1 --sockets-per-node=2 --ntasks=4 --ntasks-per-socket=1", "--gpus-per-socket=1 --sockets-per-node=2 --gpus=4",
    "--ntasks-per-gpu=2 --ntasks=4", "--ntasks-per-gpu=2 --ntasks=5", "--ntasks-per-gpu=2 --gpus=2", "--ntasks-per-gpu=2 --gres=gpu:2 --nodes=2",
    "--ntasks-per-gpu=3 --gpus=a100:4", "--ntasks-per-gpu=1 --ntasks=4 --nodes=2", "--ntasks-per-gpu=2", "--ntasks-per-gpu=4 --gpus=2 --ntasks=8",
    "--ntasks-per-gpu=2 --gpus=2 --ntasks=3", "--ntasks-per-gpu=1 --gres=gpu:2 --nodes=1-3",
    "--gpus=2 --exclusive", "--gres=gpu:1 --exclusive --nodes=2", "--gres=gpu:1 --exclusive --nodes=1-3", "--exclusive", "--exclusive --nodes=2",
    "--gres=gpu:1 --exclusive=user", "--gres=gpu:1 --exclusive --ntasks=20", "--gpus=6 --exclusive", "--gpus-per-task=1 --ntasks=2 --exclusive",
    "--gres=gpu:1 --core-spec=1", "--gres=gpu:1 --core-spec=2 --nodes=2", "--core-spec=1", "--gres=gpu:2 --oversubscribe",
    "--gres=gpu:1 --cpus-per-gpu=4", "--gres=gpu:1 --cpus-per-gpu=5", "--gres=gpu:1 --cpus-per-gpu=16", "--gpus=3 --cpus-per-gpu=6",
    "--gpus=2 --cpus-per-gpu=8 --nodes=2", "--gres=gpu:1 --cpus-per-task=8", "--gres=gpu:1 --mincpus=9", "--gres=gpu:1 --mincpus=16 --nodes=2",
    "--gres=gpu:1 --mem=5000", "--gres=gpu:1 --mem=5001", "--gres=gpu:1 --mem=0", "--gres=gpu:1 --mem=19G", "--gres=gpu:2 --mem-per-gpu=7000",
    "--gpus=3 --mem-per-gpu=6000", "--gres=gpu:1 --mem-per-cpu=6000", "--gres=gpu:1 --mem-per-cpu=3000 --ntasks=4 --nodes=1",
    "--gpus=4 --ntasks=2 --cpus-per-task=12", "--gpus=1 --ntasks=30", "--gpus=2 --nodes=2 --cpus-per-task=10",
    "--gres=gpu:1 --nodelist=n1", "--gres=gpu:2 --nodelist=n[1-2]", "--gres=gpu:1 --nodelist=n[1-3] --nodes=2", "--gres=gpu:1 --nodelist=n2 --nodes=3",
    "--gpus=6 --nodelist=n[1-2]", "--gres=gpu:1 --nodelist=n1 --nodes=1-2", "--gres=gpu:1 --nodelist=n1,n1,n2", "--gres=gpu:2 --exclude=n1 --nodes=3",
    "--gres=gpu:2 --exclude=n1 --nodes=1-3", "--nodes=1", "--ntasks=3",
};

const char* const of_shares[] = {
    "--gres=shard:1", "--gres=shard:4", "--gres=shard:8", "--gres=shard:9", "--gres=shard:16", "--gres=shard:17", "--gres=shard:4 --nodes=2",
    "--gres=shard:32", "--gres=shard:33", "--gres=gpu:1,shard:1", "--gres=shard:v100:4", "--gres=shard:2 --ntasks=3",
};

const char* const of_mps[] = {
    "--gres=mps:50", "--gres=mps:100 --nodes=2", "--gres=mps:150", "--gres=mps:10 --nodes=1-3", "--gres=gpu:1,mps:10", "--gres=mps:10 --ntasks=3",
};

const char* const of_two_types[] = {
    "--gpus=4", "--gpus=24", "--gpus=25", "--gpus=a100:4,v100:4", "--gpus=a100:12,v100:12", "--gpus=a100:13", "--gpus=a100:4 --nodes=1",
    "--gres=gpu:2 --nodes=4", "--gres=gpu:2 --nodes=2-6", "--gres=gpu:a100:2,gpu:v100:2", "--gres=gpu:a100:2,gpu:2", "--gres=gpu:v100:2 --nodes=2",
    "--gres=gpu:v100:2 --nodes=4", "--gres=gpu:v100:1 --nodes=1-9", "--gpus-per-task=1 --ntasks=9", "--gpus-per-task=v100:2 --ntasks=3",
    "--gpus-per-task=a100:1,v100:1 --ntasks=2", "--gpus-per-node=a100:1 --gpus=v100:1", "--gpus=a100:2 --gpus-per-task=v100:1 --ntasks=2",
    "--gpus-per-node=a100:2 --gres=gpu:v100:1", "--gpus-per-node=a100:2 --gres=gpu:a100:1", "--exclusive --nodes=5", "--exclusive --gres=gpu:v100:1",
    "--exclusive --gres=gpu:v100:1 --nodes=2", "--exclusive --gpus=a100:2,v100:2", "--exclusive --gpus=6", "--exclusive", "--gres=gpu:1 --nodes=6",
    "--gres=gpu:1 --ntasks=50", "--gpus=a100:2,v100:2 --nodes=2", "--gpus=a100:2,v100:2 --nodes=1", "--gpus=2 --nodelist=n1,n4", "--gres=gpu:2 --nodelist=n[3-4]",
    "--gpus-per-socket=v100:2 --sockets-per-node=2 --nodes=1", "--ntasks-per-gpu=2 --ntasks=6", "--gpus=a100:3 --cpus-per-gpu=6", "--gpus=v100:2 --mem-per-gpu=9G",
    "--gres=gpu:v100:1 --core-spec=1", "--gpus=a100:1,v100:1 --mem=0",
};

const char* const of_whole_nodes[] = {
    "--gres=gpu:1", "--gpus=2", "--gpus=5", "--gres=gpu:1 --nodes=2", "--gres=gpu:1 --nodes=1-3", "--gpus-per-task=1 --ntasks=2",
    "--gpus-per-task=1 --ntasks=6", "--ntasks=1", "--ntasks=20", "--gres=gpu:1 --ntasks=20", "--gpus=12", "--gpus=13", "--gpus=8 --nodes=3",
    "--gres=gpu:1 --exclusive=user", "--gres=gpu:1 --oversubscribe", "--gpus=4 --gpus-per-node=2", "--gres=gpu:1 --nodelist=n[1-2]",
};

const char* const of_pairs[] = {
    "--gres=gpu:1", "--gres=gpu:2", "--gpus=1", "--gpus=2", "--gpus=4", "--gres=gpu:1 --nodes=1", "--gres=gpu:1 --nodes=3", "--gres=gpu:1 --nodes=1-3",
    "--gpus-per-task=1 --ntasks=1", "--gpus-per-task=2 --ntasks=3", "--gpus-per-task=1 --nodes=1", "--gpus-per-task=1", "--gres=gpu:1 --exclusive",
    "--exclusive", "--ntasks=1", "--gpus-per-socket=1 --sockets-per-node=2", "--ntasks-per-gpu=2 --ntasks=4", "--gres=gpu:1 --ntasks=4 --ntasks-per-node=4",
    "--gres=gpu:1 --nodelist=n1", "--gpus=3 --gpus-per-node=1", "--gpus=1 --gpus-per-node=1", "--gres=gpu:1 --cpus-per-gpu=8",
};

/// Newer releases only.
const char* const of_node_lists[] = {
    "--gres=gpu:2 --nodes=1,3", "--gres=gpu:2 --nodes=1-3:2", "--gres=gpu:1 --nodes=2,3", "--gres=gpu:1 --nodes=2,8", "--gpus=6 --nodes=2,3",
    "--gpus=3 --nodes=2,3", "--gpus-per-task=1 --nodes=2,3", "--gpus-per-task=1 --ntasks=2 --nodes=1,2", "--gres=gpu:1 --exclusive --nodes=1,3",
    "--gres=gpu:1 --ntasks=2 --nodes=1,3", "--gres=gpu:1 --nodes=3,1",
};

const char* const of_arrays[] = {
    "--array=0-2 --gres=gpu:1", "--array=0-3 --gres=gpu:1 --exclusive", "--array=1-7:3,4%2 --gpus=2", "--array=5 --gpus-per-task=1 --ntasks=3",
    "--array=0-1 --gres=gpu:2 --nodes=1-2", "--array=0-5%3 --gpus=a100:1 --cpus-per-gpu=8", "--array=0-2,1-3 --gres=gpu:1 --nodes=1",
};

void append(std::vector<Request>& to, const auto& lines, const std::string& partition, Request::Client client) {
    for (const char* line : lines) to.push_back(parse("--partition=" + partition + " " + line, client));
}

// At random.

class Draw {
public:
    explicit Draw(unsigned seed) : source_(seed) {}

    Request request() {
        options_.clear();
        partition_ = pick({"a100", "a100", "a100", "v100", "gpu", "gpu", "whole", "pairs"});
        add("--partition=" + partition_);
        ask();
        if (chance(70)) nodes();
        if (chance(12)) whole_nodes();
        if (chance(25)) burden();
        return {chance(5) ? Request::Client::sbatch : Request::Client::salloc, options_};
    }

private:
    unsigned up_to(unsigned most) { return 1 + static_cast<unsigned>(source_() % most); }
    bool chance(unsigned percent) { return up_to(100) <= percent; }
    std::string number(unsigned most) { return std::to_string(up_to(most)); }
    std::string pick(std::initializer_list<const char*> of) { return *(of.begin() + (up_to(static_cast<unsigned>(of.size())) - 1)); }
    void add(std::string option) { options_.push_back(std::move(option)); }

    /// "3" or "a100:3", mostly of a type that is there; now and then of both.
    std::string gpus(unsigned most) {
        const bool is_mixed = partition_ == "gpu";
        const auto own = is_mixed ? pick({"a100", "v100"}) : partition_ == "v100" ? std::string("v100") : std::string("a100");
        if (is_mixed && chance(20)) return "a100:" + number(most) + ",v100:" + number(most);
        if (chance(is_mixed ? 30 : 55)) return number(most);
        return (chance(4) ? std::string("h100") : own) + ":" + number(most);
    }

    void ask() {
        switch (up_to(12)) {
            case 1: case 2: return add("--gpus=" + gpus(9));
            case 3: case 4: return add("--gpus-per-node=" + gpus(4));
            case 5: per_node(); return tasks();
            case 6: add("--gpus-per-task=" + gpus(3)); return tasks();
            case 7: add("--gpus-per-task=" + gpus(2)); return;
            case 8: add("--gpus-per-socket=" + gpus(2)); return add("--sockets-per-node=" + number(2));
            case 9: add("--ntasks-per-gpu=" + number(3)); return chance(50) ? add("--gpus=" + gpus(6)) : tasks();
            case 10: add("--gpus=" + gpus(8)); return per_node();
            case 11: add("--gpus=" + gpus(8)); return tasks();
            default: add("--gpus-per-task=" + gpus(2)); per_node(); return tasks();
        }
    }

    /// --gres wants "gpu:" before each.
    void per_node() {
        auto list = "gpu:" + gpus(4);
        if (const auto comma = list.find(','); comma != std::string::npos) list.insert(comma + 1, "gpu:");
        add("--gres=" + list);
    }

    void tasks() {
        add("--ntasks=" + number(8));
        if (chance(25)) add("--ntasks-per-node=" + number(4));
        if (chance(25)) add("--cpus-per-task=" + number(6));
    }

    void nodes() {
        const unsigned fewest = up_to(3);
        if (has_node_lists && chance(12)) return add("--nodes=" + std::to_string(fewest) + "," + std::to_string(fewest + up_to(3)));
        if (chance(30)) return add("--nodes=" + std::to_string(fewest) + "-" + std::to_string(fewest + up_to(3)));
        if (chance(15)) return add(partition_ == "v100" ? "--nodelist=n[4-5]" : pick({"--nodelist=n1", "--nodelist=n[1-2]", "--nodelist=n1,n3"}));
        add("--nodes=" + std::to_string(fewest));
    }

    void whole_nodes() { add(pick({"--exclusive", "--exclusive", "--exclusive=user", "--core-spec=1", "--oversubscribe"})); }

    void burden() {
        switch (up_to(5)) {
            case 1: return add("--cpus-per-gpu=" + number(8));
            case 2: return add("--mem-per-gpu=" + number(9) + "000");
            case 3: return add("--mem=" + number(20) + "000");
            case 4: return add("--mincpus=" + number(16));
            default: return add("--mem-per-cpu=" + number(6) + "000");
        }
    }

    std::mt19937 source_;
    std::string partition_;
    std::vector<std::string> options_;
};

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

bool Request::names(const std::string& option) const {
    return std::any_of(options.begin(), options.end(), [&](const auto& one) { return one.starts_with(option); });
}

int Request::number_of(const std::string& option) const {
    for (const auto& one : options)
        if (one.starts_with(option + "=")) return std::atoi(one.c_str() + option.size() + 1);
    return 0;
}

bool Request::fixes_nodes() const {
    const std::string prefix = "--nodes=";
    return std::any_of(options.begin(), options.end(), [&](const auto& one) {
        return one.starts_with(prefix) && is_number(one.substr(prefix.size()));
    });
}

std::string Request::text() const {
    std::string line = client == Client::salloc ? "salloc" : "sbatch";
    for (const auto& option : options) line += " " + option;
    return line;
}

std::vector<Request> special_requests() {
    using enum Request::Client;
    std::vector<Request> requests;
    append(requests, of_one_type, "a100", salloc);
    append(requests, of_two_types, "gpu", salloc);
    append(requests, of_whole_nodes, "whole", salloc);
    append(requests, of_pairs, "pairs", salloc);
    append(requests, of_shares, "v100", salloc);
    append(requests, of_mps, "a100", salloc);
    append(requests, of_arrays, "a100", sbatch);
    if (has_node_lists) append(requests, of_node_lists, "a100", salloc);
    return requests;
}

std::vector<Request> drawn_requests(unsigned seed, std::size_t count) {
    Draw draw(seed);
    std::vector<Request> requests;
    while (requests.size() < count) requests.push_back(draw.request());
    return requests;
}

}  // namespace accord::test
