// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/ask_nodes.hpp"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace accord {
namespace {

constexpr std::size_t at_once = 16;
constexpr int start_within_s = 5;
constexpr int most_s = 15;      ///< for a node's whole answer
constexpr int ended_by_timeout = 124, killed_by_timeout = 137;  ///< timeout(1)

using Pipe = std::unique_ptr<FILE, int (*)(FILE*)>;

std::string own_program() {
    std::array<char, PATH_MAX> path{};
    const auto size = ::readlink("/proc/self/exe", path.data(), path.size());
    return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

/// What a surrounding job or a user's habit says must not shape ours.
void forget_job_environment() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto name = text.substr(0, text.find('='));
        if (name.starts_with("SLURM_") && name != "SLURM_CONF") names.emplace_back(name);
    }
    for (const auto& name : names) ::unsetenv(name.c_str());
}

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// An srun under way. Its two streams are apart: they do not come in the order in which they were written.
struct Question {
    Pipe output{nullptr, ::pclose};
    std::unique_ptr<FILE, int (*)(FILE*)> complaints{nullptr, std::fclose};
};

Question start(const NodeToAsk& node) {
    Question question;
    question.complaints.reset(std::tmpfile());
    if (!question.complaints) return question;
    const auto command = fmt::format(
        "timeout --kill-after=5 {} srun --quiet --job-name=accord-doctor --partition={} --nodelist={} --nodes=1 --ntasks=1 "
        "--cpus-per-task=1 --mem=64M --time=1 --immediate={} --input=none --chdir=/ {} doctor --node --json 2>/proc/self/fd/{} </dev/null",
        most_s, quoted(node.partition), quoted(node.node), start_within_s, quoted(own_program()), ::fileno(question.complaints.get()));
    question.output.reset(::popen(command.c_str(), "r"));
    return question;
}

std::string text_of(FILE* file) {
    std::string text;
    std::array<char, 4096> part{};
    while (const auto got = std::fread(part.data(), 1, part.size(), file)) text.append(part.data(), got);
    return text;
}

NodeAnswer answer_of(const NodeToAsk& node, Question question) {
    NodeAnswer answer;
    answer.node = node.node;
    answer.asked = node.takes_jobs;
    if (!question.output) return answer;
    answer.output = text_of(question.output.get());
    const int status = ::pclose(question.output.release());
    std::rewind(question.complaints.get());
    answer.complaints = text_of(question.complaints.get());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    answer.out_of_time = code == ended_by_timeout || code == killed_by_timeout;
    return answer;
}

}  // namespace

std::vector<NodeAnswer> ask_nodes(const std::vector<NodeToAsk>& nodes) {
    forget_job_environment();
    std::vector<NodeAnswer> answers;
    for (std::size_t first = 0; first < nodes.size(); first += at_once) {
        const auto end = std::min(nodes.size(), first + at_once);
        std::vector<Question> questions;
        for (auto i = first; i < end; ++i) questions.push_back(nodes[i].takes_jobs ? start(nodes[i]) : Question());
        for (auto i = first; i < end; ++i) answers.push_back(answer_of(nodes[i], std::move(questions[i - first])));
    }
    return answers;
}

}  // namespace accord
