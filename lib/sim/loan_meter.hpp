// SPDX-License-Identifier: GPL-2.0-or-later
// GPU-seconds of one GPU type of a pool: used within guarantees, borrowed, lent and of no owner.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "policy/gpus.hpp"

namespace accord::sim {

/// allocated = ∫ min(used, guarantee) dt and borrowed = ∫ (used − guarantee)⁺ dt for each party. What is borrowed in all
/// comes first from GPUs that no guarantee covers, then from idle guarantees, in proportion to them and up to the lend
/// limits, and so lent. Over all parties borrowed = lent + unowned, to the GPU-second: what proportions leave of one goes
/// by largest remainder. Times must not fall.
class LoanMeter {
public:
    struct Totals {
        std::int64_t allocated_gpu_s = 0, borrowed_gpu_s = 0, lent_gpu_s = 0;
    };

    explicit LoanMeter(Gpus capacity, std::int64_t start_s) : capacity_(capacity), now_s_(start_s) {}

    /// A contract, or an account without one. Its guarantee is 0 at first.
    std::size_t add_party();
    void set_guarantee(std::size_t party, Gpus guarantee, Gpus lend_limit, std::int64_t now_s);
    void use(std::size_t party, Gpus more, std::int64_t now_s);

    /// Counts up to `now_s` and tells each party's totals.
    [[nodiscard]] std::vector<Totals> totals(std::int64_t now_s);
    [[nodiscard]] std::size_t parties() const { return parties_.size(); }
    [[nodiscard]] std::int64_t unowned_gpu_s() const { return unowned_gpu_s_; }
    [[nodiscard]] Gpus used(std::size_t party) const { return parties_[party].used; }
    /// What it uses beyond its guarantee; below 0 where it uses less.
    [[nodiscard]] Gpus beyond(std::size_t party) const { return parties_[party].used - parties_[party].guarantee; }

private:
    __extension__ using Wide = unsigned __int128;
    struct Party {
        Gpus guarantee = 0, lend_limit = std::numeric_limits<Gpus>::max(), used = 0;
        std::int64_t since_s = 0, allocated_gpu_s = 0, borrowed_gpu_s = 0;
        Wide by_limit_at = 0, by_idle_at = 0;  ///< the pool's integrals when it was settled last
        Wide lent = 0;                         ///< GPU-seconds, scaled

        [[nodiscard]] Gpus idle() const { return used < guarantee ? guarantee - used : 0; }
        [[nodiscard]] Gpus lendable() const { return idle() < lend_limit ? idle() : lend_limit; }
        [[nodiscard]] Gpus beyond() const { return used > guarantee ? used - guarantee : 0; }
    };

    void advance(std::int64_t now_s);
    void settle(Party& party) const;
    template <typename Change>
    void change(std::size_t party, std::int64_t now_s, Change&& change);

    Gpus capacity_;
    std::int64_t now_s_;
    std::vector<Party> parties_;
    Gpus guaranteed_ = 0, beyond_ = 0, idle_ = 0, lendable_ = 0;  ///< sums over the parties
    Wide by_limit_ = 0, by_idle_ = 0;  ///< ∫ lent ÷ lendable dt, and ÷ idle where more is lent than limits allow
    std::int64_t lent_gpu_s_ = 0, unowned_gpu_s_ = 0;
};

}  // namespace accord::sim
