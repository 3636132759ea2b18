// SPDX-License-Identifier: GPL-2.0-or-later
// Looking up pools and priority classes.
#include "policy/config.hpp"

namespace accord {

namespace {

template <typename T, typename Matches>
const T* find(const std::vector<T>& items, Matches matches) {
    for (const auto& item : items)
        if (matches(item)) return &item;
    return nullptr;
}

}  // namespace

const char* to_string(Mode mode) { return mode == Mode::observe ? "observe" : "enforce"; }

const PoolConfig* Config::pool_of(const std::string& partition) const {
    return find(pools, [&](const PoolConfig& pool) { return pool.partition == partition; });
}

const PoolConfig* Config::pool_lending_in(const std::string& partition) const {
    return find(pools, [&](const PoolConfig& pool) { return pool.lend_partition == partition; });
}

const PriorityClass* Config::priority_class(const std::string& name) const {
    return find(priority_classes, [&](const PriorityClass& one) { return one.name == name; });
}

}  // namespace accord
