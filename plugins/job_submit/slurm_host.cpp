// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm_host.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

// Exported by slurmctld's libslurmfull under these names in all releases from 22.05 on (src/common/xmalloc.h, log.h).
extern "C" {
void* slurm_xcalloc(std::size_t count, std::size_t size, bool clear, bool may_fail, const char* file, int line,
                    const char* function);
void* slurm_xrecalloc(void** item, std::size_t count, std::size_t size, bool clear, bool may_fail, const char* file,
                      int line, const char* function);
void slurm_xfree(void** item);
void slurm_info(const char* format, ...) __attribute__((format(printf, 1, 2)));
int slurm_error(const char* format, ...) __attribute__((format(printf, 1, 2)));
}

namespace accord {
namespace {

/// A variable of slurmctld's, if it is there and as large as this build's headers say.
template <typename T>
const T* host_variable(const char* name) {
    void* const address = ::dlsym(RTLD_DEFAULT, name);
    if (address == nullptr) return nullptr;
    Dl_info info;
    void* symbol = nullptr;
    if (::dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr) return nullptr;
    if (static_cast<const ElfW(Sym)*>(symbol)->st_size != sizeof(T)) return nullptr;
    return static_cast<const T*>(address);
}

}  // namespace

char* new_slurm_text(std::string_view text) {
    auto* const copy =
        static_cast<char*>(slurm_xcalloc(1, text.size() + 1, false, false, __FILE__, __LINE__, __func__));
    text.copy(copy, text.size());
    copy[text.size()] = '\0';
    return copy;
}

void free_slurm_text(char*& field) {
    void* item = field;
    slurm_xfree(&item);
    field = nullptr;
}

void set_slurm_text(char*& field, std::string_view text) {
    char* const fresh = new_slurm_text(text);  // first: `text` may be part of the old string
    free_slurm_text(field);
    field = fresh;
}

void resize_slurm_array(char**& array, std::size_t count) {
    void* item = array;
    slurm_xrecalloc(&item, count, sizeof(char*), true, false, __FILE__, __LINE__, __func__);
    array = static_cast<char**>(item);
}

void log_info(std::string_view line) { slurm_info("accord: %.*s", static_cast<int>(line.size()), line.data()); }

void log_error(std::string_view line) { slurm_error("accord: %.*s", static_cast<int>(line.size()), line.data()); }

SlurmHost::SlurmHost() : conf_(host_variable<slurm_conf_t>("slurm_conf")), slurm_user_(::geteuid()) {
    // slurmctld's own answer to the same question (controller.c, _controller_index)
    if (const int* index = host_variable<int>("backup_inx"); index != nullptr && *index >= 0)
        controller_ = static_cast<std::uint32_t>(*index);
    else
        doubt_ = "cannot read which controller this is: taken for the first; ";
    if (conf_ != nullptr)
        slurm_user_ = conf_->slurm_user_id;
    else
        doubt_ += "cannot read slurm.conf as slurmctld has it: jobs are taken to be requeueable unless they say otherwise";
    // the same question as _update_job's own (proc_req.c, 22.05 to 24.11)
    validate_operator_ = reinterpret_cast<bool (*)(uid_t)>(::dlsym(RTLD_DEFAULT, "validate_operator"));
}

bool SlurmHost::is_operator(std::uint32_t uid) const {
    return uid == 0 || uid == slurm_user_ || (validate_operator_ != nullptr && validate_operator_(uid));
}

}  // namespace accord
