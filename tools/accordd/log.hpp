// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's log: lines on stderr, and troubles that are said once when they begin and once when they end.
#pragma once

#include <map>
#include <string>

#include "policy/error.hpp"

namespace accord {

enum class LogLevel { error, warning, info };

/// One line. Under systemd with its level, else with the time. Control characters are written as "?".
void log_line(LogLevel level, const std::string& text);

/// What is wrong at the moment, by topic ("slurmctld", "contracts.db").
class Troubles {
public:
    /// Logs it unless it is what the topic's trouble already is.
    void begin(const std::string& topic, const std::string& what);
    void begin(const std::string& topic, const Error& error);
    /// Logs that the topic is well again if it was not.
    void end(const std::string& topic);

    /// All of them in one line; empty when there are none.
    [[nodiscard]] std::string summary() const;

private:
    std::map<std::string, std::string> by_topic_;
};

}  // namespace accord
