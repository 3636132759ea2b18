// SPDX-License-Identifier: GPL-2.0-or-later
// What runs in each of Slurm's contexts; spank_accord.cpp is the door to them. All run as root in a process with one
// thread, but task_user, which runs as the job's user.
#pragma once

#include <string>

extern "C" {
#include <slurm/spank.h>
}

namespace accord::spank {

/// Once per job and node, before its first task: verifies the grant, builds the view, writes the verdict.
void prolog(const std::string& config_path);
/// In each task's process, before it becomes the user: acts on the verdict. Ends the process to refuse the task.
void task_privileged(spank_t spank);
/// In each task's process, once its standard descriptors are in place.
void task_user();
/// Once per job and node, after its last task: removes what the prolog made.
void epilog();

/// Ends a task's process after a sentence on its standard error.
[[noreturn]] void refuse_task(const std::string& reason);

}  // namespace accord::spank
