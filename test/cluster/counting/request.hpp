// SPDX-License-Identifier: GPL-2.0-or-later
// Requests for GPUs as people may type them, the same ones every time for one seed.
#pragma once

#include <string>
#include <vector>

namespace accord::test {

struct Request {
    /// salloc asks for what must be given at once or not at all; sbatch waits for Slurm's next round.
    enum class Client { salloc, sbatch } client = Client::salloc;
    std::vector<std::string> options;

    /// Whether an option begins so.
    [[nodiscard]] bool names(const std::string& option) const;
    /// The number behind "OPTION="; 0 without one.
    [[nodiscard]] int number_of(const std::string& option) const;
    /// Names a number of nodes, and neither a range nor a list of them.
    [[nodiscard]] bool fixes_nodes() const;
    /// As a line to type.
    [[nodiscard]] std::string text() const;
};

/// Every form that is worth trying by itself: `partition` has one type of GPU, `mix` two, `whole` is exclusive and
/// `pairs` gives two nodes at least.
std::vector<Request> special_requests();

/// `count` more, drawn at random.
std::vector<Request> drawn_requests(unsigned seed, std::size_t count);

}  // namespace accord::test
