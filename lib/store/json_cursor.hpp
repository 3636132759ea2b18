// SPDX-License-Identifier: GPL-2.0-or-later
// Reads JSON text that this project wrote: members in their fixed order, no white space, nothing more or less. Quick,
// and strict without a schema.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "policy/gpus.hpp"

namespace accord {

/// Walks over a text. The first thing that is not as written makes all later calls fail; `complaint` then names the
/// member it was in.
class JsonCursor {
public:
    explicit JsonCursor(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool ok() const { return complaint_.empty(); }
    [[nodiscard]] std::string_view complaint() const { return complaint_; }
    [[nodiscard]] std::string_view rest() const { return rest_; }

    /// Takes `text` if it comes next.
    bool take(std::string_view text);
    /// Takes the name of a member, with the comma before it, if it comes next.
    bool take_member(std::string_view key);
    /// Complains unless `true`.
    void require(bool right);

    void begin_object();
    void end_object();
    void member(std::string_view key);

    template <typename Int>
    void read(Int& out) {
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
        require(error == std::errc{});
        if (ok()) rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    }
    void read(bool& out);
    void read(std::string& out);
    void read(GpuVector& out);

    template <typename T>
    void member(std::string_view key, T& out) {
        member(key);
        read(out);
    }
    /// A value that is spelled out; `from` gives none for a name that it does not know.
    template <typename Enum>
    void named_member(std::string_view key, std::optional<Enum> (*from)(const std::string&), Enum& out) {
        std::string text;
        member(key, text);
        const auto value = from(text);
        require(value.has_value());
        if (value) out = *value;
    }
    template <typename T>
    void optional_member(std::string_view key, std::optional<T>& out) {
        if (take_member(key)) read(out.emplace());
    }
    /// An object of any keys; `read_value(key)` takes each value.
    template <typename ReadValue>
    void map(ReadValue read_value) {
        begin_object();
        std::string key;
        if (!take("}")) {
            do {
                read(key);
                require(take(":"));
                if (ok()) read_value(key);
            } while (ok() && take(","));
            require(take("}"));
        }
        first_ = false;
    }
    /// An array; `read_item()` takes each.
    template <typename ReadItem>
    void array(ReadItem read_item) {
        require(take("["));
        if (take("]")) return;
        do read_item();
        while (ok() && take(","));
        require(take("]"));
    }

private:
    bool read_escape(std::string& out);

    std::string_view rest_;
    std::string_view member_ = "v";
    std::string_view complaint_;
    bool first_ = true;  ///< no member of the current object was read yet
};

}  // namespace accord
