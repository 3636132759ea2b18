// SPDX-License-Identifier: GPL-2.0-or-later
// What goes wrong again and again, said once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace accord {

/// Used by one thread.
class Complaints {
public:
    using Say = std::function<void(std::string_view line, bool is_error)>;
    explicit Complaints(Say say) : say_(std::move(say)) {}

    /// Says what is wrong with `topic`, unless that was the last that was said of it.
    void raise(const std::string& topic, const std::string& what) {
        std::string& last = said_[topic];
        if (last == what) return;
        last = what;
        say_(what, true);
    }
    /// Says that `topic` is right again, if anything was wrong with it.
    void settle(const std::string& topic) {
        if (said_.erase(topic) != 0) say_(topic + ": is right again", false);
    }

private:
    Say say_;
    std::map<std::string, std::string> said_;
};

}  // namespace accord
