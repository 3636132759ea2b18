// SPDX-License-Identifier: GPL-2.0-or-later
// The `scope_path` rung: may a job with this contract work in, read from and write to these paths?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/contract.hpp"
#include "policy/request.hpp"

namespace accord {

enum class PathAccess { visible, read_only, hidden, job_private };

/// `path` made absolute by `base` and free of ".", ".." and repeated slashes, by its text alone.
[[nodiscard]] std::string normalised(std::string_view path, std::string_view base);

/// How a normalised path appears to a job of the contract: the innermost tree that holds it decides, and outside all of
/// them the node's own view holds.
[[nodiscard]] PathAccess access_to(const FilesystemScope& scope, const std::string& path);

struct ScopeBreach {
    std::string what;  ///< "working directory", "stdout", "stderr" or "stdin"
    std::string path;  ///< normalised
    PathAccess access = PathAccess::hidden;

    /// "the stdout /proj/out is outside its paths"
    [[nodiscard]] std::string text() const;
};

/// The four paths of a job; an empty one is not set. `default_output`: an unset stdout goes to a file in the working
/// directory, as a batch job's does.
struct JobPaths {
    std::string work_dir, std_out, std_err, std_in;
    bool default_output = false;
};
[[nodiscard]] JobPaths paths_of(const JobRequest& request);

/// The first of the four that the contract's scope does not allow. A private folder begins empty: a job may work in it, but
/// nothing that lies in it outside the job is there. File name patterns ("%j") are taken as text, and /dev/null is always
/// allowed.
[[nodiscard]] std::optional<ScopeBreach> scope_breach(const FilesystemScope& scope, const JobPaths& paths);

}  // namespace accord
