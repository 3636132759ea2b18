// SPDX-License-Identifier: GPL-2.0-or-later
// Which tree of a contract decides over a path.
#include "policy/scope_path.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "policy/messages.hpp"
#include "policy/path.hpp"

namespace accord {

namespace {

void append_parts(std::vector<std::string_view>& parts, std::string_view path) {
    while (!path.empty()) {
        const auto slash = std::min(path.find('/'), path.size());
        const auto part = path.substr(0, slash);
        path.remove_prefix(std::min(slash + 1, path.size()));
        if (part.empty() || part == ".") continue;
        if (part != "..")
            parts.push_back(part);
        else if (!parts.empty())
            parts.pop_back();
    }
}

bool is_one_of(const std::string& path, const std::vector<std::string>& trees) {
    return std::find(trees.begin(), trees.end(), path) != trees.end();
}

}  // namespace

std::string normalised(std::string_view path, std::string_view base) {
    std::vector<std::string_view> parts;
    if (!path.starts_with('/')) append_parts(parts, base);
    append_parts(parts, path);
    std::string text;
    for (const auto part : parts) text.append("/").append(part);
    return text.empty() ? "/" : text;
}

PathAccess access_to(const FilesystemScope& scope, const std::string& path) {
    auto access = PathAccess::visible;
    std::size_t innermost = 0;
    const auto look = [&](const std::vector<std::string>& trees, PathAccess found) {
        for (const auto& tree : trees) {
            if (tree.size() < innermost || !is_under(path, tree)) continue;
            innermost = tree.size();
            access = found;
        }
    };
    look(scope.hidden, PathAccess::hidden);
    look(scope.ro, PathAccess::read_only);
    look(scope.rw, PathAccess::visible);
    look(scope.private_dirs, PathAccess::job_private);
    return access;
}

std::string ScopeBreach::text() const {
    const auto* where = access == PathAccess::hidden      ? "outside its paths"
                        : access == PathAccess::read_only ? "in a read-only path"
                                                          : "in a folder that each job has for itself, empty at first";
    return fmt::format("the {} {} is {}", what, printable(path), where);
}

JobPaths paths_of(const JobRequest& request) {
    const bool script = request.type == WorkloadType::batch || request.type == WorkloadType::array;
    return {request.work_dir, request.std_out, request.std_err, request.std_in, script};
}

std::optional<ScopeBreach> scope_breach(const FilesystemScope& scope, const JobPaths& paths) {
    if (!scope.restricts()) return std::nullopt;
    enum class Use { work_in, read, write };
    const auto check = [&](const char* what, const std::string& path, Use use) -> std::optional<ScopeBreach> {
        if (path.empty()) return std::nullopt;
        auto full = normalised(path, paths.work_dir);
        if (full == "/dev/null") return std::nullopt;
        const auto access = access_to(scope, full);
        const bool is_there = access == PathAccess::job_private && use == Use::work_in && is_one_of(full, scope.private_dirs);
        if (access == PathAccess::visible || is_there || (access == PathAccess::read_only && use != Use::write))
            return std::nullopt;
        return ScopeBreach{what, std::move(full), access};
    };
    const auto by_default = paths.default_output ? paths.work_dir : std::string{};
    if (auto breach = check("working directory", paths.work_dir, Use::work_in)) return breach;
    if (auto breach = check("stdout", paths.std_out.empty() ? by_default : paths.std_out, Use::write)) return breach;
    if (auto breach = check("stderr", paths.std_err, Use::write)) return breach;
    return check("stdin", paths.std_in, Use::read);
}

}  // namespace accord
