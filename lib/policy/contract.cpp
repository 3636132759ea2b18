// SPDX-License-Identifier: GPL-2.0-or-later
// The names of a contract's enumerations.
#include "policy/contract.hpp"

#include "policy/names.hpp"

namespace accord {

namespace {

constexpr Named<WorkloadType> workload_types[] = {
    {WorkloadType::batch, "batch"}, {WorkloadType::array, "array"}, {WorkloadType::interactive, "interactive"},
    {WorkloadType::het, "het"},     {WorkloadType::cron, "cron"},
};

constexpr Named<ContractState> contract_states[] = {
    {ContractState::proposed, "proposed"},   {ContractState::approved, "approved"},
    {ContractState::active, "active"},       {ContractState::suspended, "suspended"},
    {ContractState::expired, "expired"},     {ContractState::revoked, "revoked"},
};

constexpr Named<RunningJobs> running_jobs[] = {
    {RunningJobs::drain, "drain"}, {RunningJobs::grace, "grace"}, {RunningJobs::cancel, "cancel"}};

constexpr Named<NarrowedJobs> narrowed_jobs[] = {
    {NarrowedJobs::hold, "hold"}, {NarrowedJobs::cancel, "cancel"}, {NarrowedJobs::run, "run"}};

constexpr Named<OnExhausted> on_exhausted[] = {{OnExhausted::reject, "reject"},
                                               {OnExhausted::borrow_only, "borrow_only"}};

}  // namespace

const char* to_string(WorkloadType type) { return name_of(workload_types, type); }
const char* to_string(ContractState state) { return name_of(contract_states, state); }
const char* to_string(RunningJobs what) { return name_of(running_jobs, what); }
const char* to_string(NarrowedJobs what) { return name_of(narrowed_jobs, what); }
const char* to_string(OnExhausted what) { return name_of(on_exhausted, what); }

std::optional<WorkloadType> workload_type_from(const std::string& text) { return value_of(workload_types, text); }
std::optional<ContractState> contract_state_from(const std::string& text) { return value_of(contract_states, text); }

}  // namespace accord
