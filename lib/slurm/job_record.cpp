// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm/job_record.hpp"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "slurm/compat.hpp"
#include "slurm/job_view.hpp"
#include "slurm/values.hpp"

namespace accord {
namespace {

/// slurm_protocol_defs.h, all releases.
constexpr std::uint16_t response_job_info = 2004;

/// The head of buf_t (pack.h), alike from 22.05 to 26.05.
struct BufferHead {
    std::uint32_t magic;
    char* head;
    std::uint32_t size, processed;
};

/// Room for a slurm_msg_t, whose size is not in the installed headers (some 500 bytes).
using Message = std::array<std::uint64_t, 1024>;

template <typename Function>
bool look_up(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
}

/// slurm_msg_t_init leaves msg_type and protocol_version as the first two NO_VAL16 side by side.
std::optional<std::size_t> find_type(const Message& message) {
    const char* bytes = reinterpret_cast<const char*>(message.data());
    for (std::size_t at = 0; at + 4 <= sizeof(Message); at += 2) {
        std::uint16_t type = 0, protocol = 0;
        std::memcpy(&type, bytes + at, sizeof type);
        std::memcpy(&protocol, bytes + at + 2, sizeof protocol);
        if (type == NO_VAL16 && protocol == NO_VAL16) return at;
    }
    return std::nullopt;
}

/// unpack_msg sets one thing only: the pointer to what it read.
void* find_data(const Message& before, const Message& after) {
    void* data = nullptr;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] == after[i]) continue;
        if (data != nullptr) return nullptr;
        std::memcpy(&data, &after[i], sizeof data);
    }
    return data;
}

}  // namespace

Result<JobRecordReader> JobRecordReader::find() {
    JobRecordReader reader;
    const char* missing = nullptr;
    const auto need = [&](auto*& function, const char* name) {
        if (!look_up(function, name) && missing == nullptr) missing = name;
    };
    need(reader.init_buf_, "slurm_init_buf");
    need(reader.free_buf_, "slurm_free_buf");
    need(reader.pack32_, "slurm_pack32");
    need(reader.pack_time_, "slurm_pack_time");
    need(reader.pack_job_, "pack_job");
    need(reader.unpack_msg_, "unpack_msg");
    need(reader.msg_init_, "slurm_msg_t_init");
    need(reader.free_jobs_, "slurm_free_job_info_msg");
    if (missing != nullptr) return fail("unavailable", fmt::format("job record: cannot read: no symbol {}", missing));

    const auto protocol = compat::protocol_version();
    if (!protocol) return fail("unavailable", "job record: cannot read: this Slurm release is not known");
    reader.protocol_ = *protocol;
    Message message{};
    reader.msg_init_(message.data());
    const auto type_at = find_type(message);
    if (!type_at) return fail("unavailable", "job record: cannot read: this Slurm release's messages are not understood");
    reader.type_at_ = *type_at;
    return reader;
}

Result<JobView> JobRecordReader::read(void* job_record) const {
    const std::unique_ptr<void, void (*)(void*)> buffer(init_buf_(16 * 1024), free_buf_);
    auto* const head = static_cast<BufferHead*>(buffer.get());
    if (head == nullptr) return fail("unavailable", "job record: cannot read: no memory");
    pack32_(1, head);
    pack_time_(std::time(nullptr), head);
    pack_time_(0, head);
    pack_job_(job_record, SHOW_ALL | SHOW_DETAIL, head, protocol_, 0, false);
    const std::uint32_t written = head->processed;
    head->processed = 0;

    Message message{};
    msg_init_(message.data());
    char* const bytes = reinterpret_cast<char*>(message.data());
    std::memcpy(bytes + type_at_, &response_job_info, sizeof response_job_info);
    std::memcpy(bytes + type_at_ + sizeof response_job_info, &protocol_, sizeof protocol_);
    const Message before = message;
    if (unpack_msg_(message.data(), head) != 0) return fail("unavailable", "job record: cannot read: unpack_msg refused it");
    const std::unique_ptr<void, void (*)(void*)> data(find_data(before, message), free_jobs_);
    if (!data || head->processed != written)
        return fail("unavailable", "job record: cannot read: writing and reading differ");
    const auto* const jobs = static_cast<const job_info_msg_t*>(data.get());
    if (jobs->record_count != 1 || jobs->job_array == nullptr)
        return fail("unavailable", "job record: cannot read: it is not one record");
    const slurm_job_info_t& info = jobs->job_array[0];
    JobView view = job_view(info);
    view.work_dir = text_of(info.work_dir);
    view.std_out = text_of(info.std_out);
    view.std_err = text_of(info.std_err);
    view.std_in = text_of(info.std_in);
    return view;
}

}  // namespace accord
