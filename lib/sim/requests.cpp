// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim/requests.hpp"

#include <string_view>

#include <fmt/format.h>

#include "policy/gpus.hpp"

namespace accord::sim {

JobRequest Requests::made_of(const TraceJob& job) const {
    JobRequest request;
    request.uid = job.user == none ? people_.nobody : people_.by_name[job.user];
    if (job.account != none) request.account = trace_.names[job.account];
    if (job.partition != none) {
        std::string_view list = trace_.names[job.partition];
        while (!list.empty()) {
            const auto comma = list.find(',');
            request.partitions.emplace_back(list.substr(0, comma));
            list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
        }
    }
    request.type = job.kind;
    request.requeueable = job.requeue && job.kind != WorkloadType::interactive;
    if (job.gpus > 0) {
        const auto type = job.gpu_type == none ? "" : ":" + trace_.names[job.gpu_type];
        request.gpus.tres_per_job = fmt::format("gres:gpu{}:{}", type, job.gpus);
    }
    if (job.nodes > 0) request.gpus.min_nodes = request.gpus.max_nodes = job.nodes;
    request.gpus.min_cpus = job.cpus > 0 ? job.cpus : 1;
    return request;
}

JobRequest& Requests::of(const TraceJob& job) {
    const Kind kind{job.account, job.partition, job.user, job.gpu_type, job.gpus, job.cpus, job.nodes, job.kind, job.requeue};
    auto known = known_.find(kind);
    if (known == known_.end()) known = known_.emplace(kind, made_of(job)).first;
    auto& request = known->second;
    request.time_limit_min =
        job.time_limit_s > 0 ? std::optional(ceil_div(job.time_limit_s, 60)) : std::nullopt;
    request.array = job.array == none ? std::nullopt : std::optional(trace_.arrays[job.array]);
    request.het.reset();
    return request;
}

}  // namespace accord::sim
