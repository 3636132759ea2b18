// SPDX-License-Identifier: GPL-2.0-or-later
// The keys that a TOML file may hold, as a table that parsing, messages, warnings and references are all driven by.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "contract/toml_tree.hpp"
#include "policy/error.hpp"

namespace accord {

/// What a value must be and how it is taken over.
struct Value {
    std::string expected;  ///< "a whole number from 0 to 99999"
    /// Takes the value. Returns an empty string, or what is wrong and what would be right. `name` is the last key of
    /// the value's path.
    std::function<std::string(const TomlNode& node, const std::string& name)> set;
};

enum class Need {
    optional,
    always,      ///< the file is not valid without it
    with_table,  ///< needed where its table, or its element of a list of tables, is there
};

/// What this version does with a key.
enum class Force {
    applied,
    recorded,     ///< a rule of a later version reads it: a warning says so
    information,  ///< no rule reads it; it is kept and shown
};

/// `path` is dotted; "signal[].name" is a key in each of a list of tables, "capacity.*.guaranteed" one in each table
/// whose name the file chooses.
struct Key {
    std::string path;
    Value value;
    Need need = Need::optional;
    Force force = Force::applied;
};

/// Called as each element of a list of tables ("signal[]") or named table ("capacity.*") begins, with the name of the
/// latter; returns an empty string or what is wrong with the name.
struct Group {
    std::string path;
    std::function<std::string(const std::string& name)> begin;
};

struct Schema {
    std::vector<Key> keys;
    std::vector<Group> groups;

    void add(std::string path, Value value, Need need = Need::optional, Force force = Force::applied);
};

/// What reading a file gave beside the values.
struct Report {
    std::string path;
    std::vector<Error> errors;
    std::vector<Error> warnings;
    std::map<std::string, int> lines;  ///< of every key and table seen, by its path with names and numbers in it

    void error(int line, const std::string& key, const std::string& what);
    void warn(int line, const std::string& key, const std::string& what);
    /// The line of the key, else that of the nearest table around it, else 1.
    [[nodiscard]] int line_of(std::string key) const;
};

/// Walks the tree, sets every value of the schema and reports unknown keys, wrong values and missing keys.
void read_table(const TomlNode& root, const Schema& schema, Report& report);

/// "file:line: what", or what is known of that.
[[nodiscard]] std::string one_line(const Error& error);

}  // namespace accord
