// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement.hpp"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "slurm/job_view.hpp"

namespace accord::test {

namespace {

using namespace std::chrono_literals;

template <typename Condition>
bool wait_for(std::chrono::milliseconds limit, Condition&& holds) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

struct FreeJobs {
    void operator()(job_info_msg_t* jobs) const { slurm_free_job_info_msg(jobs); }
};
using Jobs = std::unique_ptr<job_info_msg_t, FreeJobs>;

/// None once Slurm has forgotten the job.
Jobs load_job(std::uint32_t job_id) {
    job_info_msg_t* jobs = nullptr;
    return slurm_load_job(&jobs, job_id, SHOW_ALL | SHOW_DETAIL) == SLURM_SUCCESS ? Jobs(jobs) : nullptr;
}

bool is_in(const slurm_job_info_t& job, job_states state) { return (job.job_state & JOB_STATE_BASE) == state; }

/// What the command says on either stream.
std::string output_of(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    const auto child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(arguments.front(), arguments.data());
        _exit(127);
    }
    close(ends[1]);
    std::string said;
    std::array<char, 4096> part;
    for (ssize_t size; (size = read(ends[0], part.data(), part.size())) > 0;) said.append(part.data(), static_cast<std::size_t>(size));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return said;
}

std::string run_client(const std::string& user, const Request& request) {
    const bool waits = request.client == Request::Client::sbatch;
    std::vector<std::string> words = {"runuser", "--user=" + user, "--", waits ? "sbatch" : "salloc", "--chdir=/tmp"};
    words.insert(words.end(), request.options.begin(), request.options.end());
    if (waits)
        words.insert(words.end(), {"--output=/dev/null", "--wrap=sleep 300"});
    else
        words.insert(words.end(), {"--no-shell", "--immediate=1"});
    return output_of(std::move(words));
}

std::optional<std::uint32_t> number_after(std::string_view text, std::string_view words) {
    const auto at = text.find(words);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + words.size());
    std::uint32_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) return std::nullopt;
    return value;
}

/// "gpu:a100:2(IDX:0-1)" of one node's list: name, type and count, and what stands between the parentheses.
struct Gres {
    std::string_view name, type, detail;
    Gpus count = 0;
};

std::vector<Gres> read_gres(std::string_view list) {
    std::vector<Gres> found;
    while (!list.empty()) {
        Gres gres;
        const auto end = std::min(list.find('('), list.size());
        auto head = list.substr(0, end);
        list.remove_prefix(end);
        const auto close = std::min(list.find(')'), list.size());
        gres.detail = list.substr(0, close);
        list.remove_prefix(std::min(close + 1, list.size()));
        if (list.starts_with(",")) list.remove_prefix(1);
        const auto last = head.rfind(':');
        std::from_chars(head.data() + last + 1, head.data() + head.size(), gres.count);
        head = head.substr(0, last);
        gres.name = head.substr(0, head.find(':'));
        if (gres.name.size() < head.size()) gres.type = head.substr(gres.name.size() + 1);
        found.push_back(gres);
    }
    return found;
}

/// "(2/8,0/8)" tells of each of the node's GPUs how much of it is in use, "(IDX:0-1)" which are.
Gpus gpus_touched(std::string_view detail) {
    Gpus touched = 0;
    if (const auto first = number_after(detail, "IDX:")) {
        const auto last = number_after(detail, "-").value_or(*first);
        return last - *first + 1 + std::count(detail.begin(), detail.end(), ',');
    }
    for (auto slash = detail.find('/'); slash != std::string_view::npos; slash = detail.find('/', slash + 1)) {
        const auto begin = detail.find_last_of("(,", slash) + 1;
        if (detail.substr(begin, slash - begin) != "0") ++touched;
    }
    return touched;
}

std::vector<std::string> names_in(const char* list) {
    std::vector<std::string> names;
    const auto hosts = slurm_hostlist_create(list);
    while (char* name = slurm_hostlist_shift(hosts)) {
        names.emplace_back(name);
        std::free(name);
    }
    slurm_hostlist_destroy(hosts);
    return names;
}

/// "0-3,8": how many numbers a list of them and of ranges names.
std::int64_t size_of(std::string_view list) {
    std::int64_t size = 0;
    while (!list.empty()) {
        const auto range = list.substr(0, list.find(','));
        const auto first = number_after(range, "").value_or(0);
        size += number_after(range, "-").value_or(first) - first + 1;
        list.remove_prefix(std::min(range.size() + 1, list.size()));
    }
    return size;
}

std::string_view word_after(std::string_view text, std::string_view words) {
    const auto at = text.find(words);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + words.size());
    return text.substr(0, text.find_first_of(" \n"));
}

bool all_idle() {
    job_info_msg_t* jobs = nullptr;
    if (slurm_load_jobs(0, &jobs, SHOW_ALL) != SLURM_SUCCESS) return false;
    const Jobs owner(jobs);
    const bool none = std::all_of(jobs->job_array, jobs->job_array + jobs->record_count, [](const auto& job) {
        return (job.job_state & JOB_COMPLETING) == 0 && !is_in(job, JOB_PENDING) && !is_in(job, JOB_RUNNING);
    });
    if (!none) return false;
    node_info_msg_t* nodes = nullptr;
    if (slurm_load_node(0, &nodes, SHOW_ALL) != SLURM_SUCCESS) return false;
    const bool idle = std::all_of(nodes->node_array, nodes->node_array + nodes->record_count,
                                  [](const auto& node) { return node.node_state == NODE_STATE_IDLE; });
    slurm_free_node_info_msg(nodes);
    return idle;
}

}  // namespace

Slurm::Slurm(std::string user, Share share) : user_(std::move(user)), share_(share) { slurm_init(nullptr); }

/// `nodes` is a line such as "Nodes=n[1-2] CPU_IDs=0-1 Mem=2000 GRES=gpu:a100:1(IDX:0)", of nodes that give alike.
void Slurm::add_nodes(Allocation& allocation, std::string_view nodes) const {
    const auto count = static_cast<Gpus>(names_in(std::string(word_after(nodes, "Nodes=")).c_str()).size());
    const auto cpus = size_of(word_after(nodes, "CPU_IDs="));
    const std::int64_t memory = number_after(nodes, "Mem=").value_or(0);
    Gpus own = 0;
    for (const auto& gres : read_gres(word_after(nodes, "GRES="))) {
        if (gres.name == "shard" || gres.name == "mps") allocation.parted += count * gpus_touched(gres.detail);
        if (gres.name != "gpu" || gres.count == 0) continue;
        allocation.gpus[std::string(gres.type)] += count * gres.count;
        own += gres.count;
    }
    allocation.unusable += count * std::max({own, ceil_div(cpus, share_.cpus), ceil_div(memory, share_.memory_mb)});
    allocation.cpus += count * cpus;
    allocation.memory_mb += count * memory;
}

/// The record of one job as scontrol shows it.
Allocation Slurm::allocation_of(std::string_view record) const {
    Allocation allocation;
    const std::string_view begin = "     Nodes=";
    for (auto at = record.find(begin); at != std::string_view::npos; at = record.find(begin, at + 1))
        add_nodes(allocation, record.substr(at, record.find('\n', at) - at));
    const auto own = total(allocation.gpus) + allocation.parted;
    allocation.share_cpus = share_.cpus;
    allocation.within_share = allocation.cpus <= own * share_.cpus && allocation.memory_mb <= own * share_.memory_mb;
    return allocation;
}

std::vector<Allocation> Slurm::allocations_of(std::uint32_t job_id) const {
    std::vector<Allocation> allocations;
    const auto jobs = load_job(job_id);
    if (!jobs) return allocations;
    const auto shown = output_of({"scontrol", "--details", "show", "job", std::to_string(job_id)});
    for (const auto& job : std::span(jobs->job_array, jobs->record_count)) {
        if (!is_in(job, JOB_RUNNING)) continue;
        const auto at = shown.find("JobId=" + std::to_string(job.job_id) + " ");
        if (at == std::string::npos) continue;
        const std::string_view from_it(shown.data() + at, shown.size() - at);
        allocations.push_back(allocation_of(from_it.substr(0, from_it.find("\nJobId="))));
        allocations.back().read = job_view(job).allocated;
    }
    return allocations;
}

/// A job that Slurm has looked at and left pending on idle nodes never runs; of an array the rest has to wait for room.
Placement Slurm::place(const Request& request) const {
    Placement placement;
    placement.words = run_client(user_, request);
    const bool waits = request.client == Request::Client::sbatch;
    const auto job_id = number_after(placement.words, waits ? "Submitted batch job " : "Granted job allocation ");
    if (job_id) {
        wait_for(5s, [&] {
            const auto jobs = load_job(*job_id);
            return !jobs || std::all_of(jobs->job_array, jobs->job_array + jobs->record_count, [](const auto& job) {
                return !is_in(job, JOB_PENDING) || job.state_reason != WAIT_NO_REASON;
            });
        });
        placement.allocations = allocations_of(*job_id);
        slurm_kill_job(*job_id, SIGKILL, 0);
    }
    if (!wait_for(60s, all_idle)) throw std::runtime_error(request.text() + ": the nodes did not become idle again");
    return placement;
}

}  // namespace accord::test
