// SPDX-License-Identifier: GPL-2.0-or-later
// Plain string comparison; no file is looked at.
#include "policy/path.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace accord {

bool is_under(const std::string& path, const std::string& tree) {
    if (tree == "/" || path == tree) return true;
    return path.size() > tree.size() && path.starts_with(tree) && path[tree.size()] == '/';
}

std::string check_absolute_path(const std::string& text) {
    if (!text.starts_with('/')) return fmt::format("found the relative path \"{}\", expected an absolute one", text);
    if (text.size() > 1 && text.back() == '/')
        return fmt::format("found \"{}\", expected no slash at the end: write \"{}\"", text,
                           text.substr(0, std::max<std::size_t>(text.find_last_not_of('/') + 1, 1)));
    if ((text + "/").find("/../") != std::string::npos || (text + "/").find("/./") != std::string::npos ||
        text.find("//") != std::string::npos)
        return fmt::format("found \"{}\", expected a path without \"..\", \".\" and \"//\"", text);
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (std::any_of(text.begin(), text.end(), is_control)) return "found a control character in a path, expected none";
    constexpr std::size_t most = 1024;
    if (text.size() > most) return fmt::format("found a path of {} bytes, expected at most {}", text.size(), most);
    return {};
}

std::string system_tree(const std::string& path) {
    if (path == "/") return path;
    for (const std::string tree :
         {"/etc", "/usr", "/proc", "/sys", "/run", "/boot", "/bin", "/sbin", "/lib", "/lib32", "/lib64"})
        if (is_under(path, tree)) return tree;
    if (path == "/dev" || path == "/var") return path;
    return {};
}

}  // namespace accord
