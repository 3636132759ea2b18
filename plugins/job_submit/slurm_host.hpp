// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld offers to a plugin that runs inside it: its allocator, its log and what it knows of itself.
#pragma once

#include <slurm/slurm.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace accord {

/// Replaces a string of a structure that slurmctld frees.
void set_slurm_text(char*& field, std::string_view text);
/// A string that slurmctld will free.
[[nodiscard]] char* new_slurm_text(std::string_view text);
void free_slurm_text(char*& field);
/// Makes room for `count` pointers; new ones are NULL.
void resize_slurm_array(char**& array, std::size_t count);

/// One line in slurmctld's log, with the prefix "accord: ".
void log_info(std::string_view line);
void log_error(std::string_view line);

/// What slurmctld knows of itself.
class SlurmHost {
public:
    /// Looks its variables up; call in init.
    SlurmHost();

    /// This controller's place in slurm.conf.
    [[nodiscard]] std::uint32_t controller() const { return controller_; }
    /// JobRequeue. Call under slurmctld's configuration lock, which every hook is called with.
    [[nodiscard]] bool requeue_default() const { return conf_ == nullptr || conf_->job_requeue != 0; }
    /// SlurmUser's uid.
    [[nodiscard]] std::uint32_t slurm_user() const { return slurm_user_; }
    /// Whether Slurm lets the user change anybody's jobs: root, SlurmUser, and operators and administrators of slurmdbd's.
    [[nodiscard]] bool is_operator(std::uint32_t uid) const;
    /// What could not be read, and what is assumed instead; empty when all was.
    [[nodiscard]] const std::string& doubt() const { return doubt_; }

private:
    const slurm_conf_t* conf_ = nullptr;  ///< slurmctld's own
    bool (*validate_operator_)(uid_t uid) = nullptr;
    std::uint32_t controller_ = 0;
    std::uint32_t slurm_user_ = 0;
    std::string doubt_;
};

}  // namespace accord
