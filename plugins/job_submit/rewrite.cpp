// SPDX-License-Identifier: GPL-2.0-or-later
#include "rewrite.hpp"

#include <string>

#include <fmt/format.h>

#include "seal/grant.hpp"
#include "slurm/compat.hpp"
#include "slurm_host.hpp"

namespace accord {
namespace {

/// Every name that begins so is Accord's, whatever follows.
constexpr std::string_view own_prefix = "SPANK_ACCORD_";

/// Drops Accord's entries and NULLs; what stays keeps its order.
void remove_own_entries(job_desc_msg_t& desc) {
    if (desc.spank_job_env == nullptr) desc.spank_job_env_size = 0;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < desc.spank_job_env_size; ++i) {
        char*& entry = desc.spank_job_env[i];
        if (entry != nullptr && std::string_view(entry).starts_with(own_prefix)) free_slurm_text(entry);
        if (entry != nullptr) desc.spank_job_env[kept++] = entry;
    }
    for (std::uint32_t i = kept; i < desc.spank_job_env_size; ++i) desc.spank_job_env[i] = nullptr;
    desc.spank_job_env_size = kept;
}

void add_entry(job_desc_msg_t& desc, std::string_view name, std::string_view value) {
    resize_slurm_array(desc.spank_job_env, desc.spank_job_env_size + 2);
    desc.spank_job_env[desc.spank_job_env_size++] = new_slurm_text(fmt::format("{}={}", name, value));
    desc.spank_job_env[desc.spank_job_env_size] = nullptr;
}

void set_tres(char*& field, const std::optional<std::string>& text) {
    if (text) set_slurm_text(field, compat::spelled(*text));
}

}  // namespace

void apply_rewrite(job_desc_msg_t& desc, const Rewrite& rewrite) {
    if (!rewrite.account.empty()) set_slurm_text(desc.account, rewrite.account);
    if (!rewrite.partition.empty()) set_slurm_text(desc.partition, rewrite.partition);
    if (rewrite.hold) desc.priority = 0;
    if (rewrite.begin_s) desc.begin_time = *rewrite.begin_s;
    if (rewrite.site_factor) desc.site_factor = static_cast<std::uint32_t>(std::int64_t{NICE_OFFSET} + *rewrite.site_factor);
    if (rewrite.time_limit_min) desc.time_limit = static_cast<std::uint32_t>(*rewrite.time_limit_min);
    if (rewrite.admin_comment) set_slurm_text(desc.admin_comment, *rewrite.admin_comment);
    if (rewrite.gpus) {
        set_tres(desc.tres_per_job, rewrite.gpus->tres_per_job);
        set_tres(desc.tres_per_node, rewrite.gpus->tres_per_node);
        set_tres(desc.tres_per_socket, rewrite.gpus->tres_per_socket);
        set_tres(desc.tres_per_task, rewrite.gpus->tres_per_task);
    }
    if (rewrite.array_limit && desc.array_inx != nullptr) {
        const std::string_view given = desc.array_inx;
        set_slurm_text(desc.array_inx, fmt::format("{}%{}", given.substr(0, given.find('%')), *rewrite.array_limit));
    }
}

void apply_marks(job_desc_msg_t& desc, const Marks& marks) {
    if (!marks.admin_comment.empty()) set_slurm_text(desc.admin_comment, marks.admin_comment);
    remove_own_entries(desc);
    if (!marks.grant.empty()) add_entry(desc, grant_env, marks.grant);
    if (!marks.decision.empty()) add_entry(desc, decision_env, marks.decision);
}

}  // namespace accord
