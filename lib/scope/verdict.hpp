// SPDX-License-Identifier: GPL-2.0-or-later
// What a node's prolog found about a job, for the job's tasks to act on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accord {

struct Verdict {
    enum class Kind { ok, not_governed, refused };
    Kind kind = Kind::refused;
    std::string reason;         ///< of a refusal, a sentence for the job's user
    bool has_view = false;      ///< tasks enter the pinned view
    bool no_new_privs = false;  ///< tasks and their children gain no rights by set-uid programs
    std::vector<std::pair<std::string, std::string>> context;  ///< environment variables for the tasks
    bool operator==(const Verdict&) const = default;
};

/// One word or "refused: REASON", then a line for each setting and variable. Control characters become spaces.
[[nodiscard]] std::string to_text(const Verdict& verdict);

/// Reads what `to_text` wrote; nothing for any other text, such as one cut short.
[[nodiscard]] std::optional<Verdict> verdict_from_text(std::string_view text);

}  // namespace accord
