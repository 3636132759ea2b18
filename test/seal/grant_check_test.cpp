// SPDX-License-Identifier: GPL-2.0-or-later
// Whose grant a job may bring.
#include "seal/grant_check.hpp"

#include "catch.hpp"

using namespace accord;

namespace {

constexpr uid_t slurm_user = 64030;

Grant grant() {
    Grant made;
    made.cluster = "demo";
    made.contract = "vision-lab/gpu";
    made.contract_version = 1;
    made.uid = 10001;
    made.account = "vision-lab";
    made.pool = "gpu";
    made.valid_until_s = 1'000;
    return made;
}

const GrantedJob job{"demo", 10001, "Vision-Lab", "gpu"};

std::string problem(const Grant& brought, const GrantedJob& of, uid_t sealer = slurm_user, std::int64_t now_s = 500) {
    const auto checked = check_grant(brought, sealer, slurm_user, of, now_s);
    return checked ? "" : checked.error().what;
}

}  // namespace

TEST_CASE("The job's own grant is taken, whatever the case of its account") { CHECK(problem(grant(), job) == ""); }

TEST_CASE("A grant sealed by anybody but SlurmUser is refused, root included") {
    CHECK(problem(grant(), job, 10001) == "its grant was sealed by uid 10001, not by SlurmUser (uid 64030)");
    CHECK(problem(grant(), job, 0) == "its grant was sealed by uid 0, not by SlurmUser (uid 64030)");
}

TEST_CASE("Another's grant is refused by what differs") {
    CHECK(problem(grant(), {"other", 10001, "vision-lab", "gpu"}) == "its grant is for the cluster demo, not for other");
    CHECK(problem(grant(), {"demo", 10002, "vision-lab", "gpu"}) == "its grant is for the uid 10001, not for 10002");
    CHECK(problem(grant(), {"demo", 10001, "speech-lab", "gpu"}) == "its grant is for the account vision-lab, not for speech-lab");
    CHECK(problem(grant(), {"demo", 10001, "", "gpu"}) == "its grant is for the account vision-lab, not for ");
    CHECK(problem(grant(), {"demo", 10001, "vision-lab", "cpu"}) == "its grant is for the pool gpu, not for cpu");
}

TEST_CASE("A job may start by a grant until the contract's last second") {
    CHECK(problem(grant(), job, slurm_user, 1'000) == "");
    CHECK(problem(grant(), job, slurm_user, 1'001) == "its contract vision-lab/gpu ended at 1970-01-01T00:16:40Z");
}

TEST_CASE("An exempt grant holds for any account and has no end") {
    Grant exempt;
    exempt.cluster = "demo";
    exempt.exempt = true;
    exempt.pool = "gpu";
    exempt.uid = 10001;
    CHECK(problem(exempt, job, slurm_user, 1'000'000) == "");
    CHECK(problem(exempt, {"demo", 10002, "", "gpu"}) == "its grant is for the uid 10001, not for 10002");
}
