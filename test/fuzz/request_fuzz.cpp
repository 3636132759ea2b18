// SPDX-License-Identifier: GPL-2.0-or-later
// A request as any client of libslurm may send it, from Slurm's structure to the count of its GPUs. First come the texts,
// a line each, then the bytes of the numbers.
#include <slurm/slurm.h>

#include <array>
#include <cstdlib>

#include "bytes.hpp"
#include "policy/count.hpp"
#include "policy/unusable.hpp"
#include "slurm/job_request.hpp"

using namespace accord;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

struct Texts {
    std::array<std::string, 12> lines;

    explicit Texts(test::Bytes& bytes) {
        for (auto& line : lines) line = bytes.text();
    }
    /// One in two of the empty ones is NULL.
    char* at(std::size_t i) { return lines[i].empty() && i % 2 == 0 ? nullptr : lines[i].data(); }
};

/// Newer releases only.
template <typename Desc>
void fill_job_size(Desc& desc, char* sizes) {
    if constexpr (requires { desc.job_size_str; }) desc.job_size_str = sizes;
}

void fill_texts(job_desc_msg_t& desc, Texts& texts) {
    desc.tres_per_job = texts.at(0);
    desc.tres_per_node = texts.at(1);
    desc.tres_per_socket = texts.at(2);
    desc.tres_per_task = texts.at(3);
    desc.cpus_per_tres = texts.at(4);
    desc.mem_per_tres = texts.at(5);
    desc.array_inx = texts.at(6);
    desc.req_nodes = texts.at(7);
    desc.partition = texts.at(8);
    desc.account = texts.at(9);
    desc.work_dir = texts.at(10);
    fill_job_size(desc, texts.at(11));
}

void fill_numbers(job_desc_msg_t& desc, test::Bytes& bytes) {
    const auto fill = [&](auto&... fields) { ((fields = bytes.number<std::decay_t<decltype(fields)>>()), ...); };
    fill(desc.min_nodes, desc.max_nodes, desc.num_tasks, desc.ntasks_per_node, desc.ntasks_per_socket, desc.ntasks_per_tres,
         desc.cpus_per_task, desc.min_cpus, desc.max_cpus, desc.sockets_per_node, desc.pn_min_cpus, desc.pn_min_memory,
         desc.shared, desc.core_spec, desc.reboot, desc.time_limit, desc.time_min, desc.requeue, desc.priority,
         desc.het_job_offset, desc.bitflags, desc.user_id);
}

PartitionShape shape_of(test::Bytes& bytes) {
    PartitionShape shape;
    shape.min_nodes = bytes.number<std::uint8_t>();
    shape.exclusive = bytes.number<std::uint8_t>() % 2 == 1;
    if (const auto most = bytes.number<std::uint8_t>(); most != 0) shape.max_nodes = most;
    for (int nodes = bytes.number<std::uint8_t>() % 8; nodes > 0; --nodes) {
        const char* type = nodes % 2 == 0 ? "a100" : "v100";
        shape.nodes.push_back({"n", {{type, bytes.number<std::uint8_t>()}}, bytes.number<std::uint16_t>(), bytes.number<std::uint32_t>()});
    }
    return shape;
}

void check_count(const GpuAsk& ask, const PartitionShape* shape, const PoolConfig& pool) {
    auto count = count_gpus(ask, shape, pool);
    require(!count.steps.empty());
    for (const auto& [type, interval] : count.gpus)
        require(0 <= interval.min && interval.min <= interval.max && interval.max <= gpus_max);
    require(count_gpus(ask, shape, pool, Explain::briefly).gpus == count.gpus);
    settle_types(count.gpus, pool);
    require(cpus_for_each_gpu(ask, total(maxima(count.gpus))) >= 0);
}

void check_array(const ArraySpec& array) {
    require(array.tasks >= 1 && array.concurrent() >= 1 && array.concurrent() <= array.tasks);
    require(!array.contains(-1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    test::Bytes bytes(data, size);
    Texts texts(bytes);
    job_desc_msg_t desc{};
    fill_texts(desc, texts);
    fill_numbers(desc, bytes);
    const auto shape = shape_of(bytes);
    PoolConfig pool;
    pool.partition = "gpu";
    pool.gpus = {{"a100", 16}};
    if (size % 2 == 0) pool.gpus["v100"] = 8;
    if (size % 3 == 0) pool.shards_per_gpu = 8;

    const auto request = job_request(desc, true);
    if (request.array) check_array(*request.array);
    require(!request.gpus.required_nodes || *request.gpus.required_nodes >= 1);
    check_count(request.gpus, &shape, pool);
    check_count(request.gpus, nullptr, pool);
    return 0;
}
