// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/slurm_controls.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace accord {
namespace {

using State = ControlState;

std::string or_none(const std::string& text) { return text.empty() ? "(none)" : text; }
std::string or_none(const std::vector<std::string>& list) { return or_none(fmt::format("{}", fmt::join(list, ","))); }

bool has(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

/// The socket that AuthInfo names for munged; empty: libmunge's default.
std::string socket_in(const std::string& auth_info) {
    constexpr std::string_view key = "socket=";
    const auto at = auth_info.find(key);
    if (at == std::string::npos) return {};
    const auto start = at + key.size();
    return auth_info.substr(start, auth_info.find(',', start) - start);
}

void check_preemption(Controls& controls, const SlurmControls& slurm) {
    check(controls, "slurm.conf PreemptType", slurm.preempt_type == "preempt/partition_prio", State::mismatch,
          or_none(slurm.preempt_type),
          {"owners get lent GPUs back by preemption between partitions", "slurm.conf: PreemptType=preempt/partition_prio"});
    check(controls, "slurm.conf PreemptMode", slurm.preempt_mode == "REQUEUE" || slurm.preempt_mode == "CANCEL",
          State::mismatch, slurm.preempt_mode,
          {slurm.preempt_mode == "SUSPEND" ? "a suspended job keeps its GPUs, so nothing is given back"
                                           : "without it no partition's jobs are preempted",
           "slurm.conf: PreemptMode=REQUEUE"});
    check(controls, "slurm.conf PriorityType", slurm.priority_type == "priority/multifactor", State::mismatch,
          or_none(slurm.priority_type),
          {"site factors, by which jobs are ordered, are ignored under any other (R16)",
           "slurm.conf: PriorityType=priority/multifactor"});
    check(controls, "slurm.conf JobRequeue", slurm.requeues_by_default, State::warning,
          slurm.requeues_by_default ? "1" : "0",
          {"a job that does not say --requeue cannot borrow and waits for guaranteed GPUs (R6)", "slurm.conf: JobRequeue=1"});
}

void check_plugins(Controls& controls, const SlurmControls& slurm) {
    check(controls, "slurm.conf JobSubmitPlugins", has(slurm.job_submit_plugins, "accord"), State::missing,
          or_none(slurm.job_submit_plugins), {"no job is judged without it", "slurm.conf: JobSubmitPlugins=accord"});
    if (has(slurm.job_submit_plugins, "accord"))
        check(controls, "slurm.conf JobSubmitPlugins order", slurm.job_submit_plugins.back() == "accord", State::warning,
              or_none(slurm.job_submit_plugins),
              {"a plugin behind it can change what was judged", "slurm.conf: name accord last in JobSubmitPlugins"});
    check(controls, "slurm.conf PrologFlags", slurm.prolog_at_allocation, State::missing,
          slurm.prolog_at_allocation ? "Alloc" : "without Alloc",
          {"a user's srun could feed a node's prolog a scope of its own; nothing is promoted or released without it",
           "slurm.conf: PrologFlags=Alloc"});
    check(controls, "slurm.conf SelectType", slurm.select_type == "select/cons_tres", State::mismatch,
          or_none(slurm.select_type), {"only it knows --gpus and its kin", "slurm.conf: SelectType=select/cons_tres"});
    check(controls, "slurm.conf GresTypes", has(slurm.gres_types, "gpu"), State::missing, or_none(slurm.gres_types),
          {"without it no job can ask for a GPU", "slurm.conf: GresTypes=gpu"});
}

}  // namespace

Controls check_slurm(const Config& config, const SlurmControls& slurm) {
    Controls controls;
    check(controls, "ClusterName", slurm.cluster_name == config.cluster, State::mismatch, slurm.cluster_name,
          {"nodes refuse grants for another cluster", fmt::format("accord.toml: cluster = \"{}\"", slurm.cluster_name)});
    check_plugins(controls, slurm);
    check_preemption(controls, slurm);
    const auto socket = socket_in(slurm.auth_info);
    if (!socket.empty())
        check(controls, "munge socket", socket == config.munge_socket, State::mismatch, config.munge_socket,
              {fmt::format("slurm.conf's AuthInfo names {}: a seal by another munged is refused on the nodes", socket),
               fmt::format("accord.toml: [munge] socket = \"{}\"", socket)});
    check(controls, "slurm.conf EnforcePartLimits", slurm.enforces_partition_limits, State::warning,
          slurm.enforces_partition_limits ? "ANY or ALL" : "NO",
          {"a job beyond its partition's limits is accepted, never starts, and keeps its claim",
           "slurm.conf: EnforcePartLimits=ALL"});
    check(controls, "slurm.conf SchedulerParameters", !slurm.permits_job_expansion, State::mismatch,
          slurm.permits_job_expansion ? "permit_job_expansion" : "without permit_job_expansion",
          {"a job with --dependency=expand takes over another one's allocation, which is judged as its own request",
           "slurm.conf: take permit_job_expansion out of SchedulerParameters"});
    check(controls, "federation", slurm.federation.empty(), State::mismatch,
          slurm.federation.empty() ? "none" : slurm.federation,
          {"jobs that other clusters of a federation route here are not supported in governed pools",
           fmt::format("sacctmgr modify federation {} set clusters-={}", slurm.federation, slurm.cluster_name)});
    if (slurm.accounting_type == "accounting_storage/slurmdbd")
        check(controls, "slurm.conf AccountingStorageTRES", has(slurm.accounting_tres, "gres/gpu"), State::mismatch,
              or_none(slurm.accounting_tres),
              {"GPUs are missing from Slurm's own accounting", "slurm.conf: AccountingStorageTRES=gres/gpu"});
    check(controls, "slurm.conf JobContainerType", slurm.container_type.find("tmpfs") == std::string::npos, State::warning,
          or_none(slurm.container_type),
          {"job_container/tmpfs and contracts with private folders both make a job's /tmp: Accord's namespace replaces the "
           "other one in every task of a job whose contract restricts files",
           "slurm.conf: JobContainerType=job_container/none"});
    return controls;
}

}  // namespace accord
