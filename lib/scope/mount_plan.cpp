// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts the wishes of a contract and of Slurm by path, and leaves out what would change nothing.
#include "scope/mount_plan.hpp"

#include <map>

#include <fmt/format.h>

#include "policy/path.hpp"

namespace accord {
namespace {

struct Wish {
    MountKind kind;
    std::string root;
};
// Sorted by path, so that a folder stands before what lies in it.
using Wishes = std::map<std::string, Wish>;

bool is_empty_place(MountKind kind) { return kind == MountKind::hidden || kind == MountKind::private_dir; }

/// The innermost scope root over `path`; empty when there is none.
std::string root_of(const std::string& path, const std::vector<std::string>& scope_roots) {
    std::string innermost;
    for (const std::string& root : scope_roots)
        if (is_under(path, root) && root.size() > innermost.size()) innermost = root;
    return innermost;
}

Result<void> add(Wishes& wishes, MountKind kind, const std::vector<std::string>& paths,
                 const std::vector<std::string>& scope_roots) {
    for (const std::string& path : paths) {
        if (const std::string wrong = check_absolute_path(path); !wrong.empty()) return fail("scope", "scope: " + wrong);
        if (const std::string tree = system_tree(path); !tree.empty())
            return fail("scope", fmt::format("{}: cannot be in a scope: {} is the system's own", path, tree));
        const std::string root = root_of(path, scope_roots);
        if (root.empty())
            return fail("scope", fmt::format("{}: cannot be in a scope: it lies under none of this node's scope_roots", path));
        if (!wishes.emplace(path, Wish{kind, root}).second)
            return fail("scope", fmt::format("{}: cannot be in a scope twice", path));
    }
    return {};
}

/// Slurm's own needs: whatever is shown stays as the contract says, whatever would be empty gives way.
void add_kept(Wishes& wishes, const std::vector<std::string>& keep) {
    for (const std::string& path : keep) {
        const auto [place, is_new] = wishes.emplace(path, Wish{MountKind::keep, {}});
        if (!is_new && is_empty_place(place->second.kind)) place->second = Wish{MountKind::keep, {}};
    }
}

std::optional<std::size_t> innermost_over(const std::string& path, const MountPlan& plan) {
    for (std::size_t i = plan.size(); i-- > 0;)
        if (is_under(path, plan[i].path)) return i;
    return std::nullopt;
}

}  // namespace

Result<MountPlan> plan_mounts(const FilesystemScope& scope, const std::vector<std::string>& scope_roots,
                              const std::vector<std::string>& keep) {
    Wishes wishes;
    for (const auto& [kind, paths] : {std::pair{MountKind::hidden, &scope.hidden}, {MountKind::rw, &scope.rw},
                                      {MountKind::ro, &scope.ro}, {MountKind::private_dir, &scope.private_dirs}})
        if (const auto added = add(wishes, kind, *paths, scope_roots); !added) return tl::unexpected(added.error());
    add_kept(wishes, keep);

    MountPlan plan;
    for (const auto& [path, wish] : wishes) {
        const auto over = innermost_over(path, plan);
        const bool in_empty_place = over && is_empty_place(plan[*over].kind);
        if (wish.kind == MountKind::hidden && in_empty_place) continue;  // nothing is there to hide
        if (wish.kind == MountKind::keep && !in_empty_place) continue;   // it is there already
        plan.push_back({wish.kind, path, wish.root, in_empty_place ? over : std::nullopt});
    }
    return plan;
}

}  // namespace accord
