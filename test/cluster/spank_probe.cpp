// SPDX-License-Identifier: GPL-2.0-or-later
// A SPANK plugin for the cluster tests. Where a job is submitted it adds the grant in TEST_GRANT, as anybody can who
// loads a plugin of his own. On a node it writes down, after Accord's hook, how many threads the process has.
#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include <slurm/spank.h>
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
}
SPANK_PLUGIN(probe, 1)

namespace {

int threads() {
    DIR* tasks = opendir("/proc/self/task");
    if (tasks == nullptr) return -1;
    int count = 0;
    while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.' ? 1 : 0;
    closedir(tasks);
    return count;
}

/// Appends "HOOK THREADS" to the file that plugstack.conf names.
int note(const char* hook, int count, char** arguments) {
    if (count > 0)
        if (FILE* file = std::fopen(arguments[0], "ae")) {
            std::fprintf(file, "%s %d\n", hook, threads());
            std::fclose(file);
        }
    errno = 0;
    return ESPANK_SUCCESS;
}

void add(spank_t spank, const char* from, const char* name) {
    if (const char* value = std::getenv(from)) spank_job_control_setenv(spank, name, value, 1);
}

}  // namespace

extern "C" {

int slurm_spank_init_post_opt(spank_t spank, int, char**) {
    if (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_ALLOCATOR) {
        add(spank, "TEST_GRANT", "ACCORD_GRANT");
        add(spank, "TEST_DECISION", "ACCORD_DECISION");
    }
    return ESPANK_SUCCESS;
}
int slurm_spank_job_prolog(spank_t, int count, char** arguments) { return note("prolog", count, arguments); }
int slurm_spank_task_init_privileged(spank_t, int count, char** arguments) {
    return note("task_init_privileged", count, arguments);
}
int slurm_spank_task_init(spank_t, int count, char** arguments) { return note("task_init", count, arguments); }
int slurm_spank_job_epilog(spank_t, int count, char** arguments) { return note("epilog", count, arguments); }

}  // extern "C"
