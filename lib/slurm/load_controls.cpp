// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm/load_controls.hpp"

#include <dlfcn.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>

#include <cerrno>
#include <memory>

#include "slurm/values.hpp"

namespace accord {
namespace {

template <auto Free>
struct SlurmFree {
    template <typename T>
    void operator()(T* message) const { Free(message); }
};

tl::unexpected<Error> unavailable(const std::string& what) {
    return fail("unavailable", "slurmctld: cannot " + what + ": " + slurm_strerror(errno));
}

GpuDefaults gpu_defaults(const slurm_conf_t& conf) {
    GpuDefaults defaults;
    if (conf.job_defaults_list == nullptr) return defaults;
    auto* const iterator = ::slurm_list_iterator_create(conf.job_defaults_list);
    while (const auto* one = static_cast<const job_defaults_t*>(::slurm_list_next(iterator))) {
        if (one->type == JOB_DEF_CPU_PER_GPU) defaults.cpus = static_cast<std::int64_t>(one->value);
        if (one->type == JOB_DEF_MEM_PER_GPU) defaults.mem_mb = static_cast<std::int64_t>(one->value);
    }
    ::slurm_list_iterator_destroy(iterator);
    return defaults;
}

/// The federation's name; empty where the cluster is in none.
std::string federation_name() {
    void* raw = nullptr;
    if (::slurm_load_federation(&raw) != SLURM_SUCCESS || raw == nullptr) return {};
    const std::unique_ptr<void, SlurmFree<slurm_destroy_federation_rec>> federation(raw);
    const char* name = static_cast<slurmdb_federation_rec_t*>(raw)->name;
    return name ? name : "";
}

}  // namespace

Result<SlurmControls> load_controls(const Cluster&) {
    slurm_conf_t* raw_conf = nullptr;
    if (::slurm_load_ctl_conf(0, &raw_conf) != SLURM_SUCCESS) return unavailable("read its configuration");
    const std::unique_ptr<slurm_conf_t, SlurmFree<slurm_free_ctl_conf>> conf(raw_conf);
    partition_info_msg_t* raw_partitions = nullptr;
    if (::slurm_load_partitions(0, &raw_partitions, SHOW_ALL) != SLURM_SUCCESS) return unavailable("list partitions");
    const std::unique_ptr<partition_info_msg_t, SlurmFree<slurm_free_partition_info_msg>> partitions(raw_partitions);
    auto controls = slurm_controls(*conf, *partitions, gpu_defaults(*conf));
    controls.federation = federation_name();
    return controls;
}

// The library's own copy, which slurm_init() read; the header of the same release does not declare it.
HostConf host_conf(const Cluster&) {
    const auto* conf = static_cast<const slurm_conf_t*>(::dlsym(RTLD_DEFAULT, "slurm_conf"));
    if (conf == nullptr) return {};
    return {text_of(conf->plugindir), text_of(conf->plugstack)};
}

}  // namespace accord
