// SPDX-License-Identifier: GPL-2.0-or-later
// From a job's grant to its verdict and view. Never fails towards Slurm: that would drain the node.
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "contract/config_toml.hpp"
#include "hooks.hpp"
#include "log.hpp"
#include "scope/mount_plan.hpp"
#include "scope/private_dir.hpp"
#include "scope/view.hpp"
#include "seal/grant_check.hpp"
#include "seal/munge.hpp"
#include "slurm_node.hpp"
#include "sys/identity.hpp"

namespace accord::spank {
namespace {

Verdict refused(const std::string& reason) {
    Verdict verdict;
    verdict.reason = reason;
    return verdict;
}

Verdict not_governed() {
    Verdict verdict;
    verdict.kind = Verdict::Kind::not_governed;
    return verdict;
}

class Prolog {
public:
    Prolog(const SlurmNode& node, const SlurmJob& job, int folder) : node_(node), job_(job), folder_(folder) {}

    Verdict judge(const std::string& config_path) {
        const auto config = load_config(config_path);
        // Without it nobody knows what is governed; root's jobs are let through, as at submission.
        if (!config) return job_.uid == 0 ? not_governed() : refused(place_of(config.error()) + config.error().what);
        if (config->cluster != node_.cluster)
            return refused(fmt::format("{} is for the cluster {}, not for {}", config_path, config->cluster, node_.cluster));
        const PoolConfig* pool = config->pool_of(job_.partition);
        const bool lent = pool == nullptr;
        if (lent) pool = config->pool_lending_in(job_.partition);
        if (pool == nullptr || config->mode == Mode::observe) return not_governed();
        if (job_.sealed_grant.empty()) return without_grant(*config);
        const auto grant = open_grant(*config, *pool);
        if (!grant) return refused(grant.error().what);
        return with_grant(*config, *grant, lent ? "borrowed" : "guaranteed");
    }

private:
    static std::string place_of(const Error& error) { return error.where.empty() ? "" : error.where + ": "; }

    [[nodiscard]] Verdict without_grant(const Config& config) const {
        if (config.node.ungranted == Ungranted::refuse) return refused("it has no grant");
        log_error(fmt::format("job {} has no grant and runs unscoped (ungranted = \"log\")", to_string(job_.start)));
        return not_governed();
    }

    [[nodiscard]] Result<Grant> open_grant(const Config& config, const PoolConfig& pool) const {
        const auto sealed = Munge(config.munge_socket).unseal(job_.sealed_grant);
        if (!sealed) return fail("grant", "its grant cannot be opened: " + sealed.error().what);
        const GrantedJob job{node_.cluster, job_.uid, job_.account, pool.partition};
        auto grant = grant_from_json(sealed->payload);
        // Who sealed it comes first: what a stranger sealed need not be a grant at all.
        if (!grant && sealed->uid == node_.slurm_user) return grant;
        const auto checked =
            check_grant(grant.value_or(Grant{}), sealed->uid, node_.slurm_user, job, std::time(nullptr));
        if (!checked) return tl::unexpected(checked.error());
        return grant;
    }

    Verdict with_grant(const Config& config, const Grant& grant, const char* cls) {
        if (auto kept = write_record(folder_, "grant", to_json(grant)); !kept) return refused(kept.error().what);
        Verdict verdict;
        verdict.kind = Verdict::Kind::ok;
        verdict.no_new_privs = config.node.no_new_privs && !grant.exempt;
        verdict.has_view = grant.scope.restricts();
        verdict.context = {{"ACCORD_CONTRACT", grant.contract},
                           {"ACCORD_CLASS", grant.exempt ? "exempt" : cls},
                           {"ACCORD_DECISION", job_.decision}};
        if (verdict.has_view)
            if (auto made = make_job_view(config, grant.scope); !made) return refused(made.error().what);
        return verdict;
    }

    Result<void> make_job_view(const Config& config, const FilesystemScope& scope) {
        auto user = user_of(job_.uid);
        if (!user) return tl::unexpected(user.error());
        user->gid = job_.gid;
        auto needs = node_.needs;
        needs.push_back(config.munge_socket.substr(0, config.munge_socket.rfind('/')));
        auto plan = plan_mounts(scope, config.node.scope_roots, needs);
        if (!plan) return tl::unexpected(plan.error());
        const PrivateOwner owner{node_.cluster, node_.name, to_string(job_.start)};
        if (auto kept = record_private_dirs(folder_, scope.private_dirs); !kept) return kept;
        const auto pin = make_pin(folder_);
        if (!pin) return tl::unexpected(pin.error());
        return make_view({std::move(*plan), std::move(*user), owner}, pin->get());
    }

    const SlurmNode& node_;
    const SlurmJob& job_;
    int folder_;
};

void log(const JobStart& start, const Verdict& verdict) {
    if (verdict.kind == Verdict::Kind::refused)
        return log_error(fmt::format("job {} verdict=refused reason=\"{}\"", to_string(start), verdict.reason));
    std::string line = fmt::format("job {} verdict={}", to_string(start),
                                   verdict.kind == Verdict::Kind::ok ? "ok" : "\"not governed\"");
    for (const auto& [name, value] : verdict.context) line += fmt::format(" {}={}", name, value);
    log_info(line);
}

}  // namespace

void prolog(const std::string& config_path) {
    const auto node = slurm_node();
    const auto job = node ? slurm_job() : tl::unexpected(node.error());
    if (!job) return log_error("no verdict: " + job.error().what);
    auto state = NodeState::open(node->place());
    auto folder = state ? state->make(job->start) : tl::unexpected(state.error());
    if (!folder) return log_error(fmt::format("job {} no verdict: {}", to_string(job->start), folder.error().what));
    const Verdict verdict = Prolog(*node, *job, folder->get()).judge(config_path);
    log(job->start, verdict);
    if (auto kept = write_record(folder->get(), "verdict", to_text(verdict)); !kept)
        log_error(fmt::format("job {} no verdict: {}", to_string(job->start), kept.error().what));
}

}  // namespace accord::spank
