// SPDX-License-Identifier: GPL-2.0-or-later
// Members as this machine's name service has them: its own users and groups are enough.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>

#include "catch.hpp"
#include "store/contracts_db.hpp"
#include "sys/name_service.hpp"

using namespace accord;

namespace {

ResolvedMembers resolve(const Contract& contract, const Config& config = {}, const std::string& slurm_user = "bin") {
    return resolve_members(config, {std::make_shared<const Contract>(contract)}, slurm_user);
}

Contract with(std::vector<std::string> users, std::vector<std::string> groups = {}) {
    Contract contract;
    contract.account = "vision-lab";
    contract.partition = "gpu";
    contract.members.users = std::move(users);
    contract.members.groups = std::move(groups);
    return contract;
}

}  // namespace

TEST_CASE("users and the members of groups are resolved to uids, each once") {
    const auto found = resolve(with({"nobody", "daemon"}, {"daemon"}));
    const auto daemon = uid_of("daemon").value().value(), nobody = uid_of("nobody").value().value();
    CHECK(found.uids_by_contract.at("vision-lab/gpu") ==
          std::vector<std::uint32_t>{std::min(daemon, nobody), std::max(daemon, nobody)});
    CHECK(found.names.at(daemon) == "daemon");
    CHECK(found.warnings.empty());
    CHECK(found.complete);
}

TEST_CASE("who does not exist yet is a warning, and is looked for again each time", "[G04]") {
    const auto found = resolve(with({"daemon", "no-such-user"}, {"no-such-group"}));
    CHECK(found.uids_by_contract.at("vision-lab/gpu").size() == 1);
    CHECK(found.warnings == std::vector<std::string>{"contract vision-lab/gpu: there is no user no-such-user yet",
                                                     "contract vision-lab/gpu: there is no group no-such-group yet"});
    CHECK(found.complete);
}

TEST_CASE("administrators are left out with a warning") {
    Config config;
    config.admin_group = "daemon";
    const auto found = resolve(with({"nobody", "bin"}, {"daemon"}), config);
    CHECK(found.uids_by_contract.at("vision-lab/gpu") == std::vector<std::uint32_t>{uid_of("nobody").value().value()});
    CHECK(found.warnings ==
          std::vector<std::string>{"contract vision-lab/gpu: bin is an administrator and is left out (R3)",
                                   "contract vision-lab/gpu: daemon is an administrator and is left out (R3)"});
}

TEST_CASE("exempt users are resolved with their names") {
    const auto found = resolve(with({}));
    CHECK(found.exempt_uids == std::vector<std::uint32_t>{0});
    CHECK(found.names.at(0) == "root");
}
