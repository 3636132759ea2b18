// SPDX-License-Identifier: GPL-2.0-or-later
// job_submit/accord as slurmctld opens it: no logic, and nothing that could end slurmctld.
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>

#include "contract/config_toml.hpp"
#include "service.hpp"
#include "slurm/compat.hpp"
#include "slurm_host.hpp"

namespace {

constexpr const char* failure =
    "accord: no decision can be made now: try again later, or ask the cluster's administrators [store_unavailable]";

/// Raw, so that nothing ends it while slurmctld exits with threads running: fini is not called then.
accord::Service* service = nullptr;

/// Runs a hook. What it throws, and a plugin that did not come up, are an answer of their own. errno is 0 afterwards:
/// slurmctld takes a stale one for the result of a partition or account change (_update_job, 22.05 to 26.05).
template <typename Hook>
int guard(std::uint32_t caller_uid, char** err_msg, bool message_on_success, Hook&& hook) noexcept {
    accord::Answer answer{caller_uid == 0 ? SLURM_SUCCESS : ESLURM_DISABLED, {}};
    const char* message = failure;
    try {
        if (service == nullptr) throw std::runtime_error("the plugin did not come up");
        answer = hook(*service);
        message = answer.message.c_str();
    } catch (const std::exception& exception) {
        accord::log_error(exception.what());
    } catch (...) {
        accord::log_error("something unknown was thrown");
    }
    const bool tells = answer.code != SLURM_SUCCESS || message_on_success;
    if (err_msg != nullptr && tells && *message != '\0') *err_msg = accord::new_slurm_text(message);
    errno = 0;
    return answer.code;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

extern const char plugin_name[];
extern const char plugin_type[];
extern const std::uint32_t plugin_version;
const char plugin_name[] = "Contract governance";
const char plugin_type[] = "job_submit/accord";
const std::uint32_t plugin_version = accord::compat::build_version;

/// Always successful: a plugin that fails here can stop slurmctld.
int init() {
    try {
        service = new accord::Service(accord::config_path());
    } catch (const std::exception& exception) {
        accord::log_error(exception.what());
    } catch (...) {
        accord::log_error("cannot start: something unknown was thrown");
    }
    errno = 0;
    return SLURM_SUCCESS;
}

int fini() {
    delete std::exchange(service, nullptr);
    errno = 0;
    return SLURM_SUCCESS;
}

int job_submit(job_desc_msg_t* job_desc, std::uint32_t submit_uid, char** err_msg) {
    return guard(submit_uid, err_msg, true,
                 [&](accord::Service& with) { return with.submit(*job_desc, submit_uid); });
}

/// A message on success would be printed as an error by newer releases.
int job_modify(job_desc_msg_t* job_desc, void* job_record, std::uint32_t submit_uid ACCORD_MODIFY_MESSAGE_PARAMETER) {
    return guard(submit_uid, ACCORD_MODIFY_MESSAGE, false,
                 [&](accord::Service& with) { return with.modify(*job_desc, job_record, submit_uid); });
}

}  // extern "C"
#pragma GCC visibility pop
