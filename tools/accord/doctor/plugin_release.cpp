// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/plugin_release.hpp"

#include <link.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>

namespace accord {
namespace {

constexpr std::string_view version_symbol = "plugin_version";
constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

template <typename T>
std::optional<T> read_at(std::string_view image, std::uint64_t at) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (image.size() < sizeof(T) || at > image.size() - sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, image.data() + at, sizeof value);
    return value;
}

std::string_view text_at(std::string_view image, std::uint64_t at) {
    if (at >= image.size()) return {};
    const auto text = image.substr(at);
    return text.substr(0, text.find('\0'));
}

class Sections {
public:
    Sections(std::string_view image, const ElfW(Ehdr) & head) : image_(image), head_(head) {}

    [[nodiscard]] std::optional<ElfW(Shdr)> at(std::uint64_t index) const {
        if (index >= head_.e_shnum) return std::nullopt;
        return read_at<ElfW(Shdr)>(image_, head_.e_shoff + index * sizeof(ElfW(Shdr)));
    }
    [[nodiscard]] std::optional<ElfW(Shdr)> of_type(std::uint32_t type) const {
        for (std::uint64_t i = 0; i < head_.e_shnum; ++i)
            if (const auto section = at(i); section && section->sh_type == type) return section;
        return std::nullopt;
    }

private:
    std::string_view image_;
    ElfW(Ehdr) head_;
};

}  // namespace

std::optional<std::uint32_t> plugin_version_in(std::string_view image) {
    const auto head = read_at<ElfW(Ehdr)>(image, 0);
    if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != own_class) return std::nullopt;
    const Sections sections(image, *head);
    const auto symbols = sections.of_type(SHT_DYNSYM);
    const auto names = symbols ? sections.at(symbols->sh_link) : std::nullopt;
    if (!names) return std::nullopt;
    for (std::uint64_t i = 0; i < symbols->sh_size / sizeof(ElfW(Sym)); ++i) {
        const auto symbol = read_at<ElfW(Sym)>(image, symbols->sh_offset + i * sizeof(ElfW(Sym)));
        if (!symbol) return std::nullopt;
        if (symbol->st_shndx == SHN_UNDEF || text_at(image, names->sh_offset + symbol->st_name) != version_symbol) continue;
        const auto holder = sections.at(symbol->st_shndx);
        if (!holder || holder->sh_type == SHT_NOBITS) return std::nullopt;
        return read_at<std::uint32_t>(image, symbol->st_value - holder->sh_addr + holder->sh_offset);
    }
    return std::nullopt;
}

std::optional<std::uint32_t> plugin_version_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return plugin_version_in(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace accord
