// SPDX-License-Identifier: GPL-2.0-or-later
#include "contract/schema.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "contract/suggest.hpp"

namespace accord {

namespace {

std::string join(const std::string& table, const std::string& key) { return table.empty() ? key : table + "." + key; }

/// A table or element that is being read: its path in the schema and as the file has it.
struct Here {
    std::string schema, shown;
    int line = 1;
};

class Walk {
public:
    Walk(const Schema& schema, Report& report) : schema_(schema), report_(report) {
        for (const auto& key : schema.keys) keys_.emplace(key.path, &key);
        for (const auto& group : schema.groups) groups_.emplace(group.path, &group);
        for (const auto& key : schema.keys)
            for (auto dot = key.path.find('.'); dot != std::string::npos; dot = key.path.find('.', dot + 1))
                tables_.insert(key.path.substr(0, dot));
    }

    void table(const Here& here, const TomlNode& node) {
        std::set<std::string> present;
        for (const auto& entry : node.entries) {
            report_.lines[join(here.shown, entry.key)] = entry.line;
            present.insert(join(here.schema, entry.key));
            take(here, entry);
        }
        missing(here, present);
    }

    /// Needed keys whose table is not there at all.
    void missing_tables() {
        for (const auto& key : schema_.keys) {
            const auto dot = key.path.rfind('.');
            if (key.need == Need::always && dot != std::string::npos && !seen_.contains(key.path.substr(0, dot)))
                report_missing(key, key.path, 1);
        }
    }

private:
    void take(const Here& here, const TomlEntry& entry) {
        const Here inner{join(here.schema, entry.key), join(here.shown, entry.key), entry.line};
        const Here any{join(here.schema, "*"), inner.shown, entry.line};
        if (const auto key = keys_.find(inner.schema); key != keys_.end()) return value(*key->second, inner, entry);
        if (tables_.contains(inner.schema + "[]")) return list(inner, entry.value);
        if (tables_.contains(inner.schema)) return sub_table(inner, entry.value);
        const bool is_table = entry.value.kind == TomlNode::Kind::table;
        if (is_table && tables_.contains(any.schema)) return named(any, entry);
        if (const auto key = keys_.find(any.schema); key != keys_.end()) return value(*key->second, inner, entry);
        report_.error(entry.line, inner.shown, unknown_key_message(schema_, here.schema, here.shown, entry.key));
    }

    void value(const Key& key, const Here& here, const TomlEntry& entry) {
        const auto wrong = key.value.set(entry.value, entry.key);
        if (!wrong.empty()) report_.error(entry.line, here.shown, wrong);
        if (key.force == Force::recorded)
            report_.warn(entry.line, here.shown, "recorded, not enforced by this version");
    }

    void sub_table(const Here& here, const TomlNode& node) {
        if (node.kind != TomlNode::Kind::table)
            return report_.error(here.line, here.shown,
                                 fmt::format("found {}, expected a table: [{}]", node.describe(), here.shown));
        table(here, node);
    }

    void list(const Here& here, const TomlNode& node) {
        if (node.kind != TomlNode::Kind::array)
            return report_.error(
                here.line, here.shown,
                fmt::format("found {}, expected a list of tables: [[{}]]", node.describe(), here.shown));
        for (const auto& item : node.items) {
            const Here element{here.schema + "[]", fmt::format("{}[{}]", here.shown, &item - node.items.data()),
                               item.line};
            report_.lines[element.shown] = item.line;
            if (item.kind != TomlNode::Kind::table) {
                report_.error(item.line, here.shown, fmt::format("found {}, expected a table", item.describe()));
                continue;
            }
            begin(element, "");
            table(element, item);
        }
    }

    void named(const Here& here, const TomlEntry& entry) {
        begin(here, entry.key);
        table(here, entry.value);
    }

    void begin(const Here& here, const std::string& name) {
        const auto group = groups_.find(here.schema);
        if (group == groups_.end()) return;
        const auto wrong = group->second->begin(name);
        if (!wrong.empty()) report_.error(here.line, here.shown, wrong);
    }

    void missing(const Here& here, const std::set<std::string>& present) {
        seen_.insert(here.schema);
        for (const auto& key : schema_.keys) {
            const auto dot = key.path.rfind('.');
            const auto table = dot == std::string::npos ? std::string() : key.path.substr(0, dot);
            if (key.need == Need::optional || table != here.schema || present.contains(key.path)) continue;
            report_missing(key, join(here.shown, key.path.substr(table.empty() ? 0 : dot + 1)), here.line);
        }
    }

    void report_missing(const Key& key, const std::string& shown, int line) {
        report_.error(line, shown, fmt::format("missing, expected {}", key.value.expected));
    }

    const Schema& schema_;
    Report& report_;
    std::map<std::string, const Key*> keys_;
    std::map<std::string, const Group*> groups_;
    std::set<std::string> tables_;  ///< every path that has keys below it
    std::set<std::string> seen_;    ///< tables found in the file, as the schema names them
};

/// "signal[0].name" as people read it: "signal.name".
std::string without_indices(const std::string& key) {
    std::string text;
    for (std::size_t i = 0; i < key.size(); ++i) {
        if (key[i] == '[') i = std::min(key.find(']', i), key.size() - 1);
        else text += key[i];
    }
    return text;
}

Error finding(const Report& report, int line, const std::string& key, const std::string& what) {
    return {"invalid", key.empty() ? what : fmt::format("{}: {}", without_indices(key), what),
            fmt::format("{}:{}", report.path, line)};
}

}  // namespace

void Schema::add(std::string path, Value value, Need need, Force force) {
    keys.push_back({std::move(path), std::move(value), need, force});
}

void Report::error(int line, const std::string& key, const std::string& what) {
    errors.push_back(finding(*this, line, key, what));
}

void Report::warn(int line, const std::string& key, const std::string& what) {
    warnings.push_back(finding(*this, line, key, what));
}

int Report::line_of(std::string key) const {
    for (;;) {
        if (const auto found = lines.find(key); found != lines.end()) return found->second;
        const auto cut = key.find_last_of(".[");
        if (cut == std::string::npos) return 1;
        key.resize(cut);
    }
}

void read_table(const TomlNode& root, const Schema& schema, Report& report) {
    Walk walk(schema, report);
    walk.table({"", "", 1}, root);
    walk.missing_tables();
}

std::string one_line(const Error& error) { return error.where.empty() ? error.what : error.where + ": " + error.what; }

}  // namespace accord
