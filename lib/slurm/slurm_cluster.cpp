// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld over libslurm's RPCs.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "slurm/cluster.hpp"
#include "slurm/compat.hpp"
#include "slurm/job_view.hpp"
#include "slurm/shape_view.hpp"

namespace accord {
namespace {

template <auto Free>
struct SlurmFree {
    template <typename T>
    void operator()(T* message) const { Free(message); }
};
using SettingsMessage = std::unique_ptr<slurm_conf_t, SlurmFree<slurm_free_ctl_conf>>;
using JobsMessage = std::unique_ptr<job_info_msg_t, SlurmFree<slurm_free_job_info_msg>>;
using NodesMessage = std::unique_ptr<node_info_msg_t, SlurmFree<slurm_free_node_info_msg>>;
using PartitionsMessage = std::unique_ptr<partition_info_msg_t, SlurmFree<slurm_free_partition_info_msg>>;

tl::unexpected<Error> unavailable(const std::string& what) {
    return fail("unavailable", "slurmctld: cannot " + what + ": " + slurm_strerror(errno));
}

/// Where slurm_errno.h begins to number errors of sockets; which names it has for them differs from release to release.
constexpr int first_socket_error = 5000;

/// Errors of the connection and the protocol, as opposed to what slurmctld itself says of a request (slurm_errno.h).
bool is_transport_error(int code) {
    return code < ESLURM_INVALID_PARTITION_NAME || (code >= first_socket_error && code < ESLURM_AUTH_CRED_INVALID);
}

void set_hold(job_desc_msg_t& desc, HoldChange hold) {
    switch (hold) {
        case HoldChange::release: desc.priority = INFINITE; break;
        case HoldChange::user:
            desc.priority = 0;
            desc.alloc_sid = ALLOC_SID_USER_HOLD;
            break;
        case HoldChange::admin:
            desc.priority = 0;
            desc.alloc_sid = ALLOC_SID_ADMIN_HOLD;
            break;
    }
}

/// Slurm's error for the first part of the job that the update did not change; 0: none.
int update_by_name(job_desc_msg_t& desc) {
    job_array_resp_msg_t* raw = nullptr;
    if (::slurm_update_job2(&desc, &raw) != SLURM_SUCCESS) return errno;
    if (raw == nullptr) return 0;
    const std::unique_ptr<job_array_resp_msg_t, SlurmFree<slurm_free_job_array_resp>> parts(raw);
    for (std::uint32_t i = 0; i < parts->job_array_count; ++i)
        if (parts->error_code[i] != SLURM_SUCCESS) return static_cast<int>(parts->error_code[i]);
    return 0;
}

class SlurmCluster final : public Cluster {
public:
    SlurmCluster() {
        // An array's list of indices is cut to 64 characters otherwise (xlate_array_task_str, 22.05).
        ::setenv("SLURM_BITSTR_LEN", "0", 1);
        ::slurm_init(nullptr);
    }
    ~SlurmCluster() override { ::slurm_fini(); }
    SlurmCluster(const SlurmCluster&) = delete;
    SlurmCluster& operator=(const SlurmCluster&) = delete;

    Result<ClusterSettings> settings() override;
    Result<ClusterShape> shape() override;
    Result<bool> jobs(std::vector<JobView>& list) override;
    void expect_change() override { listed_ = 0; }
    Result<void> update(const JobUpdate& update) override;
    Result<void> cancel(std::uint32_t job_id) override;

private:
    [[nodiscard]] Result<void> answers() const;

    int controllers_ = 1;     ///< in slurm.conf, as slurmctld last had it
    std::time_t listed_ = 0;  ///< slurmctld's time of the last list, 0 for none
};

/// Every other call tries again for MessageTimeout while no controller can be reached; this one tries once.
Result<void> SlurmCluster::answers() const {
    for (int i = 0; i < controllers_; ++i)
        if (::slurm_ping(i) == SLURM_SUCCESS) return {};
    return unavailable("reach it");
}

Result<ClusterSettings> SlurmCluster::settings() {
    if (auto there = answers(); !there) return tl::unexpected(there.error());
    slurm_conf_t* raw = nullptr;
    if (::slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS) return unavailable("read its configuration");
    const SettingsMessage conf(raw);
    ClusterSettings settings;
    if (conf->slurm_user_name) settings.slurm_user = conf->slurm_user_name;
    settings.slurm_user_uid = conf->slurm_user_id;
    for (std::uint32_t i = 0; i < conf->control_cnt; ++i)
        settings.controllers.emplace_back(conf->control_machine[i] ? conf->control_machine[i] : "");
    controllers_ = std::max(1, static_cast<int>(conf->control_cnt));
    settings.prolog_at_allocation = (conf->prolog_flags & PROLOG_FLAG_ALLOC) != 0;
    return settings;
}

Result<ClusterShape> SlurmCluster::shape() {
    if (auto there = answers(); !there) return tl::unexpected(there.error());
    partition_info_msg_t* raw_partitions = nullptr;
    if (::slurm_load_partitions(0, &raw_partitions, SHOW_ALL) != SLURM_SUCCESS) return unavailable("list partitions");
    const PartitionsMessage partitions(raw_partitions);
    node_info_msg_t* raw_nodes = nullptr;
    if (::slurm_load_node(0, &raw_nodes, SHOW_ALL) != SLURM_SUCCESS) return unavailable("list nodes");
    const NodesMessage nodes(raw_nodes);
    return cluster_shape(*partitions, *nodes);
}

Result<bool> SlurmCluster::jobs(std::vector<JobView>& list) {
    if (auto there = answers(); !there) return tl::unexpected(there.error());
    // slurmctld compares seconds; after a clock that went back they mean nothing.
    const auto since = listed_ <= std::time(nullptr) ? listed_ : 0;
    job_info_msg_t* raw = nullptr;
    if (::slurm_load_jobs(since, &raw, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) {
        if (errno == SLURM_NO_CHANGE_IN_DATA) return false;
        listed_ = 0;
        return unavailable("list jobs");
    }
    const JobsMessage message(raw);
    listed_ = message->last_update;
    list.clear();
    list.reserve(message->record_count);
    for (std::uint32_t i = 0; i < message->record_count; ++i) list.push_back(job_view(message->job_array[i]));
    return true;
}

Result<void> SlurmCluster::update(const JobUpdate& update) {
    job_desc_msg_t desc;
    ::slurm_init_job_desc_msg(&desc);
    // By number, not by name: of an array exactly the record that the list showed (update_job, 22.05). A task that has no
    // record yet has a name only, and is split off before the hook is asked (update_job_str).
    auto name = std::to_string(update.job_id) + "_" + std::to_string(update.array_task.value_or(0));
    if (update.array_task) desc.job_id_str = name.data();
    else compat::set_job_id(desc, update.job_id);
    if (update.partition) desc.partition = const_cast<char*>(update.partition->c_str());
    if (update.site_factor) desc.site_factor = static_cast<std::uint32_t>(NICE_OFFSET + *update.site_factor);
    desc.admin_comment = const_cast<char*>(update.admin_comment.c_str());
    if (update.hold) set_hold(desc, *update.hold);
    if (update.begin_s) desc.begin_time = *update.begin_s;
    auto throttle = std::to_string(update.array_limit.value_or(0));
    if (update.array_limit) desc.array_inx = throttle.data();
    const int code = update.array_task ? update_by_name(desc) : ::slurm_update_job(&desc) == SLURM_SUCCESS ? 0 : errno;
    if (code == 0) return {};
    if (is_transport_error(code)) return unavailable("update job " + std::to_string(update.job_id));
    return fail("refused", slurm_strerror(code));
}

/// By way of a step's cancellation without a step, which takes the number for one record; a job's takes an array's number for
/// all of its tasks (job_str_signal, 22.05).
Result<void> SlurmCluster::cancel(std::uint32_t job_id) {
    if (compat::kill_step(job_id, NO_VAL, SIGKILL) == SLURM_SUCCESS) return {};
    const int code = errno;
    if (is_transport_error(code)) return unavailable("cancel job " + std::to_string(job_id));
    return fail("refused", slurm_strerror(code));
}

}  // namespace

std::unique_ptr<Cluster> connect_slurm() { return std::make_unique<SlurmCluster>(); }

}  // namespace accord
