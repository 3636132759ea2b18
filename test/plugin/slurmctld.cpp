// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurmctld.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <utility>
#include <stdexcept>

#include "slurm/compat.hpp"

namespace {

std::mutex log_mutex;
std::vector<std::string> log_lines;

void note(const char* kind, const char* format, va_list arguments) {
    char line[8192];
    std::vsnprintf(line, sizeof line, format, arguments);
    const std::lock_guard lock(log_mutex);
    log_lines.push_back(std::string(kind) + line);
}

/// Where the pair (msg_type, protocol_version) is, and where this host keeps `data`, as in slurm_msg_t.
struct FakeMessage {
    void* data;
    std::uint16_t type, protocol;
};

constexpr char* slurm_job_info_t::*job_texts[] = {
    &slurm_job_info_t::account,       &slurm_job_info_t::partition,    &slurm_job_info_t::admin_comment,
    &slurm_job_info_t::tres_per_node, &slurm_job_info_t::tres_per_job, &slurm_job_info_t::dependency,
};

/// What the tests and the plugin set in a request.
constexpr char* job_desc_msg_t::*request_texts[] = {
    &job_desc_msg_t::account,       &job_desc_msg_t::partition,    &job_desc_msg_t::admin_comment,
    &job_desc_msg_t::array_inx,     &job_desc_msg_t::script,       &job_desc_msg_t::job_id_str,
    &job_desc_msg_t::tres_per_node, &job_desc_msg_t::tres_per_job, &job_desc_msg_t::comment,
};

}  // namespace

extern "C" {

// What slurmctld and its libslurmfull show to plugins, beside what libslurm brings.
int backup_inx = 0;
bool validate_operator(uid_t uid) { return uid == slurm_operator; }
slurm_conf_t slurm_conf;

void slurm_info(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note("", format, arguments);
    va_end(arguments);
}

int slurm_error(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note("error: ", format, arguments);
    va_end(arguments);
    return -1;
}

void* slurm_xcalloc(size_t count, size_t size, bool clear, bool may_fail, const char* file, int line, const char* func);
void* slurm_xrecalloc(void** item, size_t count, size_t size, bool clear, bool may_fail, const char* file, int line,
                      const char* func);
void slurm_xfree(void** item);
char* slurm_xstrdup(const char* text);
void slurm_pack32(std::uint32_t value, void* buffer);
int slurm_unpack32(std::uint32_t* value, void* buffer);
int slurm_unpack_time(std::time_t* value, void* buffer);

static void free_text(char*& text) {
    void* item = text;
    slurm_xfree(&item);
    text = nullptr;
}

/// Writes where the record is; slurmctld writes the record.
void pack_job(void* record, std::uint16_t, void* buffer, std::uint16_t, uid_t, bool) {
    std::uint32_t halves[2];
    std::memcpy(halves, &record, sizeof halves);
    slurm_pack32(halves[0], buffer);
    slurm_pack32(halves[1], buffer);
}

void slurm_msg_t_init(void* message) {
    std::memset(message, 0, sizeof(FakeMessage));
    static_cast<FakeMessage*>(message)->type = NO_VAL16;
    static_cast<FakeMessage*>(message)->protocol = NO_VAL16;
}

int unpack_msg(void* message, void* buffer) {
    auto* const fake = static_cast<FakeMessage*>(message);
    if (fake->type != 2004 || fake->protocol != *accord::compat::protocol_version()) return -1;
    std::uint32_t count = 0, halves[2];
    std::time_t when = 0;
    if (slurm_unpack32(&count, buffer) != 0 || slurm_unpack_time(&when, buffer) != 0 ||
        slurm_unpack_time(&when, buffer) != 0 || slurm_unpack32(&halves[0], buffer) != 0 ||
        slurm_unpack32(&halves[1], buffer) != 0)
        return -1;
    const slurm_job_info_t* record = nullptr;
    std::memcpy(&record, halves, sizeof record);
    if (record == nullptr) return -1;
    auto* const jobs =
        static_cast<job_info_msg_t*>(slurm_xcalloc(1, sizeof(job_info_msg_t), true, false, "", 0, ""));
    jobs->record_count = count;
    jobs->job_array =
        static_cast<slurm_job_info_t*>(slurm_xcalloc(1, sizeof(slurm_job_info_t), true, false, "", 0, ""));
    *jobs->job_array = *record;
    for (auto field : job_texts) jobs->job_array->*field = slurm_xstrdup(record->*field);
    fake->data = jobs;
    return 0;
}

/// libslurm's own asks slurm.conf for the select plugin.
void slurm_free_job_info_msg(job_info_msg_t* jobs) {
    for (auto field : job_texts) free_text(jobs->job_array->*field);
    void* array = jobs->job_array;
    slurm_xfree(&array);
    void* item = jobs;
    slurm_xfree(&item);
}

}  // extern "C"

std::vector<std::string> take_log() {
    const std::lock_guard lock(log_mutex);
    return std::exchange(log_lines, {});
}

void set_host(const HostSettings& settings) {
    slurm_conf.slurm_user_id = settings.slurm_user;
    slurm_conf.job_requeue = settings.requeue ? 1 : 0;
    backup_inx = settings.controller;
}

namespace {

template <typename Function>
void look_up(void* handle, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(handle, name));
    if (function == nullptr) throw std::runtime_error(std::string("no symbol ") + name);
}

/// As src/common/plugin.c does (plugin_load_from_file, 22.05).
void check_identity(void* handle) {
    const char* type = nullptr;
    const std::uint32_t* version = nullptr;
    look_up(handle, "plugin_type", type);
    look_up(handle, "plugin_version", version);
    if (std::string(type) != "job_submit/accord") throw std::runtime_error("wrong plugin_type");
    if (*version != accord::compat::build_version) throw std::runtime_error("wrong plugin_version");
}

HookAnswer answer_of(int code, char* message) {
    HookAnswer answer{code, message == nullptr ? "" : message, errno};
    free_text(message);
    return answer;
}

}  // namespace

OpenPlugin::OpenPlugin(const std::string& config_path) {
    ::setenv("ACCORD_CONF", config_path.c_str(), 1);
    handle_ = dlopen(ACCORD_PLUGIN, RTLD_LAZY);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    check_identity(handle_);
    int (*init)() = nullptr;
    look_up(handle_, "init", init);
    look_up(handle_, "job_submit", submit_);
    look_up(handle_, "job_modify", modify_);
    if (init() != SLURM_SUCCESS) throw std::runtime_error("init failed");
}

OpenPlugin::~OpenPlugin() {
    int (*fini)() = nullptr;
    look_up(handle_, "fini", fini);
    fini();
    dlclose(handle_);
}

HookAnswer OpenPlugin::submit(job_desc_msg_t& desc, std::uint32_t caller) const {
    desc.site_factor = NO_VAL;
    char* message = nullptr;
    errno = ENOENT;
    const int code = submit_(&desc, caller, &message);
    return answer_of(code, message);
}

HookAnswer OpenPlugin::modify(job_desc_msg_t& desc, const slurm_job_info_t* job, std::uint32_t caller) const {
    desc.site_factor = NO_VAL;
    errno = ENOENT;
    char* message = nullptr;
#ifdef ACCORD_MODIFY_HAS_MESSAGE
    const int code = modify_(&desc, const_cast<slurm_job_info_t*>(job), caller, &message);
#else
    const int code = modify_(&desc, const_cast<slurm_job_info_t*>(job), caller);
#endif
    return answer_of(code, message);
}

Request::Request(std::uint32_t uid)
    : desc_(static_cast<job_desc_msg_t*>(slurm_xcalloc(1, sizeof(job_desc_msg_t), true, false, "", 0, ""))) {
    slurm_init_job_desc_msg(desc_);
    desc_->user_id = uid;
    desc_->het_job_offset = NO_VAL;
    set(&job_desc_msg_t::script, "#!/bin/sh\n");
}

/// slurm_xfree ends the program over memory that is not its own.
Request::~Request() {
    for (auto field : request_texts) free_text(desc_->*field);
    for (std::uint32_t i = 0; i < desc_->spank_job_env_size; ++i) free_text(desc_->spank_job_env[i]);
    void* array = desc_->spank_job_env;
    slurm_xfree(&array);
    void* item = desc_;
    slurm_xfree(&item);
}

Request& Request::set(char* job_desc_msg_t::*field, const std::string& text) {
    free_text(desc_->*field);
    desc_->*field = slurm_xstrdup(text.c_str());
    return *this;
}

Request& Request::add_spank_env(const std::string& entry) {
    void* array = desc_->spank_job_env;
    slurm_xrecalloc(&array, desc_->spank_job_env_size + 2, sizeof(char*), true, false, "", 0, "");
    desc_->spank_job_env = static_cast<char**>(array);
    desc_->spank_job_env[desc_->spank_job_env_size++] = slurm_xstrdup(entry.c_str());
    return *this;
}

std::string Request::text(char* job_desc_msg_t::*field) const {
    return desc_->*field == nullptr ? "" : desc_->*field;
}

std::vector<std::string> Request::spank_env() const {
    std::vector<std::string> entries;
    for (char** entry = desc_->spank_job_env; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
}
