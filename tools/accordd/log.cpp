// SPDX-License-Identifier: GPL-2.0-or-later
// accordd's log: lines on stderr, and troubles that are said once when they begin and once when they end.
#include "log.hpp"

#include <cstdlib>
#include <ctime>

#include <fmt/core.h>
#include <systemd/sd-daemon.h>

#include "policy/utc.hpp"

namespace accord {
namespace {

const char* systemd_prefix(LogLevel level) {
    switch (level) {
        case LogLevel::error: return SD_ERR;
        case LogLevel::warning: return SD_WARNING;
        case LogLevel::info: break;
    }
    return SD_INFO;
}

const char* word(LogLevel level) {
    switch (level) {
        case LogLevel::error: return "error: ";
        case LogLevel::warning: return "warning: ";
        case LogLevel::info: break;
    }
    return "";
}

std::string printable(std::string text) {
    for (auto& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
}

}  // namespace

void log_line(LogLevel level, const std::string& text) {
    static const bool under_systemd = std::getenv("JOURNAL_STREAM") != nullptr;
    const auto line = printable(text);
    if (under_systemd) {
        fmt::print(stderr, "{}{}\n", systemd_prefix(level), line);
    } else {
        fmt::print(stderr, "{} {}{}\n", utc_text(std::time(nullptr)), word(level), line);
    }
}

void Troubles::begin(const std::string& topic, const std::string& what) {
    auto& known = by_topic_[topic];
    if (known == what) return;
    known = what;
    log_line(LogLevel::error, what);
}

void Troubles::begin(const std::string& topic, const Error& error) {
    begin(topic, error.where.empty() ? error.what : error.where + ": " + error.what);
}

void Troubles::end(const std::string& topic) {
    if (by_topic_.erase(topic) > 0) log_line(LogLevel::info, topic + ": well again");
}

std::string Troubles::summary() const {
    std::string text;
    for (const auto& [topic, what] : by_topic_) text += (text.empty() ? "" : "; ") + what;
    return text;
}

}  // namespace accord
